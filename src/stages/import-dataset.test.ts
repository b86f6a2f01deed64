/** `import-dataset` with what stands beside the file: a source tree to check against, qrels, other counts of lines. */
import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type StageToolsRig, stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { storeFiles } from "../corpus/tree.js";
import type { Case } from "../dataset/schema.js";
import type { StageOutput, WholeStageKind } from "../engine/contract.js";
import { importDataset, importDatasetConfigSchema } from "./import-dataset.js";

const kind = importDataset as WholeStageKind<unknown>;
const COMMIT = "abcdef1".padEnd(40, "0");
let tools: StageToolsRig;
beforeEach(() => {
  tools = stageToolsRig({ baseFolder: mkdtempSync(join(tmpdir(), "bench-import-")) });
});

async function run(with_: Record<string, unknown>, inputs: Record<string, StageOutput> = {}) {
  const config = importDatasetConfigSchema.parse(with_);
  const result = await kind.run(config, stageInputs(inputs), tools, new AbortController().signal);
  return result.ok ? result.value.items.map(({ value }) => value as Case) : result.message;
}

const write = (name: string, text: string) => writeFileSync(join(tools.baseFolder, name), text);

async function corpus(files: Record<string, string>, revision: string | null): Promise<StageOutput> {
  const list = Object.entries(files).map(([path, text]) => ({ path, bytes: new TextEncoder().encode(text) }));
  const stored = await storeFiles(list, tools);
  return tools.output([{ id: "all", value: { id: "all", source: "git", revision, files: stored, notes: [] } }]);
}

test("Parquet is told by its content", async () => {
  copyFileSync(resolve(import.meta.dirname, "../../test/data/parquet/instances-snappy.parquet"), join(tools.baseFolder, "x.bin"));
  expect(await run({ path: "x.bin" })).toHaveLength(3);
});

test("ranges beyond the end of a file are refused, and so is another commit", async () => {
  write("code.csv", "query,result1\nfirst,src/a.rs:1-3:2\nsecond,src/a.rs:3-4:2\nthird,src/none.rs:1-900:2\n");
  const tree = await corpus({ "src/a.rs": "1\n2\n3\n" }, COMMIT);
  expect(await run({ path: "code.csv", commit: "abcdef1" }, { corpus: tree })).toContain(
    "1 ranges lie beyond the end of their file (code.csv#2: src/a.rs:3-4, and the file has 3 lines)",
  );
  expect(await run({ path: "code.csv", commit: "1234567" }, { corpus: tree })).toContain(
    "of another commit: code.csv#1 is about",
  );
  const longer = await corpus({ "src/a.rs": "1\n2\n3\n4" }, COMMIT);
  expect(await run({ path: "code.csv", commit: "abcdef1" }, { corpus: longer })).toHaveLength(3);
});

test("a table that counts lines from 0 says so in the pipeline", async () => {
  write("code.csv", "query,result1\nfirst,src/a.rs:0-2:2\n");
  expect(await run({ path: "code.csv" })).toContain("lines_from: 0");
  const tree = await corpus({ "src/a.rs": "1\n2\n3\n" }, null);
  const [one] = (await run({ path: "code.csv", lines_from: 0 }, { corpus: tree })) as Case[];
  expect(one?.targets[0]?.ranges).toEqual([[1, 3]]);
});

test("TREC topics and qrels are a data set", async () => {
  write("topics.tsv", "1\tfirst\n2\tsecond\n");
  write("qrels.txt", "1 0 src/A.java 1\n2 0 src/B.java 2\n");
  const cases = (await run({ path: "topics.tsv", qrels: "qrels.txt" })) as Case[];
  expect(cases.map(({ id, targets }) => [id, targets[0]?.path, targets[0]?.grade])).toEqual([
    ["1", "src/A.java", 1],
    ["2", "src/B.java", 2],
  ]);
  expect(await run({ path: "topics.tsv", qrels: "none.txt" })).toContain("none.txt does not exist");
  expect(await run({ path: "topics.tsv", qrels: "qrels.txt", format: "csv" })).toContain("leave `format: csv` out");
  await expect(
    (async () => kind.identify?.(importDatasetConfigSchema.parse({ path: "topics.tsv", qrels: "none.txt" }), tools))(),
  ).rejects.toThrow("none.txt");
});
