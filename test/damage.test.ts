/**
 * Whatever happens to a file of the cache: the run ends well with the same figures, says what it met, and `cache verify` finds the damage.
 *
 * Every kind of file is damaged in every way; of the database the header's fields and a spread of bytes (BENCH_DAMAGE=all: every 97th).
 */
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { figures, filesBelow, type Project, project, REPOSITORY, type RunJson } from "./rigs/cli.js";
import { type FakeNpm, fakeNpm } from "./rigs/fake-npm.js";
import { casesFile } from "./rigs/puppet.js";
import { tarball } from "./rigs/tar.js";

const CASES = 6;
const PIPELINE = `name: damage
params: { rules: strict }
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  sources: { uses: checkout, with: { npm: made-up@1.0.0 } }
  answers:
    uses: query-backend
    needs: [dataset, sources]
    matrix:
      backend:
        - { kind: bm25, top: 3 }
        - { kind: command, name: grep, run: [node, ./grep-backend.mjs, "{corpus}"], version: "1" }
  scores: { uses: score, needs: [dataset, sources, answers], with: { rules: "\${params.rules}", measures: [P, R, F1, RR] } }
  intervals: { uses: bootstrap, needs: scores, with: { samples: 100 } }
  report: { uses: report, needs: [scores, intervals] }
`;
const FILE = "pipelines/damage.yaml";

/** Text that no compressor shortens below the size from which objects are files of their own. */
function noise(length: number): string {
  let text = "";
  for (let round = 0; text.length < length; round++) text += createHash("sha512").update(String(round)).digest("base64");
  return text;
}

const archive = tarball([
  ...Array.from({ length: CASES }, (_, index) => ({
    path: `package/src/File${index + 1}.java`,
    content: `class File${index + 1} { /* Thing ${index + 1} */ }`,
  })),
  { path: "package/src/Large.java", content: `// ${noise(120_000)}` },
]);

let npm: FakeNpm;
let base: Project;
let first: RunJson;

beforeAll(async () => {
  npm = fakeNpm();
  npm.give(archive);
  base = project({ PATH: npm.env.PATH ?? "" });
  base.write(FILE, PIPELINE);
  base.write("pipelines/cases.jsonl", casesFile(CASES));
  copyFileSync(join(REPOSITORY, "pipelines/quickstart/grep-backend.mjs"), join(base.folder, "pipelines/grep-backend.mjs"));
  first = await base.run([FILE]);
});
afterAll(() => {
  base.remove();
  npm.remove();
});

const KINDS: Record<string, RegExp> = {
  object: /^objects\/../,
  "file of a source tree": /^trees\/[0-9a-f]{64}\/src\/File3\.java$/,
  seal: /^seal\.json$/,
  format: /^format\.json$/,
  database: /^index\.sqlite$/,
};

type Harm = (path: string) => void;
const flip =
  (at: number): Harm =>
  (path) => {
    const bytes = readFileSync(path);
    const position = at < 0 ? bytes.length + at : Math.min(at, bytes.length - 1);
    bytes[position] = (bytes[position] ?? 0) ^ 0x20;
    writeFileSync(path, bytes);
  };
const HARMS: Record<string, Harm> = {
  "its first byte flipped": flip(0),
  "a byte in the middle flipped": (path) => flip(statSync(path).size >> 1)(path),
  "its last byte flipped": flip(-1),
  "cut to a half": (path) => truncateSync(path, statSync(path).size >> 1),
  "one byte short": (path) => truncateSync(path, statSync(path).size - 1),
  emptied: (path) => truncateSync(path, 0),
  removed: (path) => rmSync(path),
  "replaced by a folder": (path) => {
    rmSync(path);
    mkdirSync(path);
  },
};

/** Nothing depends on these: they are made again, and there is nothing to be found. */
const HARMLESS = new Set(["seal removed", "format removed"]);

function damaged(kind: string): { copy: Project; path: string; shown: string } {
  const copy = base.copy();
  const shown = filesBelow(join(copy.folder, "cache")).find((name) => KINDS[kind]?.test(name));
  if (shown === undefined) throw new Error(`the cache has no ${kind}`);
  const path = join(copy.folder, "cache", shown);
  chmodSync(path, 0o644);
  return { copy, path, shown };
}

/** What a run on the damaged cache must do, whatever the damage. */
async function runsAllTheSame(copy: Project): Promise<RunJson & { stderr: string }> {
  const run = await copy.run([FILE]);
  expect(figures(run)).toEqual(figures(first));
  expect(run.counts.failed).toBe(0);
  expect(run.stderr).not.toContain("internal error");
  if (run.counts.executed === 0) return run;
  // What was made again is there now.
  const again = await copy.run([FILE, "--offline"]);
  expect(again.counts).toMatchObject({ executed: 0, queries: 0, requests: 0 });
  return run;
}

async function verified(
  copy: Project,
): Promise<{ exit: number | null; damaged: { where: string; problem: string }[]; stderr: string }> {
  const { exit, stdout, stderr } = await copy.bench(["cache", "verify", "--json"]);
  return { exit, damaged: JSON.parse(stdout).damaged, stderr };
}

test("the cache is sound, and every file in it is of a kind that is damaged here", async () => {
  const sound = await verified(base);
  expect(sound).toMatchObject({ exit: 0, damaged: [] });
  const known = [...Object.values(KINDS), /^trees\/[0-9a-f]{64}\/src\/\w+\.java$/];
  expect(filesBelow(join(base.folder, "cache")).filter((name) => !known.some((kind) => kind.test(name)))).toEqual([]);
});

