// `npm run bench`: how long `bench` takes, as ratios to a peer in the same run, with the counts that make the figures mean something.
// Not part of the tests: seconds wobble, and this machine may be busy. Medians of five.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const cli = join(root, "dist", "cli", "main.js");
const ROUNDS = 5;
const folder = mkdtempSync(join(tmpdir(), "bench-performance-"));

try {
  await noop(10_000);
  startUp();
  await import("./rescore.mjs");
  await import("./bootstrap.mjs");
  await import("./html.mjs");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The second run over N items (import, score, bootstrap) beside `make` with N up-to-date targets. */
async function noop(items) {
  const project = join(folder, `bench-${items}`);
  mkdirSync(join(project, "pipelines"), { recursive: true });
  const cases = [];
  const answers = [];
  for (let index = 0; index < items; index++) {
    const file = `src/F${index % 500}.java`;
    const patch = `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1,1 +1,1 @@\n-a\n+b\n`;
    cases.push({
      instance_id: `p-${index}`,
      repo: "o/r",
      base_commit: "a".repeat(40),
      problem_statement: `Problem ${index}\n${"words ".repeat(60)}`,
      patch,
    });
    answers.push({ id: `p-${index}`, response: JSON.stringify({ classes: [{ path: `src/F${index % 400}.java` }] }) });
  }
  const lines = (records) => `${records.map((record) => JSON.stringify(record)).join("\n")}\n`;
  writeFileSync(join(project, "cases.jsonl"), lines(cases));
  writeFileSync(join(project, "answers.jsonl"), lines(answers));
  writeFileSync(
    join(project, "pipelines", "p.yaml"),
    `name: noop
stages:
  dataset: { uses: import-dataset, with: { path: ../cases.jsonl } }
  answers: { uses: import-answers, needs: dataset, with: { path: ../answers.jsonl } }
  scores: { uses: score, needs: [dataset, answers] }
  intervals: { uses: bootstrap, needs: scores }
`,
  );
  const bench = () =>
    spawnSync(process.execPath, [cli, "run", "pipelines/p.yaml", "--json"], {
      cwd: project,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
  const [first] = timed(bench);
  const again = rounds(bench, ROUNDS);
  const { counts } = JSON.parse(bench().stdout);

  const makeFolder = join(folder, `make-${items}`);
  mkdirSync(makeFolder);
  const targets = Array.from({ length: items }, (_, index) => `o${index}`);
  for (const [index] of targets.entries()) writeFileSync(join(makeFolder, `i${index}`), "");
  const rules = targets.map((target, index) => `${target}: i${index}\n\tcat $< > $@\n`).join("");
  writeFileSync(join(makeFolder, "Makefile"), `all: ${targets.join(" ")}\n\ttouch all\n${rules}`);
  for (const target of [...targets, "all"]) writeFileSync(join(makeFolder, target), "");
  const make =
    spawnSync("make", ["--version"]).status === 0 ? rounds(() => spawnSync("make", ["-q"], { cwd: makeFolder }), ROUNDS) : null;

  console.log(
    `no-op, ${items} items: bench ${seconds(again)} (first run ${first.toFixed(2)} s; executed ${counts.executed}, cached ${counts.cached}, queries ${counts.queries})`,
  );
  if (make === null) console.log("  make is not installed: no ratio");
  else
    console.log(
      `  make with ${items} up-to-date targets: ${seconds(make)}; bench/make = ${(median(again) / median(make)).toFixed(2)}`,
    );
}

/** `bench --help` beside bare Node. */
function startUp() {
  const help = rounds(() => spawnSync(process.execPath, [cli, "--help"]), ROUNDS);
  const node = rounds(() => spawnSync(process.execPath, ["-e", "0"]), ROUNDS);
  console.log(
    `start-up: bench --help ${seconds(help)}, node -e 0 ${seconds(node)}; ratio ${(median(help) / median(node)).toFixed(2)}`,
  );
}

function timed(work) {
  const began = process.hrtime.bigint();
  const result = work();
  return [Number(process.hrtime.bigint() - began) / 1e9, result];
}

function rounds(work, count) {
  return Array.from({ length: count }, () => timed(work)[0]);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function seconds(values) {
  return `${median(values).toFixed(2)} s`;
}
