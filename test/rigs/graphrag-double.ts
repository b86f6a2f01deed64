/**
 * A GraphRAG that is none: a folder like a virtual environment whose programs take one generation's command line, refuse the others as
 * that generation does, print what it prints where it prints it, and fail on demand in the ways of the real one.
 *
 * The forms of outputs and failures are those that `test/real` saw; the texts are our own.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAM = join(import.meta.dirname, "graphrag-program.cjs");

/** A release by the habits that differ. */
export type DoubleRelease = "0.3.6" | "2.3.0" | "2.5.0" | "3.3.0";

/** What a query does; see graphrag-program.cjs. */
export type Behaviour =
  | "answer"
  | "no-data"
  | "no-data-after-error"
  | "answer-after-error"
  | "empty"
  | "empty-after-error"
  | "no-settings"
  | "no-index"
  | "no-variable"
  | "empty-key"
  | "refused-key"
  | "rate-limit"
  | "quota"
  | "no-model-id"
  | "unreachable"
  | "broken-packages"
  | "older-index"
  | "unknown"
  | "killed"
  | "hang";

export interface DoubleCall {
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

export interface GraphragDouble {
  /** For the option `venv`. */
  readonly venv: string;
  /** Its next queries: the first one is used up while more than one is left. */
  behave(...behaviours: readonly Behaviour[]): void;
  /** `graphrag index` fails so often before it succeeds. */
  failIndexing(times: number): void;
  answer(text: string): void;
  readonly calls: () => DoubleCall[];
}

export function graphragDouble(
  folder: string,
  release: DoubleRelease,
  options: {
    readonly metadata?: boolean;
    readonly socket?: string;
    /** `--version` is an option of some wrapper. */
    readonly tellsVersion?: boolean;
    /** Nothing that it is asked about itself is answered. */
    readonly mute?: boolean;
  } = {},
): GraphragDouble {
  const venv = join(folder, `venv-${release}`);
  const bin = join(venv, "bin");
  mkdirSync(bin, { recursive: true });
  if (options.metadata !== false) {
    mkdirSync(join(venv, "lib", "python3.11", "site-packages", `graphrag-${release}.dist-info`), { recursive: true });
  }
  const state = join(venv, "state.json");
  const log = join(venv, "calls.jsonl");
  let now = {
    release,
    tellsVersion: options.tellsVersion === true,
    mute: options.mute === true,
    socket: options.socket ?? null,
    behaviours: ["answer"],
    failures: 0,
    answer: "The answer.",
  };
  const write = (more: Partial<typeof now>) => {
    now = { ...now, ...more };
    writeFileSync(state, JSON.stringify(now));
  };
  write({});
  const program = `#!/usr/bin/env node\nrequire(${JSON.stringify(PROGRAM)})(${JSON.stringify(venv)});\n`;
  for (const name of release === "0.3.6" ? ["python"] : ["python", "graphrag"]) {
    writeFileSync(join(bin, name), program);
    chmodSync(join(bin, name), 0o755);
  }
  return {
    venv,
    behave: (...behaviours) => write({ behaviours: [...behaviours] }),
    failIndexing: (failures) => write({ failures }),
    answer: (answer) => write({ answer }),
    calls: () =>
      existsSync(log)
        ? readFileSync(log, "utf8")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as DoubleCall)
        : [],
  };
}

/** A folder with settings and an index for it. */
export function graphragFolder(folder: string, files: Readonly<Record<string, string>> = {}): string {
  const all = {
    "settings.yaml": `completion_models:
  default_completion_model:
    api_key: ${variable("GRAPHRAG_API_KEY")}
    model: ${variable("CHAT_MODEL")}
`,
    "prompts/local.txt": "Answer.",
    "output/entities.parquet": "PAR1 entities",
    "output/text_units.parquet": "PAR1 units",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function variable(name: string): string {
  return ["$", "{", name, "}"].join("");
}
