/**
 * Faults at named points: a disk that is full, broken, out of handles, a clock that jumps, a kill before and after each kind of write. After each: an exit
 * code that does not say "done" unless everything was stored, a message that helps, the same figures, no answer lost that was stored, none asked again but
 * those in flight, a sound cache, and no step by hand.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { figures, type Project, project } from "./rigs/cli.js";

const PRELOAD = join(import.meta.dirname, "rigs/fault-preload.cjs");
const SQLITE = createRequire(import.meta.url).resolve("sqlite3");
const CASES = 6;
/** Answers under way at once. */
const AT_ONCE = 2;

let clean: Project;
let expected: unknown;
beforeAll(async () => {
  clean = project();
  clean.write(
    "pipelines/p.yaml",
    `name: p
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers:
    uses: query-backend
    needs: dataset
    with: { backend: { kind: command, run: [node, ./tool.mjs, "{id}"], version: "1", concurrency: ${AT_ONCE} } }
  scores: { uses: score, needs: [dataset, answers], with: { measures: [R, P] } }
  report: { uses: report, needs: scores }
`,
  );
  const cases = Array.from({ length: CASES }, (_, n) => ({ id: `c${n}`, title: `case ${n}`, targets: [{ path: `f${n}.c` }] }));
  clean.write("pipelines/cases.jsonl", cases.map((one) => JSON.stringify(one)).join("\n"));
  // Every other answer is too large for a row and becomes a file of its own, which no compression makes small.
  clean.write(
    "pipelines/tool.mjs",
    `import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
const id = process.argv[2];
appendFileSync(new URL("../asked.txt", import.meta.url), id + "\\n");
const noise = Array.from({ length: id.charCodeAt(1) % 2 ? 2500 : 1 }, (_, n) => createHash("sha256").update(id + n).digest("hex")).join("");
console.log(JSON.stringify({ classes: [{ path: "f" + id.slice(1) + ".c" }, { path: "g.c" }], noise }));
`,
  );
  const whole = clean.copy();
  expected = figures(await whole.run(["pipelines/p.yaml"]));
  whole.remove();
});
afterAll(() => clean.remove());

const asked = (made: Project) => {
  try {
    return made.read("asked.txt").trim().split("\n").length;
  } catch {
    return 0;
  }
};

interface Fault {
  readonly op: string;
  readonly path?: string;
  readonly call: number;
  readonly fault: string | number;
  readonly when?: "before" | "after";
  readonly lasting?: boolean;
}

async function suffer(fault: Fault) {
  const made = clean.copy();
  const env = { BENCH_FAULT: JSON.stringify(fault), BENCH_FAULT_SQLITE: SQLITE, NODE_OPTIONS: `--require=${PRELOAD}` };
  const hurt = await made.bench(["run", "pipelines/p.yaml"], env);
  const before = asked(made);
  const after = await made.run(["pipelines/p.yaml"]);
  expect(figures(after)).toEqual(expected);
  const again = asked(made) - before;
  const verified = await made.bench(["cache", "verify", "--json"]);
  expect([verified.exit, JSON.parse(verified.stdout).damage ?? []]).toEqual([0, []]);
  made.remove();
  return { hurt, before, again };
}

const OBJECT = "/cache/objects/";
const FULL: readonly Fault[] = [
  { op: "writeFile", path: OBJECT, call: 1, fault: "ENOSPC", lasting: true },
  { op: "writeFile", path: OBJECT, call: 2, fault: "ENOSPC" },
  { op: "writeFile", path: OBJECT, call: 1, fault: "EIO" },
  { op: "writeFile", path: OBJECT, call: 1, fault: "EMFILE", lasting: true },
  { op: "rename", path: OBJECT, call: 1, fault: "EIO", lasting: true },
  { op: "mkdir", path: OBJECT, call: 1, fault: "ENOSPC", lasting: true },
  { op: "row", call: 1, fault: "SQLITE_FULL", lasting: true },
  { op: "row", call: 8, fault: "SQLITE_FULL", lasting: true },
  { op: "row", call: 8, fault: "SQLITE_IOERR" },
  { op: "row", call: 1, fault: "SQLITE_READONLY", lasting: true },
  { op: "row", call: 8, fault: "SQLITE_BUSY", lasting: true },
  { op: "writeFile", path: "/evaluation_results/.*report", call: 1, fault: "ENOSPC", lasting: true },
];

describe("a disk that does not take it", () => {
  test.each(
    FULL.map(
      (fault) =>
        [`${fault.fault} at ${fault.op} ${fault.path ?? ""} ${fault.call}${fault.lasting ? " and on" : ""}`, fault] as const,
    ),
  )('%s: said, no "done", and the same command goes on', async (_, fault) => {
    const { hurt, before, again } = await suffer(fault);
    if (hurt.exit === 0) {
      // It was tried again and stored: then nothing is left to do.
      expect([fault.lasting ?? false, again]).toEqual([false, 0]);
      return;
    }
    expect(hurt.exit).toBe(1);
    expect(hurt.stderr).toMatch(/full|space|can't be (?:written|stored)|could not be written|make room|another program/i);
    expect(hurt.stderr).not.toMatch(/internal error|\n {4}at /);
    expect(before).toBeLessThanOrEqual(CASES);
    // What was answered and could not be stored, and no more.
    if (fault.lasting !== true) expect(again).toBeLessThanOrEqual(CASES - before + AT_ONCE);
  });
});

const KILLS: readonly Fault[] = (["before", "after"] as const).flatMap((when): Fault[] => [
  { op: "writeFile", path: OBJECT, call: 2, fault: "KILL", when },
  { op: "rename", path: OBJECT, call: 2, fault: "KILL", when },
  { op: "row", call: 3, fault: "KILL", when },
  { op: "row", call: 10, fault: "KILL", when },
  { op: "rename", path: "/run\\.json", call: 2, fault: "KILL", when },
  { op: "writeFile", path: "/evaluation_results/.*report", call: 1, fault: "KILL", when },
]);

describe("a kill", () => {
  test.each(KILLS.map((fault) => [`${fault.when} ${fault.op} ${fault.path ?? ""} ${fault.call}`, fault] as const))(
    "%s: at most what was in flight is asked again",
    async (_, fault) => {
      const { hurt, before, again } = await suffer(fault);
      expect(hurt.signal).toBe("SIGKILL");
      expect(before + again).toBeLessThanOrEqual(CASES + AT_ONCE);
    },
  );
});

describe("a clock that jumps", () => {
  test.each([
    ["a day ahead", 86_400_000],
    ["a day back", -86_400_000],
    ["ten years back", -3.2e11],
  ])("%s: nothing is lost, and nothing is done twice", async (_, fault) => {
    const { hurt, before, again } = await suffer({ op: "clock", call: 40, fault });
    expect([hurt.exit, before, again]).toEqual([0, CASES, 0]);
  });
});

test("eight processes on one cache, one of them killed: each question is asked once but for those that it had in flight", async () => {
  const made = clean.copy();
  const runs = Array.from({ length: 8 }, () => made.start(["run", "pipelines/p.yaml", "--json"]));
  const [first, ...others] = runs;
  if (first !== undefined) process.kill(first.pid, "SIGKILL");
  const ends = await Promise.all(others.map(({ finished }) => finished));
  expect(ends.map(({ exit }) => exit)).toEqual(others.map(() => 0));
  for (const { stdout } of ends) expect(figures(JSON.parse(stdout))).toEqual(expected);
  expect(asked(made)).toBeLessThanOrEqual(CASES + AT_ONCE);
  made.remove();
});
