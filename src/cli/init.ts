/**
 * `bench init`: three questions (which issues, which sources, which systems), each with an answer to begin with, and a pipeline that runs. Options answer
 * them without a person; a pipe may. What is written is checked like any pipeline before anybody relies on it.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, extname, isAbsolute, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseRepository } from "../github/repository.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { flag, text } from "./options.js";
import { preparePipeline } from "./prepare.js";

const ISSUES = "Which issues? A GitHub repository (owner/name), or a data set file";
const SOURCES = "Which sources are searched? A git address or path, a folder, or none";
const SYSTEMS = "Which systems, separated by commas?";

export const command: Command = {
  usage: "init [name]",
  summary: "Ask three questions and write a pipeline that runs",
  options: [
    { flag: "--issues <what>", description: "A GitHub repository (owner/name), or a data set file: answers the first question" },
    { flag: "--sources <where>", description: "A git address or path, a folder, or none: answers the second" },
    { flag: "--systems <list>", description: "Systems to ask, such as bm25,ollama:qwen3,graphrag: answers the third" },
    { flag: "--force", description: "Write over a pipeline of that name" },
  ],
  examples: [
    "bench init",
    "bench init shop --issues acme/shop --systems bm25,openai:gpt-4o-mini",
    "bench init mine --issues cases.jsonl --sources ../src",
  ],
  run: init,
};

/** What a system's short name stands for; what follows a colon is put in place of `$`. */
const KINDS: Readonly<Record<string, { readonly yaml: string; readonly usual?: string }>> = {
  bm25: { yaml: "{ kind: bm25, top: 15 }" },
  names: { yaml: "{ kind: names }" },
  lsa: { yaml: "{ kind: lsa, top: 15 }" },
  random: { yaml: "{ kind: random }" },
  popularity: { yaml: "{ kind: popularity }" },
  oracle: { yaml: "{ kind: oracle }" },
  ollama: { yaml: "{ kind: chat, name: ollama, provider: ollama, model: $, context: files }", usual: "qwen3" },
  openai: { yaml: "{ kind: chat, name: openai, provider: openai, model: $, context: files }", usual: "gpt-4o-mini" },
  mistral: { yaml: "{ kind: chat, name: mistral, provider: mistral, model: $, context: files }", usual: "mistral-small-latest" },
  graphrag: { yaml: "{ kind: graphrag, dir: $, method: local }", usual: "../graphrag" },
  lightrag: { yaml: "{ kind: lightrag, url: $ }", usual: "http://127.0.0.1:9621" },
  colgrep: { yaml: "{ kind: colgrep }" },
  octocode: { yaml: "{ kind: octocode }" },
};

async function init([name]: readonly string[], options: Readonly<Record<string, OptionValue>>, io: Io): Promise<number> {
  const ask = questions(io);
  try {
    const issues = text(options, "issues") ?? (await ask(ISSUES, "apache/cordova-android"));
    const repository = existsSync(resolve(io.cwd, issues)) ? null : repositoryOf(issues);
    const usual = repository === null ? "none" : `https://github.com/${repository}`;
    const sources = text(options, "sources") ?? (await ask(SOURCES, usual));
    const systems = systemsOf(text(options, "systems") ?? (await ask(SYSTEMS, "bm25,popularity")), sources === "none");
    const title = name ?? (repository ?? issues).split(/[\\/]/).at(-1)?.replace(extname(issues), "") ?? "mine";
    if (!/^[A-Za-z0-9][\w.-]{0,80}$/.test(title))
      throw new UsageError(`${JSON.stringify(title)} is no name for a pipeline: letters, digits, dots and dashes`);
    const path = join("pipelines", `${title}.yaml`);
    const file = resolve(io.cwd, path);
    if (existsSync(file) && !flag(options, "force"))
      throw new UsageError(`${path} is there already: give another name, or --force`);
    const written = pipeline(title, { issues, repository, sources, systems }, dirname(file), io.cwd);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, written);
    if ((await preparePipeline(path, {}, io)) === null) return EXIT.usage;
    io.stdout(
      `${path} was written. Now:\n  bench doctor ${path}   # is everything there?\n  bench plan ${path}     # what would be done, and what would it cost?\n  bench run ${path}\n`,
    );
    return EXIT.done;
  } finally {
    ask.close();
  }
}

