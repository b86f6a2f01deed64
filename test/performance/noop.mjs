// Part of `npm run bench`: the second run over N items (import, score, bootstrap) beside `make` and `ninja` with N up-to-date targets, one
// changed item, and what the cache takes on disk.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bench, has, medians, show, verdict } from "./measure.mjs";

const GOALS = { 100: 0.2, 1000: 0.2, 10000: 0.5, 100000: 3 };
const RUN = ["run", "pipelines/p.yaml", "--json", "--quiet"];

/** Returns the no-op run, to be set beside other peers. */
export function noop(folder, items) {
  const project = join(folder, `bench-${items}`);
  writeProject(project, items);
  const first = bench(project, RUN, 1);
  const again = bench(project, RUN);
  const { counts, stages } = JSON.parse(again.stdout);
  console.log(
    `no-op, ${items} items: bench ${show(again)}; executed ${counts.executed}, cached ${counts.cached}, queries ${counts.queries}`,
  );
  console.log(
    `  first run ${show(first)}; per item of it ${((first.cpu / items) * 1000).toFixed(2)} ms, ${(((first.peak - again.peak) * 1024) / items).toFixed(1)} KiB above the no-op`,
  );
  console.log(
    `  ${verdict(again.wall, GOALS[items], "s")}; by processor time: ${again.cpu <= GOALS[items] ? "met" : "missed"} (${again.cpu.toFixed(2)})`,
  );
  console.log(`  ${verdict(again.peak, 400, "MB", { digits: 0 })}`);
  if (counts.executed !== 0 || stages.some(({ state }) => state !== "cached")) throw new Error("a no-op run did something");
  peers(folder, items, again);
  if (items === 10_000) {
    oneChange(project, items);
    onDisk(project, items);
  }
  return again;
}

/** `make -q` and `ninja` over files that are all up to date. */
function peers(folder, items, again) {
  const cwd = join(folder, `make-${items}`);
  mkdirSync(cwd);
  const names = Array.from({ length: items }, (_, index) => index);
  for (const index of names) writeFileSync(join(cwd, `i${index}`), "");
  const rules = names.map((index) => `o${index}: i${index}\n\tcat $< > $@\n`).join("");
  writeFileSync(join(cwd, "Makefile"), `all: ${names.map((index) => `o${index}`).join(" ")}\n\ttouch all\n${rules}`);
  const builds = names.map((index) => `build o${index}: c i${index}\n`).join("");
  writeFileSync(
    join(cwd, "build.ninja"),
    `rule c\n  command = cat $in > $out\n${builds}build all: phony ${names.map((index) => `o${index}`).join(" ")}\ndefault all\n`,
  );
  const ratio = (peer) => `bench/peer ${(again.wall / peer.wall).toFixed(2)}`;
  // Making 100,000 files with a process each would take minutes and say nothing of a no-op: make is given files that are there.
  for (const index of names) writeFileSync(join(cwd, `o${index}`), "");
  writeFileSync(join(cwd, "all"), "");
  if (!has("make")) console.log("  make is not installed: no ratio");
  else {
    const make = medians(["make", "-q"], { cwd });
    const goal = items === 10_000 ? `; goal faster than make: ${again.wall < make.wall ? "met" : "missed"}` : "";
    console.log(`  make, ${items} up-to-date targets: ${show(make)}; ${ratio(make)}${goal}`);
  }
  if (!has("ninja")) console.log("  ninja is not installed: no ratio");
  else if (items > 10_000) console.log("  ninja: not asked beyond 10,000 (its log comes from running each command once)");
  else {
    medians(["ninja", "all"], { cwd }, 1);
    const ninja = medians(["ninja", "all"], { cwd });
    if (!ninja.stdout.includes("no work to do")) throw new Error("ninja had work to do");
    console.log(`  ninja, ${items} up-to-date targets: ${show(ninja)}; ${ratio(ninja)}`);
  }
}

/** One answer of the file says something new each time: it is scored, the others are found. */
function oneChange(project, items) {
  const file = join(project, "answers.jsonl");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const change = (round) => {
    const changed = { id: "p-7", response: JSON.stringify({ classes: [{ path: `src/New${round}.java` }] }) };
    writeFileSync(file, `${lines.with(7, JSON.stringify(changed)).join("\n")}\n`);
  };
  const changed = bench(project, RUN, 5, change);
  const { stages } = JSON.parse(changed.stdout);
  const [scores, read, intervals] = ["score", "import-answers", "bootstrap"].map((kind) =>
    stages.find(({ uses }) => uses === kind),
  );
  // A stage's seconds begin with the run: the bootstrap's own begin when the scores are there.
  const work = read.seconds + (intervals.seconds - scores.seconds);
  console.log(
    `one changed answer among ${items}: bench ${show(changed)}; answers scored ${scores.executed}, found ${scores.cached}`,
  );
  console.log(`  reading the file and the bootstrap, which are done whole, took ${work.toFixed(2)} s of it`);
  console.log(`  ${verdict(changed.wall - work, 0.7, "s beside the work")}`);
  if (scores.executed !== 1) throw new Error("more was scored than had changed");
}

/** Items of all stages beside what their content takes when compressed on its own. */
function onDisk(project, items) {
  const stored = sizeOf(join(project, "cache"));
  const content = ["cases.jsonl", "answers.jsonl"].reduce(
    (sum, name) => sum + compressed(readFileSync(join(project, name), "utf8")),
    0,
  );
  // Each case goes through three stages: the case, its answer, its scores.
  const steps = items * 3;
  console.log(`cache, ${items} cases: ${stored} bytes, ${Math.round(stored / steps)} per stored item`);
  const scores = Math.round(content * 1.5);
  console.log(
    `  ${verdict(stored / steps, Math.round((1.5 * scores) / steps + 600), "bytes per item (1.5 x compressed content + 600; scores hold case and answer once more)", { digits: 0 })}`,
  );
}

function compressed(text) {
  return text
    .trimEnd()
    .split("\n")
    .reduce((sum, line) => sum + Math.min(line.length, gzipSync(line).length), 0);
}

function sizeOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? sizeOf(path) : statSync(path).size);
  }, 0);
}

function writeProject(project, items) {
  mkdirSync(join(project, "pipelines"), { recursive: true });
  const cases = [];
  const answers = [];
  for (let index = 0; index < items; index++) {
    const file = `src/F${index % 500}.java`;
    cases.push({
      instance_id: `p-${index}`,
      repo: "o/r",
      base_commit: "a".repeat(40),
      problem_statement: `Problem ${index}\n${"words ".repeat(60)}`,
      patch: `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1,1 +1,1 @@\n-a\n+b\n`,
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
}