describe.each(Object.keys(KINDS))("a damaged %s", (kind) => {
  test.each(Object.keys(HARMS))("%s", async (harm) => {
    const { copy, path } = damaged(kind);
    try {
      HARMS[harm]?.(path);
      const found = await verified(copy);
      expect(found.exit).toBe(HARMLESS.has(`${kind} ${harm}`) ? 0 : 1);
      expect(found.stderr).toBe("");
      await runsAllTheSame(copy);
    } finally {
      copy.remove();
    }
  });
});

describe("bytes of the database", () => {
  /** Fields of SQLite's header, by their place in its file format. */
  const header = [16, 18, 19, 21, 24, 28, 31, 32, 44, 47, 59, 92];
  const spread = Array.from({ length: 8 }, (_, index) => 100 + index * 8219 + index ** 3);
  const every = () => {
    const { size } = statSync(join(base.folder, "cache/index.sqlite"));
    return Array.from({ length: Math.floor(size / 97) }, (_, index) => index * 97);
  };

  test("flipped anywhere: the same figures, and verify finds it", { timeout: 7_200_000 }, async () => {
    for (const offset of process.env.BENCH_DAMAGE === "all" ? every() : [...header, ...spread]) {
      const { copy, path } = damaged("database");
      try {
        flip(offset)(path);
        expect((await verified(copy)).exit, `verify, byte ${offset}`).toBe(1);
        const run = await copy.bench(["run", FILE, "--json"]);
        expect(run.exit, `run, byte ${offset}: ${run.stderr}`).toBe(0);
        expect(figures(JSON.parse(run.stdout)), `figures, byte ${offset}`).toEqual(figures(first));
      } finally {
        copy.remove();
      }
    }
  });
});

describe("what was met is said", () => {
  test("an object that is needed: a warning, and only what depends on it is made again", async () => {
    const copy = base.copy();
    try {
      for (const name of filesBelow(join(copy.folder, "cache/objects"))) flip(-1)(join(copy.folder, "cache/objects", name));
      // Another parameter of the search makes it read the sources again.
      copy.write(FILE, PIPELINE.replace("top: 3", "top: 2"));
      const run = await copy.run([FILE]);
      expect(run.warnings.concat(run.stderr).join("\n")).toMatch(
        /cache: object [0-9a-f]{12} in objects\/\S+ has other bytes than its digest says/,
      );
      expect(run.stderr).toContain("going through the pipeline again, whatever is intact is used");
      expect(run.stages.find(({ label }) => label === "grep")?.executed).toBe(0);
      expect((await verified(copy)).damaged.filter(({ where }) => where !== "objects")).toEqual([]);
    } finally {
      copy.remove();
    }
  });

  test("a source tree on disk that was changed is not searched: it is made anew", async () => {
    const { copy, path } = damaged("file of a source tree");
    try {
      writeFileSync(path, "class File3 { /* Thing Thing Thing Thing */ }");
      copy.write(FILE, PIPELINE.replace('version: "1"', 'version: "2"'));
      const run = await copy.run([FILE]);
      expect(run.counts.queries).toBe(CASES);
      expect(figures(run)).toEqual(figures({ summary: { ...first.summary } }));
      expect((await verified(copy)).exit).toBe(0);
    } finally {
      copy.remove();
    }
  });

  test("a lost database: said, and everything is made again", async () => {
    const { copy, path } = damaged("database");
    try {
      rmSync(path);
      const run = await copy.run([FILE]);
      expect(run.stderr).toContain("index.sqlite is gone although the cache was in use");
      expect(run.counts.queries).toBe(2 * CASES);
    } finally {
      copy.remove();
    }
  });

  test("--repair removes what is damaged, and the cache is sound again", async () => {
    const { copy, path } = damaged("object");
    try {
      flip(7)(path);
      const tree = damaged("file of a source tree");
      tree.copy.remove();
      const file = join(copy.folder, "cache", tree.shown);
      chmodSync(file, 0o644);
      writeFileSync(file, "changed");
      const repaired = await copy.bench(["cache", "verify", "--repair"]);
      expect(repaired.exit).toBe(1);
      expect(repaired.stdout).toMatch(/objects\/\S+\): (?:has other bytes than its digest says|can't be decompressed)/);
      expect(repaired.stdout).toContain("holds other files than its name says");
      expect(repaired.stdout).toContain("They were removed");
      expect((await copy.bench(["cache", "verify"])).exit).toBe(0);
      await runsAllTheSame(copy);
    } finally {
      copy.remove();
    }
  });

  test("rm and gc leave a sound cache; rm of a case asks it again, gc loses no answer", async () => {
    const copy = base.copy();
    try {
      const removed = await copy.bench(["cache", "rm", "o/r#3"]);
      expect(removed.exit).toBe(0);
      expect(removed.stdout).toMatch(/^\d+ units and \d+ stage summar(y|ies) removed;/);
      expect((await copy.bench(["cache", "verify"])).stdout).toContain("all intact");
      const run = await copy.run([FILE]);
      expect(run.counts.queries).toBe(2);
      expect(figures(run)).toEqual(figures(first));
      rmSync(join(copy.folder, "evaluation_results"), { recursive: true });
      expect((await copy.bench(["cache", "gc"])).exit).toBe(0);
      expect((await copy.bench(["cache", "verify"])).stdout).toContain("all intact");
      const again = await copy.run([FILE, "--offline"]);
      expect(again.counts).toMatchObject({ queries: 0, requests: 0 });
      expect(figures(again)).toEqual(figures(first));
    } finally {
      copy.remove();
    }
  });
});
