/** The stages that give a data set: built from a recording, and imported from files. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { driveStage } from "../../test/rigs/drive-stage.js";
import { type StageToolsRig, stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { digestJson } from "../base/json.js";
import { leakageOf } from "../dataset/leakage.js";
import { readDataset } from "../dataset/read.js";
import { type Case, caseSchema, type DatasetHeader, datasetHeaderSchema } from "../dataset/schema.js";
import type { StageOutput, WholeResult, WholeStageKind } from "../engine/contract.js";
import type { LinksItem } from "../github/schema.js";
import { buildDatasetConfigSchema, buildDatasetStage } from "./build-dataset.js";
import { fetchIssues } from "./fetch-issues.js";
import { fetchPrFiles } from "./fetch-pr-files.js";
import { importDataset, importDatasetConfigSchema } from "./import-dataset.js";
import { resolveTimelinePrs } from "./resolve-timeline-prs.js";

const root = resolve(import.meta.dirname, "../..");
const recording = join(root, "pipelines/quickstart/cordova-android.json");
const signal = new AbortController().signal;
const build = buildDatasetStage as WholeStageKind<unknown>;
const imported = importDataset as WholeStageKind<unknown>;
let tools: StageToolsRig;
beforeEach(() => {
  tools = stageToolsRig();
});

interface Mined {
  readonly issues: StageOutput;
  readonly links: StageOutput;
  readonly files: StageOutput;
}

async function mine(links: unknown): Promise<Mined> {
  const issues = await driveStage(fetchIssues, { repo: "apache/cordova-android", recording, limit: 0 }, tools);
  const resolved = await driveStage(resolveTimelinePrs, { links, recording }, tools, issues.output);
  const files = await driveStage(fetchPrFiles, { recording }, tools, resolved.output);
  return { issues: issues.output, links: resolved.output, files: files.output };
}

async function run(kind: WholeStageKind<unknown>, config: unknown, inputs: object = {}): Promise<WholeResult> {
  const result = await kind.run(config, stageInputs({ ...inputs } as Record<string, StageOutput>), tools, signal);
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

async function failure(kind: WholeStageKind<unknown>, config: unknown, inputs: object = {}): Promise<string> {
  const result = await kind.run(config, stageInputs({ ...inputs } as Record<string, StageOutput>), tools, signal);
  return result.ok ? "" : result.message;
}

const cases = (result: WholeResult) => result.items.map(({ value }) => value as Case);
const header = (result: WholeResult) => result.meta as unknown as DatasetHeader & { digest: string };

describe("build-dataset", () => {
  const config = (value: unknown) => buildDatasetConfigSchema.parse(value);

  test("the quick start: 55 cases have a target in the package, 21 of them by keyword", async () => {
    const corpus = new Set(readFileSync(join(root, "test/data/cordova-android-8.0.0-java.txt"), "utf8").trim().split("\n"));
    expect(corpus.size).toBe(39);
    const result = await run(
      build,
      config({ links: ["closing", "curated"], extensions: [".java"] }),
      await mine(["closing", "curated"]),
    );
    const located = cases(result).filter(({ targets }) => targets.some(({ path }) => corpus.has(path)));
    expect(located).toHaveLength(55);
    expect(located.filter(({ strata }) => strata.links === "keyword")).toHaveLength(21);
    expect(header(result)).toMatchObject({
      project_name: "apache/cordova-android",
      scanned: 63,
      links: "closing, curated",
      extensions: [".java"],
    });
    expect(header(result).notes.join("\n")).toContain("no real number");
    // The renamed class counts by the name that it has in the package.
    expect(
      cases(result)
        .flatMap(({ targets }) => targets.filter(({ renamed_to }) => renamed_to !== null))
        .map(({ path }) => path),
    ).toContain("framework/src/org/apache/cordova/Whitelist.java");
  });

  test("items are complete cases, the meta a header with the cases' digest, the files the data set and its audit", async () => {
    const result = await run(build, config({ extensions: "java" }), await mine("closing"));
    for (const { id, value } of result.items)
      expect({ id, value: caseSchema.parse(JSON.parse(JSON.stringify(value))) }).toEqual({ id, value });
    const numbers = cases(result).map(({ number }) => number ?? 0);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(datasetHeaderSchema.safeParse(result.meta).success).toBe(true);
    expect(header(result).digest).toBe(digestJson(cases(result)));
    const [mined, audit] = result.files ?? [];
    expect([mined?.root, mined?.name, audit?.name]).toEqual([
      "mined",
      "apache__cordova-android__{timestamp}.json",
      "apache__cordova-android__{timestamp}__audit.json",
    ]);
    const read = readDataset(mined?.text ?? "", "x.json");
    expect(read.ok && read.value.dataset.cases).toEqual(cases(result));
    const { audit: lines, cases: count } = JSON.parse(audit?.text ?? "");
    expect(count).toBe(result.items.length);
    expect(lines).toEqual(header(result).audit);
    // Each of the issues is a case or has a line that says why not.
    const line = header(result).audit.find(({ rule }) => rule === "no-accepted-link");
    expect(result.items.length + (line?.removed ?? 0)).toBe(63);
  });

  test("without `links` the rule of the resolving stage holds; one that needs more than was fetched is refused", async () => {
    const mined = await mine(["closing", "curated"]);
    expect(header(await run(build, config({}), mined)).links).toBe("closing, curated");
    expect((await run(build, config({ links: "closing" }), mined)).items.length).toBeLessThan(
      (await run(build, config({}), mined)).items.length,
    );
    expect(await failure(build, config({ links: "mentions" }), mined)).toContain("Set the same `links` there");
  });

  test("source files are targets unless asked otherwise; the original's rule keeps every role", async () => {
    const roles = (result: WholeResult) => [...new Set(cases(result).flatMap(({ targets }) => targets.map(({ role }) => role)))];
    const rules = (result: WholeResult) => header(result).audit.map(({ rule }) => rule);
    const mined = await mine("closing");
    const closing = await run(build, config({}), mined);
    expect(roles(closing)).toEqual(["source"]);
    expect(rules(closing)).toContain("role");
    const all = await run(build, config({ roles: "all" }), mined);
    expect(roles(all)).toContain("test");
    const count = (result: WholeResult) => cases(result).reduce((sum, { targets }) => sum + targets.length, 0);
    const gone = header(closing).audit.find(({ rule }) => rule === "role")?.removed ?? 0;
    expect(count(closing) + gone).toBe(count(all));
    const mentions = await run(build, config({}), await mine("mentions"));
    expect(roles(mentions)).toContain("test");
    expect(rules(mentions)).not.toContain("role");
  });

  test("an issue whose links or files could not be fetched makes no case, and a warning", async () => {
    const mined = await mine("closing");
    const whole = cases(await run(build, config({}), mined));
    const [first, second] = whole;
    const without = (output: StageOutput, id: string | undefined): StageOutput => {
      const all = output.all.filter((ref) => ref.id !== id);
      return { ...output, items: all, all };
    };
    const links = (await tools.load(mined.links.all)) as LinksItem[];
    const pull = links.find(({ id }) => id === second?.id)?.links.find(({ wanted }) => wanted)?.pull;
    const result = await run(build, config({}), {
      ...mined,
      links: without(mined.links, first?.id),
      files: without(mined.files, pull),
    });
    const line = header(result).audit.find(({ rule }) => rule === "truth-unknown");
    expect(line?.items).toEqual(expect.arrayContaining([first?.id, second?.id]));
    expect(result.items.length).toBe(whole.length - (line?.removed ?? 0));
    expect(tools.warnings.join()).toContain("could not be fetched");
  });

  test.each([
    [{ extensions: ["*.java"] }],
    [{ extensions: [] }],
    [{ links: "all" }],
    [{ roles: "code" }],
    [{ extension: ".java" }],
  ])("%j is refused", (value) => {
    expect(buildDatasetConfigSchema.safeParse(value).success).toBe(false);
  });

  test("the key ignores how a list was written", () => {
    const key = (value: unknown) => digestJson(build.keyConfig?.(config(value)));
    expect(key({ extensions: ".Java" })).toBe(key({ extensions: ["java"] }));
    expect(key({ roles: "source" })).toBe(key({ roles: ["source"] }));
    expect(key({ roles: "source" })).not.toBe(key({}));
  });
});

describe("mask", () => {
  const inPlace = (one: Case) => ({ ...one, title: "", body: "", strata: {} });

  test("build-dataset: texts without the names of the targets, another digest, a file of its own; the truth is the same", async () => {
    const mined = await mine(["closing", "curated"]);
    const options = { links: ["closing", "curated"], extensions: [".java"] };
    const plain = await run(build, buildDatasetConfigSchema.parse(options), mined);
    const masked = await run(build, buildDatasetConfigSchema.parse({ ...options, mask: true }), mined);
    expect(cases(plain).some((one) => leakageOf(one)?.class === "full")).toBe(true);
    expect(cases(masked).filter((one) => (leakageOf(one)?.class ?? "none") !== "none")).toEqual([]);
    expect(cases(masked).map(inPlace)).toEqual(cases(plain).map(inPlace));
    expect(header(masked).digest).not.toBe(header(plain).digest);
    expect(header(masked).notes.at(-1)).toContain("masked: ");
    expect(masked.files?.map(({ name }) => name)).toEqual([
      "apache__cordova-android__masked__{timestamp}.json",
      "apache__cordova-android__masked__{timestamp}__audit.json",
    ]);
  });

  test("the key changes only where it is on", () => {
    const key = (value: unknown) => build.keyConfig?.(buildDatasetConfigSchema.parse(value));
    expect(key({ mask: false })).toEqual(key({}));
    expect(key({ mask: true })).not.toEqual(key({}));
  });

  test("import-dataset", async () => {
    const text = `${JSON.stringify({ id: "a#1", title: "DoorBell rings", body: "", targets: [{ path: "src/DoorBell.java", role: "source" }], repository: null, number: null })}\n`;
    const path = join(tools.baseFolder, "cases.jsonl");
    mkdirSync(tools.baseFolder, { recursive: true });
    writeFileSync(path, text);
    const result = await run(imported, importDatasetConfigSchema.parse({ path, mask: true }));
    expect(cases(result).map(({ title, strata }) => [title, strata])).toEqual([["Hidden1 rings", { leak_unmasked: "full" }]]);
  });
});

describe("import-dataset", () => {
  const config = (value: unknown) => importDatasetConfigSchema.parse(value);
  const write = (name: string, text: string | Uint8Array) => {
    mkdirSync(tools.baseFolder, { recursive: true });
    writeFileSync(join(tools.baseFolder, name), text);
  };
  const line = (id: string, paths: string[]) =>
    JSON.stringify({
      id,
      title: id,
      body: "b",
      repository: "o/r",
      number: 1,
      targets: paths.map((path) => ({ path, role: "source" })),
    });

  test("gives complete cases, reports bad records, and narrows targets", async () => {
    write("x.jsonl", `${line("a", ["A.java", "b.md"])}\nbroken\n${line("b", ["C.java"])}\n`);
    const result = await run(imported, config({ path: "x.jsonl", extensions: [".java"] }));
    expect(cases(result).map(({ id, targets, links, labels }) => [id, targets.map(({ path }) => path), links, labels])).toEqual([
      ["a", ["A.java"], [], []],
      ["b", ["C.java"], [], []],
    ]);
    expect(tools.warnings).toEqual(["x.jsonl: record 2 (line 2) is left out: it is not valid JSON"]);
    expect(header(result).notes.join()).toContain("1 of 3 records could not be used");
    expect(header(result).audit).toMatchObject([{ rule: "extensions", items: ["a: b.md"] }]);
  });

  test("the key holds the file's name and content, not its place", async () => {
    write("x.jsonl", line("a", []));
    mkdirSync(join(tools.baseFolder, "sub"));
    write("sub/x.jsonl", line("a", []));
    const identity = (path: string) => imported.identify?.(config({ path }), tools);
    const first = await identity("x.jsonl");
    expect(await identity("sub/x.jsonl")).toEqual(first);
    expect(await identity(join(tools.baseFolder, "x.jsonl"))).toEqual(first);
    write("x.jsonl", line("b", []));
    expect(await identity("x.jsonl")).not.toEqual(first);
    expect(digestJson(imported.keyConfig?.(config({ path: "x.jsonl" })))).toBe(
      digestJson(imported.keyConfig?.(config({ path: "y" }))),
    );
  });

  test("a file that changes between key and reading fails instead of being stored under the wrong key", async () => {
    write("x.jsonl", line("a", []));
    await imported.identify?.(config({ path: "x.jsonl" }), tools);
    write("x.jsonl", line("b", []));
    expect(await failure(imported, config({ path: "x.jsonl" }))).toContain("changed while it was read");
  });

  test("what can't be read is explained", async () => {
    expect(await failure(imported, config({ path: "none.json" }))).toContain("does not exist");
    mkdirSync(join(tools.baseFolder, "folder"), { recursive: true });
    expect(await failure(imported, config({ path: "folder" }))).toContain("is a folder");
    write("bin", new Uint8Array([0xff, 0xfe, 0]));
    expect(await failure(imported, config({ path: "bin" }))).toContain("not UTF-8");
    write("bad.json", '{"issues": [\n}');
    expect(await failure(imported, config({ path: "bad.json" }))).toMatch(/^bad\.json/);
    write(
      "old.json",
      JSON.stringify({
        project_name: "o/r",
        issues: [{ number: 1, title: "t", linked_merged_pull_requests: [{ number: 2, impacted_files: ["a"] }] }],
      }),
    );
    expect(await failure(imported, config({ path: "old.json", links: "closing" }))).toContain(
      "does not say how its links were found",
    );
    expect((await run(imported, config({ path: "old.json", links: "mentions" }))).items).toHaveLength(1);
  });

  test("what build-dataset wrote comes back case for case", async () => {
    const mined = await mine(["closing", "curated"]);
    const built = await run(build, buildDatasetConfigSchema.parse({ extensions: ".java" }), mined);
    write("mined.json", built.files?.[0]?.text ?? "");
    const back = await run(imported, config({ path: "mined.json" }));
    expect(back.items).toEqual(JSON.parse(JSON.stringify(built.items)));
    expect(header(back).digest).toBe(header(built).digest);
    const closing = await run(imported, config({ path: "mined.json", links: "closing" }));
    const direct = await run(build, buildDatasetConfigSchema.parse({ extensions: ".java", links: "closing" }), mined);
    expect(cases(closing).map(({ id, targets }) => [id, targets])).toEqual(cases(direct).map(({ id, targets }) => [id, targets]));
  });

  const shared = resolve(root, "../shared/data/mined");
  test.skipIf(!existsSync(shared))("the original's file: 65 of 71 issues have Java targets, 2,554 in all", async () => {
    const result = await run(
      imported,
      config({ path: join(shared, "stleary__json-java__20260420T090843Z.json"), extensions: ".java" }),
    );
    expect(result.items).toHaveLength(71);
    const counts = cases(result).map(({ targets }) => targets.length);
    expect([counts.filter((count) => count > 0).length, counts.reduce((a, b) => a + b, 0)]).toEqual([65, 2554]);
  });
});
