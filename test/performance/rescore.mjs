// Part of `npm run bench`: how fast 10,000 stored answers are scored again, and, where BENCH_ORIGINAL_SCRIPTS names the folder of the original's
// Python scripts, how that compares with what they take for the same rows, the same bootstrap and the same report. Medians.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const cli = join(root, "dist", "cli", "main.js");
/** BENCH_LARGE=1 takes minutes more. */
const SIZES = process.env.BENCH_LARGE === undefined ? [10_000] : [10_000, 100_000];
let ANSWERS = 0;
let ROUNDS = 5;
/** The original's own loop with stored answers in place of a system: its parsing, matching, bootstrap and report. */
const DRIVER = `import argparse, contextlib, io, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import evaluator_core as core

answers = {}
with open(sys.argv[3], encoding="utf-8") as lines:
    for line in lines:
        row = json.loads(line)
        answers[int(row["id"].split("#")[1])] = row["response"]

class Stored(core.BaseBenchmarkEvaluator):
    def evaluator_label(self): return "stored"
    def validate_runtime(self): pass
    def default_report_path(self, mined_path, output_dir): return Path(sys.argv[4])
    def settings(self): return {}
    def predict_for_issue(self, issue, query):
        raw = answers[issue["number"]]
        found = core.extract_predicted_classes(raw, core.DEFAULT_RESPONSE_TYPE)
        return core.PredictionResult(predicted_objects=found, raw_response=raw)

arguments = argparse.Namespace(mined_file=sys.argv[2], output_dir=".", output_file=sys.argv[4], keep_raw_response=True)
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    status = Stored(arguments).run()
sys.exit(status)
`;

