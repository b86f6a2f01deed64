/**
 * Why GraphRAG gave no answer, in words that say what to do. Pure.
 *
 * GraphRAG has no exit codes to speak of: 1 with a Python traceback for anything that went wrong, 2 for a command line that it does not
 * understand. Worse, its searches swallow what their model calls raise: local search then prints nothing, and global search prints the sentence
 * that it prints when nothing in the index helps, both with exit code 0. What it logs (beside the index, on standard error until 2.3, on
 * standard output in 2.4 and 2.5) is the only witness, so it is heard.
 */
import { visible } from "../base/diagnostics.js";
import type { RawAnswer } from "./contract.js";

export interface GraphragFailure {
  readonly status: "failed" | "rate_limited";
  readonly error: string;
  readonly retry?: { readonly after?: number };
  readonly ofAll?: NonNullable<RawAnswer["ofAll"]>;
}

export interface Advice {
  /** For messages: the folder as the person named it. */
  readonly dir: string;
  readonly data: string;
  readonly generation: string;
}

interface Cause {
  readonly pattern: RegExp;
  readonly status?: "rate_limited";
  readonly retry?: true;
  /** It is so whatever is asked, so that one call says it for all. */
  readonly ofAll?: NonNullable<RawAnswer["ofAll"]>;
  readonly say: (found: RegExpExecArray, advice: Advice) => string;
}

