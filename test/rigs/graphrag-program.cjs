/**
 * The program of `graphrag-double.ts`, as `bin/graphrag` and `bin/python` of a virtual environment that is none. What it is to do stands in
 * `state.json` of that folder; what it was asked goes to `calls.jsonl`.
 */
const fs = require("node:fs");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { connect } = require("node:net");

const LIMITED = "litellm.exceptions.RateLimitError: litellm.RateLimitError: OpenAIException - Rate limit reached for requests";

/** Last line of the traceback with which a query ends, by behaviour. */
const TRACEBACKS = {
  "no-settings": "FileNotFoundError: No 'settings.[yaml|yml|json]' config file found in directory: /somewhere",
  "no-index": "ValueError: Could not find entities.parquet in storage!",
  "no-variable": "graphrag_common.config.load_config.ConfigParsingError: Environment variable not found: 'GRAPHRAG_API_KEY'",
  "empty-key": "ValueError: api_key must be set when auth_method=api_key.",
  "refused-key": `openai.AuthenticationError: Error code: 401 - Incorrect API key provided: ${process.env.GRAPHRAG_API_KEY}`,
  "rate-limit": LIMITED,
  quota: "openai.RateLimitError: Error code: 429 - You exceeded your current quota (insufficient_quota)",
  "no-model-id": "ValueError: Model ID default_completion_model not found in completion_models. Please rerun `graphrag init`.",
  unreachable: "litellm.exceptions.APIConnectionError: Connection error.",
  "broken-packages": "ImportError: pyarrow requires NumPy 2.0 or newer, found 1.26.4",
  "older-index": "KeyError: 'human_readable_id'",
  unknown: "RuntimeError: something that nobody has seen before",
};

const NO_DATA = "I am sorry but I am unable to answer this question given the provided data.";