/** Asked on stderr, answered on stdin; the end of the input, or nobody there, takes what is offered. */
function questions(io: Io) {
  let lines: AsyncIterator<string> | undefined;
  let reading: ReturnType<typeof createInterface> | undefined;
  const ask = async (question: string, usual: string): Promise<string> => {
    io.stderr(`${question} [${usual}] `);
    if (io.stdin !== undefined && lines === undefined) {
      reading = createInterface({ input: io.stdin });
      lines = reading[Symbol.asyncIterator]();
    }
    const line = await lines?.next();
    if (io.stdin?.isTTY !== true) io.stderr("\n");
    const answer = line === undefined || line.done === true ? "" : line.value.trim();
    return answer === "" ? usual : answer;
  };
  return Object.assign(ask, { close: () => reading?.close() });
}

function repositoryOf(issues: string): string {
  const parsed = parseRepository(issues);
  if (!parsed.ok)
    throw new UsageError(
      `${JSON.stringify(issues)} is neither a file that is there nor a repository (owner/name): ${parsed.error}`,
    );
  return parsed.value.slug;
}

function systemsOf(list: string, sourceless: boolean): string[] {
  return list.split(",").flatMap((entry) => {
    const written = entry.trim();
    if (written === "") return [];
    if (/^\.{1,2}\//.test(written)) return [`{ kind: ${JSON.stringify(written)} }`];
    const colon = written.indexOf(":");
    const [short, value] = colon === -1 ? [written, undefined] : [written.slice(0, colon), written.slice(colon + 1)];
    const kind = Object.hasOwn(KINDS, short) ? KINDS[short] : undefined;
    if (kind === undefined)
      throw new UsageError(
        `${JSON.stringify(short)} is no system: ${Object.keys(KINDS).join(", ")}, or ./your-module.mjs (a program: kind command, see docs/backends)`,
      );
    const filled = kind.yaml.replace("$", () => JSON.stringify(value ?? kind.usual ?? ""));
    return [sourceless ? filled.replace(", context: files", "") : filled];
  });
}

interface Answers {
  readonly issues: string;
  readonly repository: string | null;
  readonly sources: string;
  readonly systems: readonly string[];
}

function pipeline(name: string, { issues, repository, sources, systems }: Answers, folder: string, cwd: string): string {
  const fromFile = (path: string) =>
    JSON.stringify(isAbsolute(path) ? path : relative(folder, resolve(cwd, path)).replaceAll("\\", "/"));
  const dataset =
    repository === null
      ? [`  dataset: { uses: import-dataset, with: { path: ${fromFile(issues)} } }`]
      : [
          `  issues: { uses: fetch-issues, with: { repo: ${repository}, limit: 200 } }`,
          "  links: { uses: resolve-timeline-prs, needs: issues }",
          "  files: { uses: fetch-pr-files, needs: links }",
          "  dataset: { uses: build-dataset, needs: [issues, links, files] }",
        ];
  const isGit = /^(?:[a-z+]+:\/\/|git@)/.test(sources) || existsSync(join(resolve(cwd, sources), ".git"));
  const where = /^(?:[a-z+]+:\/\/|git@)/.test(sources) ? JSON.stringify(sources) : fromFile(sources);
  // Sources that hold this project as well: what bench writes is none of them, and changes while it runs.
  const inside = relative(resolve(cwd, sources), cwd).replaceAll("\\", "/");
  const own = inside.startsWith("..") || isAbsolute(inside) ? [] : ["cache", "evaluation_results", "mined_projects", "pipelines"];
  const exclude = own.map((name) => JSON.stringify(`${inside === "" ? "" : `${inside}/`}${name}/**`)).join(", ");
  const from = isGit
    ? `git: ${where}, at: ${repository === null ? "HEAD" : "base"}`
    : `folder: ${where}${exclude === "" ? "" : `, exclude: [${exclude}]`}`;
  const tree = sources === "none" ? [] : [`  sources: { uses: checkout, needs: dataset, with: { ${from} } }`];
  const needs = sources === "none" ? "dataset" : "[dataset, sources]";
  return `# yaml-language-server: $schema=../schema/pipeline.schema.json
# Written by bench init (for an editor that checks while you type: bench schema --out schema). Every mistake in it is said with line and column; bench doctor says what is missing.
name: ${JSON.stringify(name)}
stages:
${[...dataset, ...tree].join("\n")}
  answers:
    uses: query-backend
    needs: ${needs}
    matrix:
      backend:
${systems.map((one) => `        - ${one}`).join("\n")}
  scores:
    uses: score
    needs: [${sources === "none" ? "dataset" : "dataset, sources"}, answers]
    with: { rules: strict, measures: [P, R, F1, "Hit@1", "Hit@5", RR] }
  intervals: { uses: bootstrap, needs: scores, with: { samples: 1000, seed: 42 } }
  report: { uses: report, needs: [scores, intervals], with: { formats: [json, markdown, html] } }
`;
}
