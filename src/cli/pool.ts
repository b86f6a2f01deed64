/** `bench pool RUN...`: predictions that nobody has judged, as a file to fill in. */
import { resolve } from "node:path";
import { writeAtomically } from "../engine/record.js";
import { csvCell } from "../report/csv.js";
import { plural } from "../report/numbers.js";
import { type Judgements, parseJudgements } from "../scoring/judgements.js";
import { type PoolEntry, poolOf } from "../scoring/pool.js";
import { type Command, EXIT, type Io, UsageError } from "./contract.js";
import { inputText } from "./inputs.js";
import { count, list, text } from "./options.js";
import { runsFolder } from "./stored-run.js";
import { storedRun } from "./stored-runs.js";

const DEPTH = 10;

export const command: Command = {
  usage: "pool <...runs>",
  summary: "Collect predictions that nobody has judged, to be graded",
  options: [
    { flag: "--depth <k>", description: `The first k predictions of each answer (default ${DEPTH})` },
    {
      flag: "--judgements <file>",
      description: "Judgements made already: what they hold is left out (repeatable)",
      repeated: true,
    },
    { flag: "--format <format>", description: "jsonl (default) or csv" },
    { flag: "--out <file>", description: "File to write (default: stdout)" },
    { flag: "--runs <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--cache <folder>", description: "The cache, for runs without JSON reports (default cache)" },
  ],
  examples: [
    "bench pool latest --depth 5 --out pool.jsonl     then set each grade: 2 or 1 = a right answer, 0 = none, -1 = can't tell",
    "bench score answers.jsonl --dataset d.json --judgements pool.jsonl --measures Bpref,InfAP,Judged@10",
  ],
  run: async (args, options, io) => {
    const format = text(options, "format") ?? "jsonl";
    if (format !== "jsonl" && format !== "csv") throw new UsageError(`--format ${format}: choose jsonl or csv`);
    const judgements = await judgementsOf(list(options, "judgements"), io);
    const place = { out: runsFolder(options, io), cwd: io.cwd, io, options };
    const runs = [];
    for (const run of args) {
      const stored = await storedRun(run, place);
      for (const { label, cases } of stored.reports)
        runs.push({ label: args.length > 1 ? `${stored.name}:${label}` : label, cases });
    }
    const pool = poolOf(runs, count(options, "depth", 1) ?? DEPTH, judgements);
    const content = format === "csv" ? csv(pool) : pool.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    const out = text(options, "out");
    if (out === undefined) io.stdout(content);
    else {
      await writeAtomically(resolve(io.cwd, out), content);
      const cases = new Set(pool.map(({ id }) => id)).size;
      io.stderr(
        `wrote ${out}: ${plural(pool.length, "prediction")} of ${plural(cases, "case")} to judge; set each grade to 2, 1, 0 or -1\n`,
      );
    }
    return EXIT.done;
  },
};

/** Of several files, the later has the last word on nothing: two opinions are a mistake. */
export async function judgementsOf(files: readonly string[], io: Pick<Io, "cwd">): Promise<Judgements> {
  const all = new Map<string, Map<string, number>>();
  for (const file of files) {
    const read = parseJudgements(await inputText(file, io.cwd));
    if (!read.ok) throw new UsageError(read.error.map((what) => `${file}: ${what}`).join("\n"));
    for (const [id, grades] of read.value) {
      const known = all.get(id) ?? new Map<string, number>();
      all.set(id, known);
      for (const [path, grade] of grades) {
        const before = known.get(path);
        if (before !== undefined && before !== -1 && grade !== -1 && before !== grade) {
          throw new UsageError(`${file}: ${path} was judged ${before} for ${id} in another file, and ${grade} here`);
        }
        if (before === undefined || before === -1) known.set(path, grade);
      }
    }
  }
  return all;
}

function csv(pool: readonly PoolEntry[]): string {
  const rows = pool.map(({ id, path, title, found_by }) => [
    id,
    path,
    "",
    title,
    Object.entries(found_by)
      .map(([label, rank]) => `${label}@${rank}`)
      .join(" "),
  ]);
  return [["id", "path", "grade", "title", "found_by"], ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}