/** First match wins, so what is certain comes before what is general. Every pattern is linear. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /insufficient_quota|exceeded your current quota|billing_hard_limit|credit balance is too low/i,
    ofAll: "stop",
    say: () => "the model's account has no quota left: top it up, or use another key; waiting does not help",
  },
  {
    pattern: /RateLimitError|Too Many Requests|rate limit|\b429\b/i,
    status: "rate_limited",
    retry: true,
    say: () =>
      "the model's server refused because of its rate limit: lower `concurrency`, or set requests_per_minute in GraphRAG's settings",
  },
  {
    pattern: /No 'settings\.\[yaml\|yml\|json\]' config file found|Config file not found|No settings file found/i,
    ofAll: "fail",
    say: (_found, { dir }) =>
      `there is no settings.yaml in ${dir}: make it with \`graphrag init --root ${dir}\`, or check \`dir\``,
  },
  {
    pattern: /Could not find ([\w.]{1,80}\.parquet) in storage|No such file or directory: '?([^'\n]{0,400}\.parquet)/i,
    ofAll: "fail",
    say: (found, { dir, data }) =>
      `the index lacks ${found[1] ?? found[2]}: index first (graphrag index --root ${dir}), or check \`data\` (${data})`,
  },
  {
    pattern: /Environment variable not found: '?(\w{1,100})|KeyError: '([A-Z][A-Z0-9_]{2,100})'/,
    ofAll: "fail",
    say: (found, { dir }) =>
      `GraphRAG's settings name the environment variable ${found[1] ?? found[2]}, and it is not set: set it, or write it into ${dir}/.env`,
  },
  {
    pattern: /Invalid placeholder in string/,
    ofAll: "fail",
    say: (_found, { dir }) => `the settings in ${dir} have a \`$\` that names no variable: write it as \`$$\``,
  },
  {
    pattern: /api_key must be set|API Key is required|api_key client option must be set|Missing credentials/i,
    ofAll: "fail",
    say: (_found, { dir }) =>
      `the model's key is missing or empty: set the variable that the settings in ${dir} name (GRAPHRAG_API_KEY), or write it into ${dir}/.env`,
  },
  {
    pattern: /AuthenticationError|invalid_api_key|Incorrect API key|\b401 Unauthorized|Error code: 401/i,
    ofAll: "fail",
    say: () => "the model's server refused the key: check the variable that GraphRAG's settings name (GRAPHRAG_API_KEY)",
  },
  {
    pattern:
      /Model ID ([^\n]{1,100}?) not found in (\w{1,60})|A default_chat_model is required|default_embedding_model\b[^\n]{0,80}\bis required/i,
    ofAll: "fail",
    say: (_found, { dir }) =>
      `the settings in ${dir} lack a model that this version of GraphRAG needs: make them anew with \`graphrag init --root ${dir} --force\` and carry your changes over`,
  },
  {
    pattern: /ContextWindowExceeded|context_length_exceeded|maximum context length/i,
    say: () =>
      "the question and the context together are longer than the model's window: lower max_context_tokens in GraphRAG's settings",
  },
  {
    pattern: /model_not_found|\bNotFoundError|The model `?[^`\n]{1,100}`? does not exist/i,
    ofAll: "fail",
    say: (_found, { dir }) => `the model's server does not know the model that the settings in ${dir} name`,
  },
  {
    pattern: /(?:query vector|dim)[^\n]{0,100}(?:dimension|doesn't match|does not match)|No vector column found to match/i,
    ofAll: "fail",
    say: (_found, { dir }) => `the index was made with another embedding model than the settings in ${dir} name: index again`,
  },
  {
    pattern: /Table '?([\w.-]{1,80})'? was not found|Table ([\w.-]{1,80}) does not exist/i,
    ofAll: "fail",
    say: (found, { dir }) =>
      `the vector store lacks the table ${found[1] ?? found[2]}: index again, or check vector_store in the settings of ${dir}`,
  },
  {
    pattern: /KeyError: ['"](human_readable_id|children|parent|text_unit_ids|level|document_ids?|period|size)['"]/,
    say: (found) =>
      `the index has no column ${found[1]}: it was made by another major version of GraphRAG; migrate it (GraphRAG's migration notebooks) or index again`,
  },
  {
    pattern: /ConfigParsingError|yaml\.(?:scanner|parser)\.|validation errors? for GraphRagConfig/,
    ofAll: "fail",
    say: (_found, { dir }) =>
      `the settings in ${dir} are not valid for this version of GraphRAG: make them anew with \`graphrag init --root ${dir} --force\` and carry your changes over`,
  },
  {
    pattern:
      /JSONDecodeError|validation errors? for \w{1,80}Response|json_invalid|Failed to parse[^\n]{0,80}json|JSONSchemaValidationError/i,
    retry: true,
    say: () =>
      "the model did not answer in the JSON that GraphRAG demanded of it: use a model with JSON output, or another method",
  },
  {
    pattern: /(?:ImportError|ModuleNotFoundError): (?!No module named '?graphrag)([^\n]{1,200})/,
    ofAll: "fail",
    say: (found) =>
      `GraphRAG's Python packages do not fit together (${found[1]}): install it anew into a virtual environment of its own`,
  },
  {
    pattern: /No module named '?graphrag\.(?:__main__|query|index)/,
    ofAll: "fail",
    say: (_found, { generation }) => wrongGeneration(generation),
  },
  {
    pattern: /No module named '?graphrag/,
    ofAll: "fail",
    say: () =>
      "this Python has no GraphRAG: install it there (pip install graphrag), or name its virtual environment with `venv:`",
  },
  {
    pattern:
      /APIConnectionError|APITimeoutError|ConnectError|ConnectionRefusedError|Connection error|ServiceUnavailableError|InternalServerError|APIError|Timeout/i,
    retry: true,
    say: () => "the model's server could not be reached or failed: check that it runs and its api_base in GraphRAG's settings",
  },
];

function explain(text: string, advice: Advice): GraphragFailure | null {
  for (const { pattern, status = "failed", retry, ofAll, say } of CAUSES) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const more = { ...(retry === undefined ? {} : { retry: {} }), ...(ofAll === undefined ? {} : { ofAll }) };
    return { status, error: say(found, advice), ...more };
  }
  return null;
}

/** What a failed run's error output says, and, where it is silent, its log. */
export function failureOfExit(exitCode: number | null, stderr: string, log: string, advice: Advice): GraphragFailure {
  const said = plain(stderr);
  if (exitCode === 2) {
    const usage = usageProblem(said, advice);
    if (usage !== null) return { status: "failed", error: usage, ofAll: "fail" };
  }
  // The last lines first: the exception that ended it stands there, and the code that a traceback quotes above it may name anything.
  const end = tail(said, 3);
  const cause = explain(end, advice) ?? explain(said, advice) ?? explain(plain(log), advice);
  const shown = lastLines(said, 2);
  if (cause !== null) return { ...cause, error: `${cause.error}${shown}` };
  return { status: "failed", error: `GraphRAG ended with exit code ${exitCode}${shown}` };
}