let folder = "";
for (const size of SIZES) {
  ANSWERS = size;
  ROUNDS = size > 10_000 ? 1 : 5;
  folder = mkdtempSync(join(tmpdir(), "bench-rescore-"));
  try {
    const { mined, answers } = writeInput();
    stored(mined, answers);
    original(mined, answers);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Issues with one to four files, and answers in the forms that systems give: JSON, fenced JSON, lists, class names, prose. */
function writeInput() {
  const path = (n) => `src/main/java/org/acme/p${n % 40}/Class${n % 2000}.java`;
  const issues = [];
  const answers = [];
  for (let number = 1; number <= ANSWERS; number++) {
    const files = Array.from({ length: 1 + (number % 4) }, (_, i) => path(number * 7 + i));
    issues.push({
      ...{ number, title: `Case ${number}`, url: `https://example.org/${number}`, description_message: "words ".repeat(40) },
      ...{ created_at: "2025-01-01T00:00:00Z", closed_at: "2025-02-01T00:00:00Z" },
      linked_merged_pull_requests: [
        {
          ...{ number: number + 100_000, title: "Fix", url: "https://example.org/p", repository: "acme/house" },
          ...{ merged_at: "2025-01-15T00:00:00Z", impacted_files: files, impacted_files_count: files.length },
        },
      ],
    });
    const named = Array.from({ length: 10 }, (_, i) => path(number * 7 + i * 3));
    const json = JSON.stringify({ classes: named.map((one) => ({ path: one })) });
    const forms = [
      json,
      `\`\`\`json\n${json}\n\`\`\``,
      named.map((one, i) => `${i + 1}. \`${one}\` handles the request`).join("\n"),
      named.map((one) => `- ${one.slice("src/main/java/".length, -".java".length).replaceAll("/", ".")}`).join("\n"),
      `The cause is in ${named[0]}, and perhaps in ${named[1]}.\n\n${"It happens when the cache is cold. ".repeat(20)}`,
    ];
    answers.push({ id: `acme/house#${number}`, response: forms[number % forms.length] });
  }
  const project = { project_name: "acme/house", github_url: "https://example.org", total_closed_issues_scanned: ANSWERS };
  const mined = join(folder, "mined.json");
  writeFileSync(mined, JSON.stringify({ ...project, total_relevant_issues: ANSWERS, issues }));
  const file = join(folder, "answers.jsonl");
  writeFileSync(file, `${answers.map((answer) => JSON.stringify(answer)).join("\n")}\n`);
  return { mined, answers: file };
}

/** A run's answers from the cache: read, scored by the run's rules and by new ones, compared, reported. */
function stored(mined, answers) {
  const project = join(folder, "project");
  mkdirSync(join(project, "pipelines"), { recursive: true });
  for (let n = 0; n < 2000; n++) {
    const path = join(project, "tree", `src/main/java/org/acme/p${n % 40}/Class${n}.java`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
  }
  writeFileSync(
    join(project, "pipelines", "p.yaml"),
    `name: rescore
stages:
  dataset: { uses: import-dataset, with: { path: ${JSON.stringify(mined)} } }
  sources: { uses: checkout, with: { folder: ../tree } }
  answers: { uses: import-answers, needs: dataset, with: { path: ${JSON.stringify(answers)} } }
  scores: { uses: score, needs: [dataset, sources, answers], with: { rules: strict } }
  intervals: { uses: bootstrap, needs: scores }
`,
  );
  bench(project, "run", "pipelines/p.yaml", "--quiet");
  const output = JSON.parse(bench(project, "rescore", "latest", "--rules", "lenient", "--json"));
  const seconds = rounds(() => bench(project, "rescore", "latest", "--rules", "lenient", "--json"));
  const [cell] = output.cells;
  console.log(
    `rescore, ${ANSWERS} stored answers: ${seconds.toFixed(2)} s, ${Math.round(ANSWERS / seconds)} answers/s (read, scored by both rule sets, compared, reported; ${cell.n} cases, ${cell.gained.length} gained, ${cell.lost.length} lost)`,
  );
}

/** The same job on both sides: answers and mined file in, the original's counts, intervals and report out. */
function original(mined, answers) {
  const scripts = process.env.BENCH_ORIGINAL_SCRIPTS;
  const score = () => bench(folder, "score", answers, "--dataset", mined, "--rules", "seed", "--json");
  const ours = rounds(score);
  console.log(`score by the seed rules, ${ANSWERS} answers: ${ours.toFixed(2)} s, ${Math.round(ANSWERS / ours)} answers/s`);
  if (scripts === undefined) {
    console.log("  BENCH_ORIGINAL_SCRIPTS does not name the original's scripts: no ratio");
    return;
  }
  const driver = join(folder, "driver.py");
  writeFileSync(driver, DRIVER);
  const report = join(folder, "original.json");
  const python = () => {
    const run = spawnSync("python3", [driver, resolve(scripts), mined, answers, report], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    if (run.status !== 0) throw new Error(`the original's scripts failed: ${run.stderr.slice(-2000)}`);
  };
  const theirs = rounds(python);
  const [a, b] = [JSON.parse(score()), JSON.parse(readFileSync(report, "utf8"))].map(({ summary }) => summary);
  const same =
    JSON.stringify([a.micro, a.confidence_interval_95.micro]) === JSON.stringify([b.micro, b.confidence_interval_95.micro]);
  console.log(
    `  the original's Python: ${theirs.toFixed(2)} s; original/bench = ${(theirs / ours).toFixed(1)}; same figures: ${same ? "yes" : "NO"}`,
  );
  console.log(`  goal at least 10 times as fast: ${theirs / ours >= 10 ? "met" : "missed"}`);
}

function bench(cwd, ...argv) {
  const run = spawnSync(process.execPath, [cli, ...argv], { cwd, encoding: "utf8", maxBuffer: 1 << 30 });
  if (run.status !== 0) throw new Error(`bench ${argv[0]} ended with ${run.status}: ${run.stderr.slice(-2000)}`);
  return run.stdout;
}

/** Median seconds. */
function rounds(work) {
  const times = Array.from({ length: ROUNDS }, () => {
    const began = process.hrtime.bigint();
    work();
    return Number(process.hrtime.bigint() - began) / 1e9;
  });
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
}