module.exports = (venv) => {
  const stateFile = path.join(venv, "state.json");
  const state = JSON.parse(fs.readFileSync(stateFile, "utf8"));
  const save = () => fs.writeFileSync(stateFile, JSON.stringify(state));
  const { release } = state;
  const generation = release.startsWith("0.") ? "underscore" : release.startsWith("2.") ? "query" : "positional";
  const program = path.basename(process.argv[1]);
  const argv = process.argv.slice(2);
  const stdin = fs.readFileSync(0, "utf8");
  const call = { program, argv, cwd: process.cwd(), env: process.env, stdin };
  fs.appendFileSync(path.join(venv, "calls.jsonl"), `${JSON.stringify(call)}\n`);

  const out = (text) => fs.writeSync(1, text);
  const err = (text) => fs.writeSync(2, text);
  const log = (text) => {
    fs.mkdirSync("logs", { recursive: true });
    fs.appendFileSync("logs/query.log", `${text}\n`);
  };
  const traceback = (line) => {
    err(
      `Traceback (most recent call last):\n  File "/somewhere/graphrag/cli/query.py", line 1, in run\n    raise Trouble\n${line}\n`,
    );
    process.exit(1);
  };
  const usage = (line) => {
    const plain = `usage: python -m graphrag.query [-h] query\npython -m graphrag.query: error: ${line}\n`;
    const framed = `Usage: graphrag query [OPTIONS]\nTry 'graphrag query --help' for help.\n╭─ Error ─────╮\n│ ${line} │\n╰─────────────╯\n`;
    err(generation === "underscore" ? plain : framed);
    process.exit(2);
  };

  /** The subcommand and its arguments, whichever way the program was started. */
  const commandLine = () => {
    if (program === "graphrag") return argv;
    if (argv[0] === "-c") {
      const { module, arguments: given } = JSON.parse(stdin);
      if (module !== (generation === "underscore" ? "graphrag.query" : "graphrag")) traceback(`No module named ${module}`);
      return generation === "underscore" ? ["query", ...given] : given;
    }
    if (generation !== "underscore") return argv.slice(2);
    if (argv[1] === "graphrag") {
      err("No module named graphrag.__main__; 'graphrag' is a package and cannot be directly executed\n");
      process.exit(1);
    }
    const what = /^graphrag\.(query|index)$/.exec(argv[1] ?? "")?.[1];
    if (what === undefined) traceback(`ModuleNotFoundError: No module named '${argv[1]}'`);
    return argv[2] === "--init" ? ["init", ...argv.slice(3)] : [what, ...argv.slice(2)];
  };
  const [command, ...rest] = commandLine();

  const init = () => {
    fs.mkdirSync("prompts", { recursive: true });
    fs.mkdirSync("input", { recursive: true });
    fs.writeFileSync(".env", "GRAPHRAG_API_KEY=<API_KEY>");
    fs.writeFileSync("prompts/extract_graph.txt", "Extract.");
    const key = ["$", "{GRAPHRAG_API_KEY}"].join("");
    const sections = {
      underscore: `llm:\n  api_key: ${key}\n  model: m\nembeddings:\n  llm:\n    model: e\n`,
      query: `models:\n  default_chat_model:\n    api_key: ${key}\n  default_embedding_model:\n    model: e\ninput:\n  file_type: text\nchunks:\n  size: 1200\n`,
      positional: `completion_models:\n  default_completion_model:\n    api_key: ${key}\nembedding_models:\n  default_embedding_model:\n    model: e\ninput:\n  type: text\nchunking:\n  size: 1200\n`,
    };
    fs.writeFileSync("settings.yaml", `# made by init\n${sections[generation]}`);
  };

  const index = () => {
    if (!process.env.GRAPHRAG_API_KEY && !fs.existsSync(".env")) traceback("KeyError: 'GRAPHRAG_API_KEY'");
    // The cache of model answers, which an attempt that fails leaves behind.
    fs.mkdirSync("cache", { recursive: true });
    fs.appendFileSync("cache/asked", "once\n");
    if (state.failures > 0) {
      state.failures -= 1;
      save();
      fs.mkdirSync("output", { recursive: true });
      fs.writeFileSync("output/half", "");
      traceback("litellm.exceptions.APIConnectionError: Connection error.");
    }
    const documents = fs.readdirSync("input").sort();
    const texts = documents.map((name) => fs.readFileSync(path.join("input", name), "utf8")).join("\n");
    const tables = generation === "underscore" ? "output/20240101-000000/artifacts" : "output";
    fs.mkdirSync(tables, { recursive: true });
    const name = generation === "underscore" ? "create_final_entities.parquet" : "entities.parquet";
    fs.writeFileSync(path.join(tables, name), `PAR1 ${texts} ${fs.readFileSync("cache/asked", "utf8").split("\n").length}`);
    const logs = generation === "underscore" ? "output/20240101-000000/reports" : "logs";
    fs.mkdirSync(logs, { recursive: true });
    fs.writeFileSync(path.join(logs, "indexing-engine.log"), `indexed with ${process.env.GRAPHRAG_API_KEY}`);
  };

  const parse = () => {
    const level = generation === "underscore" ? "--community_level" : "--community-level";
    const type = generation === "underscore" ? "--response_type" : "--response-type";
    const names = ["--root", "--data", "--method", level, type, ...(generation === "query" ? ["--query", "--config"] : [])];
    const given = {};
    const positional = [];
    for (let i = 0; i < rest.length; i++) {
      if (rest[i] === "--") {
        positional.push(...rest.slice(i + 1));
        break;
      }
      if (names.includes(rest[i])) {
        given[rest[i]] = rest[i + 1] ?? "";
        i += 1;
      } else if (rest[i] === "--no-streaming" && generation !== "underscore") given[rest[i]] = "yes";
      else if (rest[i].startsWith("-")) {
        usage(generation === "underscore" ? `unrecognized arguments: ${rest[i]}` : `No such option: ${rest[i]}`);
      } else positional.push(rest[i]);
    }
    const wanted = generation === "query" ? given["--query"] : positional[0];
    if (wanted === undefined) {
      usage(generation === "query" ? "Missing option '--query' / '-q'." : "the following arguments are required: query");
    }
    if (positional.length > (generation === "query" ? 0 : 1)) usage("Got unexpected extra argument");
    const data = given["--data"];
    if (data !== undefined && !fs.existsSync(data)) {
      if (generation === "underscore") usage(`argument --data: Directory not found: ${data}`);
      usage(`Invalid value for '--data' / '-d': path '${data}' does not exist.`);
    }
    return given["--method"] ?? "global";
  };

  const say = (method, text) => {
    const label = `${method === "drift" ? "DRIFT" : method[0].toUpperCase() + method.slice(1)} Search Response:`;
    const store = '{\n  "db_uri": "output/lancedb/Decoy.java"\n}';
    if (release === "2.5.0") {
      const record = (second, logger) => `2025-07-01 10:00:0${second}.0001 - INFO - ${logger} - `;
      out(`${record(0, "graphrag.cli.query")}Vector Store Args: ${store}\n${record(1, "graphrag.cli.query")}${label}\n${text}\n`);
      out(`${record(2, "graphrag.utils")}done with src/Decoy.java\n`);
    } else if (release === "3.3.0") out(`${text}\n`);
    else out(`\n\nINFO: Vector Store Args: ${store}\n\nSUCCESS: ${label}\n${text}\n`);
  };

  const hang = () => {
    const report = `require("node:net").connect(${JSON.stringify(state.socket)}, function () { this.write("child"); });`;
    const child = spawn(process.execPath, ["-e", `process.on("SIGTERM", () => {}); ${report} setInterval(() => {}, 1 << 30);`], {
      stdio: "inherit",
    });
    child.on("error", () => {});
    process.on("SIGTERM", () => {});
    const socket = connect(state.socket, () => socket.write("parent"));
    setInterval(() => {}, 1 << 30);
  };

  const query = () => {
    const method = parse();
    const [behaviour, ...later] = state.behaviours;
    if (later.length > 0) {
      state.behaviours = later;
      save();
    }
    // Where the log goes: a file, standard error, or standard output as well.
    const error = (name, what) => {
      const text = `2026-01-01 10:00:00.0001 - ERROR - graphrag.query.structured_search - ${name}\nTraceback (most recent call last):\n${what}\n`;
      if (release === "2.3.0" || release === "0.3.6") err(text);
      else if (release === "2.5.0") out(text);
      else log(text);
    };
    log("2026-01-01 10:00:00.0000 - INFO - graphrag.cli - asked");
    if (TRACEBACKS[behaviour] !== undefined) traceback(TRACEBACKS[behaviour]);
    if (behaviour === "killed") process.kill(process.pid, "SIGKILL");
    else if (behaviour === "hang") return hang();
    else if (behaviour === "no-data") say(method, NO_DATA);
    else if (behaviour === "empty") say(method, "");
    else if (behaviour === "empty-after-error") {
      error("Exception in _asearch", "litellm.exceptions.AuthenticationError: Incorrect API key provided");
      say(method, "");
    } else if (behaviour === "no-data-after-error") {
      error("Exception in _map_response_single_batch", LIMITED);
      say(method, NO_DATA);
    } else if (behaviour === "answer-after-error") {
      error("Exception in _map_response_single_batch", LIMITED);
      say(method, state.answer);
    } else say(method, state.answer);
    process.exit(0);
  };

  const helps = {
    underscore: "--method --community_level query",
    query: "--method --query --community-level",
    positional: "query --method",
  };
  if (program === "graphrag" && command === "--version") {
    if (!state.tellsVersion) usage("No such option: --version");
    out(`graphrag, version ${release}\n`);
  } else if (state.mute && (command === "--version" || rest.includes("--help"))) process.exit(1);
  else if (rest.includes("--help") && !rest.includes("--")) out(`Usage:\n ${helps[generation]}\n`);
  else if (command === "init") init();
  else if (command === "index") index();
  else if (command === "query") query();
  else usage(`No such command '${command}'.`);
};