/** What a command line was refused for, or null if that is not what happened. */
function usageProblem(said: string, { dir, data, generation }: Advice): string | null {
  const why = lastLines(said, 1);
  const invalid = /Invalid value for '?(--\w[\w-]{0,40})/.exec(said)?.[1] ?? /error: argument (--\w[\w-]{0,40}):/.exec(said)?.[1];
  switch (invalid) {
    case undefined:
      break;
    case "--root":
      return `GraphRAG does not find its folder${why}: check \`dir\``;
    case "--data":
      return `there is no index in ${data}${why}: index first (graphrag index --root ${dir}), or check \`data\``;
    case "--method":
      return `this release of GraphRAG does not have that search method${why}: use another one, or a newer GraphRAG`;
    default:
      return `GraphRAG does not accept ${invalid}${why}`;
  }
  if (
    !/No such option|unrecognized arguments|Missing option|Got unexpected extra argument|are required:|No such command/i.test(
      said,
    )
  )
    return null;
  return `${wrongGeneration(generation)}${why}`;
}

function wrongGeneration(generation: string): string {
  return `GraphRAG does not understand the command line of its generation \`${generation}\`: set \`cli:\` to the one of your version (underscore up to 0.3, query up to 2.x, positional from 3.0)`;
}

/** Errors that GraphRAG wrote into its log although it went on. */
const LOGGED_ERROR = /^.{0,80}(?: - | )ERROR(?: - | )|^Traceback \(most recent call last\)|^\w[\w.]{0,100}(?:Error|Exception)\b/m;

/**
 * Exit code 0, but the answer is empty, or it is the sentence for "no data" while the log of that very call tells of errors. `null`: the
 * log knows of none.
 */
export function failureInLog(log: string, advice: Advice): GraphragFailure | null {
  const said = plain(log);
  if (!LOGGED_ERROR.test(said)) return null;
  const cause = explain(said, advice);
  if (cause !== null) return cause;
  const last = [...said.matchAll(/^\w[\w.]{0,100}(?:Error|Exception)\b[^\n]{0,300}/gm)].at(-1)?.[0];
  return {
    status: "failed",
    error: `GraphRAG's log tells of an error${last === undefined ? "" : ` (${visible(last)})`}: see the log beside the index`,
    retry: {},
  };
}

export function emptyAnswer(cause: GraphragFailure | null): GraphragFailure {
  if (cause !== null) return { ...cause, error: `GraphRAG printed nothing: ${cause.error}` };
  return {
    status: "failed",
    error: "GraphRAG printed nothing, which it does when its model or embedding server fails: check that both answer",
    retry: {},
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes are the subject
const ANSI = /\u001b\[[0-9;?]{0,32}[A-Za-z]/g;

/** Without the frames that rich draws around tracebacks and usage errors, and without blank lines. */
export function plain(text: string): string {
  return text
    .replace(ANSI, "")
    .split(/[\r\n]+/)
    .map(unframed)
    .filter((line) => line !== "")
    .join("\n");
}

const FRAME = new Set([..." \t│╭╰╮╯─┌└┐┘|"]);

function unframed(line: string): string {
  let start = 0;
  let end = line.length;
  while (start < end && FRAME.has(line[start] ?? "")) start += 1;
  while (end > start && FRAME.has(line[end - 1] ?? "")) end -= 1;
  return line.slice(start, end);
}

function tail(text: string, lines: number): string {
  return text.split("\n").slice(-lines).join("\n");
}

function lastLines(said: string, lines: number): string {
  const shown = visible(tail(said, lines).replaceAll("\n", " | ")).slice(-400);
  return shown === "" ? "" : ` (${shown})`;
}
