/**
 * A small project with a run in it, made by the command line itself: a data set, a source tree in a folder, answers from a file, scores,
 * intervals and reports. For tests of what works on stored runs.
 */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { digestBytes } from "../../src/base/json.js";
import type { Io } from "../../src/cli/contract.js";
import { main } from "../../src/cli/main.js";
import { treeDigest } from "../../src/corpus/tree.js";

export const DOOR = "src/main/java/acme/Door.java";
export const ROOF = "src/main/java/acme/Roof.java";
export const WINDOW = "src/main/java/acme/Window.java";
const TREE = [DOOR, ROOF, WINDOW, "src/main/java/acme/Wall.java", "docs/Door.md"];

const contentOf = (path: string) => `class ${path.length} {}`;

/** Digest of the project's tree: the name of its copy in any cache. */
export function projectTreeDigest(): string {
  return treeDigest({ files: TREE.map((path) => ({ path, digest: digestBytes(contentOf(path)), size: 0 })) });
}

export interface Said {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `bench` with these arguments in that folder. */
export async function bench(cwd: string, ...argv: string[]): Promise<Said> {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    env: {},
    cwd,
    terminal: { isTTY: false, columns: 100, colour: false },
    interrupted: new AbortController().signal,
  };
  const exit = await main(argv, io);
  return { exit, stdout: out.join(""), stderr: err.join("") };
}

export function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export const classes = (...paths: string[]) => JSON.stringify({ classes: paths.map((path) => ({ path })) });

/** A case as the data set has it; `targets` also names files that the tree lacks. */
export function caseLine(number: number, targets: readonly unknown[], more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    ...{ id: `acme/house#${number}`, repository: "acme/house", number, title: `Case ${number}`, body: "It does not close." },
    targets: targets.map((target) => (typeof target === "string" ? { path: target, role: "source" } : target)),
    ...more,
  });
}

export interface ProjectAnswers {
  readonly [number: number]: string | Record<string, unknown>;
}

function answersFile(answers: ProjectAnswers): string {
  return Object.entries(answers)
    .map(([number, given]) => {
      const members = typeof given === "string" ? { response: given } : given;
      return `${JSON.stringify({ id: `acme/house#${number}`, backend: "puppet", ...members })}\n`;
    })
    .join("");
}

/** Case 2 is answered by a class name, case 3 by a suffix and a wrong file, case 5 failed, case 6 has no answer. */
export const ANSWERS: ProjectAnswers = {
  1: classes(DOOR),
  2: classes("Roof"),
  3: classes("acme/Window.java", "src/main/java/acme/Wall.java"),
  4: { response: classes(DOOR, "src/main/java/acme/Gone.java"), details: { note: "kept" } },
  5: { response: "", status: "timed_out", error: "180 s" },
};
export const CASES = [
  caseLine(1, [DOOR]),
  caseLine(2, [ROOF]),
  caseLine(3, [WINDOW, ROOF]),
  caseLine(4, [DOOR, "src/main/java/acme/Cellar.java"]),
  caseLine(5, [WINDOW]),
  caseLine(6, [DOOR]),
];

export interface ProjectOptions {
  readonly rules?: string;
  /** Cells of answers by label. */
  readonly cells?: Readonly<Record<string, ProjectAnswers>>;
  readonly cases?: readonly string[];
  readonly corpus?: boolean;
}

/** A folder of its own with a project and one finished run; its exit code must be 0. */
export async function scoredProject(options: ProjectOptions = {}): Promise<{ folder: string; run: string; runFolder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "bench-project-"));
  const { rules = "strict", cells = { puppet: ANSWERS }, cases = CASES, corpus = true } = options;
  write(folder, "pipelines/dataset.jsonl", `${cases.join("\n")}\n`);
  for (const path of TREE) write(folder, `tree/${path}`, contentOf(path));
  const labels = Object.keys(cells);
  for (const label of labels) write(folder, `pipelines/${label}.jsonl`, answersFile(cells[label] ?? {}));
  const sources = corpus ? ["  sources: { uses: checkout, with: { folder: ../tree } }"] : [];
  const pipeline = [
    "name: house",
    "stages:",
    "  dataset: { uses: import-dataset, with: { path: dataset.jsonl } }",
    ...sources,
    "  answers:",
    "    uses: import-answers",
    "    needs: dataset",
    "    matrix:",
    `      path: [${labels.map((label) => `${label}.jsonl`).join(", ")}]`,
    `  scores: { uses: score, needs: [dataset, ${corpus ? "sources, " : ""}answers], with: { rules: ${rules}, measures: [P, R, F1, "F1(micro)", "Hit@1", RR] } }`,
    "  intervals: { uses: bootstrap, needs: scores, with: { samples: 200, seed: 7 } }",
    "  report: { uses: report, needs: [scores, intervals] }",
  ];
  write(folder, "pipelines/house.yaml", `${pipeline.join("\n")}\n`);
  const said = await bench(folder, "run", "pipelines/house.yaml", "--quiet");
  if (said.exit !== 0) throw new Error(`the run failed: ${said.stderr}`);
  const out = join(folder, "evaluation_results");
  const [run = ""] = readdirSync(out).filter((name) => name !== ".gitkeep");
  return { folder, run, runFolder: join(out, run) };
}
