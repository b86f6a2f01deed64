import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { driveStage } from "../../test/rigs/drive-stage.js";
import { fakeNpm } from "../../test/rigs/fake-npm.js";
import { gitRig } from "../../test/rigs/git-repository.js";
import { type StageToolsRig, stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { tarball } from "../../test/rigs/tar.js";
import { keyDigest } from "../cache/key.js";
import { type Tree, treeSchema } from "../corpus/contract.js";
import { sha512Integrity } from "../corpus/npm.js";
import { openCorpus } from "../corpus/tree.js";
import { type Case, caseSchema } from "../dataset/schema.js";
import type { ItemStageKind, StageOutput, StageTools, Unit, UnitOutcome } from "../engine/contract.js";
import { checkoutConfigSchema, checkout as kind } from "./checkout.js";

const checkout = kind as ItemStageKind<unknown, unknown>;
const signal = new AbortController().signal;
let tools: StageToolsRig;
beforeEach(() => {
  tools = stageToolsRig({ env: { PATH: process.env.PATH } });
});

/** Does what the engine does: identity, preparation, every unit. */
async function run(with_: Record<string, unknown>, dataset?: StageOutput, using: StageTools = tools) {
  const config = checkoutConfigSchema.parse(with_);
  const identity = (await checkout.identify?.(config, using)) ?? [];
  const prepared = await checkout.prepare(config, stageInputs(dataset === undefined ? {} : { dataset }), using);
  const units = checkout.start?.(prepared) ?? [];
  const outcomes: UnitOutcome[] = [];
  for (const unit of units) outcomes.push(await checkout.execute(prepared, unit, using, signal));
  const key = (unit: Unit) =>
    keyDigest([{ name: "config", value: checkout.keyConfig?.(config) as never }, ...identity, ...unit.parts]);
  return { identity, units, outcomes, keys: units.map(key), trees: outcomes.flatMap(treesOf), prepared };
}

function treesOf(outcome: UnitOutcome): Tree[] {
  return outcome.type === "done" ? outcome.items.map(({ value }) => treeSchema.parse(value)) : [];
}

function messages(outcomes: readonly UnitOutcome[]): string {
  return outcomes.map((outcome) => (outcome.type === "failed" ? outcome.message : "")).join("\n");
}

function caseAt(number: number, base: string | null): { id: string; value: Case } {
  const id = `o/r#${number}`;
  return { id, value: caseSchema.parse({ id, repository: "o/r", number, title: "t", body: "", base_commit: base, targets: [] }) };
}

describe("configuration", () => {
  test.each<[Record<string, unknown>, string]>([
    [{}, "one of `npm`, `folder`, `git`"],
    [{ npm: "x@1.0.0", folder: "y" }, "only one source"],
    [{ npm: "x@latest" }, "exact version"],
    [{ git: "https://github.com/o/r" }, "say which commit"],
    [{ git: "ext::sh", at: "base" }, "not allowed"],
    [{ git: "../r", at: "--x" }, "must be `base`"],
    [{ git: "https://github.com/{repository}", at: "main" }, "each case's own"],
    [{ folder: "x", at: "main" }, "goes with `git`"],
    [{ folder: "x", integrity: "sha512-x" }, "goes with `npm`"],
    [{ npm: "x@1.0.0", integrity: "sha1-x" }, "sha512-"],
    [{ folder: "x", include: "!a" }, "not negated"],
    [{ folder: "x", includes: "a" }, "nrecognized key"],
  ])("%j is refused", (config, text) => {
    const result = checkoutConfigSchema.safeParse(config);
    expect(result.success).toBe(false);
    expect(JSON.stringify(result.error?.issues)).toContain(text);
  });
});

test("npm: one tree; other globs are another key, and no other fetch", async () => {
  const npm = fakeNpm();
  const archive = tarball([
    { path: "package/src/A.java", content: "class A {}" },
    { path: "package/b.md", content: "b" },
  ]);
  npm.give(archive, sha512Integrity(archive));
  const using = stageToolsRig({ env: npm.env });
  const java = await run({ npm: "x@1.0.0", include: "**/*.java" }, undefined, using);
  expect(java.trees).toMatchObject([{ id: "all", source: "npm:x@1.0.0", files: [{ path: "src/A.java" }] }]);
  expect(await openCorpus(java.trees[0] as Tree, using).text("src/A.java")).toBe("class A {}");
  const all = await run({ npm: "x@1.0.0" }, undefined, using);
  expect(all.trees[0]?.files).toHaveLength(2);
  expect(all.keys).not.toEqual(java.keys);
  expect((await run({ npm: "x@1.0.0", include: ["**/*.java"] }, undefined, using)).keys).toEqual(java.keys);
  expect(using.counts).toEqual({ requests: 1 });
});

describe("folder", () => {
  const write = (path: string, text: string) => {
    mkdirSync(join(tools.baseFolder, path, ".."), { recursive: true });
    writeFileSync(join(tools.baseFolder, path), text);
  };

  test("the key is the content's, not the path's; the tree neither", async () => {
    write("one/A.java", "a");
    write("two/A.java", "a");
    const one = await run({ folder: "one" });
    const two = await run({ folder: join(tools.baseFolder, "two") });
    expect(two.keys).toEqual(one.keys);
    expect(two.trees).toEqual(one.trees);
    write("two/A.java", "b");
    const changed = await run({ folder: "two" });
    expect(changed.keys).not.toEqual(one.keys);
    expect(await openCorpus(changed.trees[0] as Tree, tools).text("A.java")).toBe("b");
  });

  test("a folder that changes between key and reading fails instead of being stored under the wrong key", async () => {
    write("one/A.java", "a");
    const config = checkoutConfigSchema.parse({ folder: "one" });
    await checkout.identify?.(config, tools);
    const prepared = await checkout.prepare(config, stageInputs({}), tools);
    const [unit] = checkout.start?.(prepared) ?? [];
    write("one/A.java", "b");
    expect(await checkout.execute(prepared, unit as Unit, tools, signal)).toMatchObject({
      type: "failed",
      message: expect.stringContaining("changed while it was read"),
    });
    // Changed before the preparation: noticed there.
    const late = await checkout.prepare(config, stageInputs({}), tools);
    const outcome = await checkout.execute(late, (checkout.start?.(late) ?? [])[0] as Unit, tools, signal);
    expect(outcome).toMatchObject({ type: "failed", message: expect.stringContaining("run again") });
    expect((await run({ folder: "one" })).outcomes[0]?.type).toBe("done");
  });

  test("what was left out is said once when the tree is made, what the pipeline file chose is not", async () => {
    write("one/A.java", "a");
    for (const name of ["b", "a"])
      symlinkSync(join(tools.baseFolder, "one/A.java"), join(tools.baseFolder, "one", `${name}.java`));
    write("one/node_modules/p/i.js", "x");
    await driveStage(kind, { folder: "one" }, tools);
    expect(tools.warnings).toEqual([
      "source tree: 1 left out (installed packages are no part of a tree): node_modules",
      "source tree: 2 left out (links are not followed): a.java, b.java",
    ]);
    const chosen = stageToolsRig({ baseFolder: tools.baseFolder });
    await driveStage(kind, { folder: "one", include: "A.java" }, chosen);
    expect(chosen.warnings).toEqual([]);
  });

  test("a missing folder fails with a message and a key of its own", async () => {
    const missing = await run({ folder: "none" });
    expect(messages(missing.outcomes)).toContain("does not exist");
    expect(missing.identity).toHaveLength(1);
  });
});

describe("git", () => {
  test("at a ref of a local repository: the key is the commit's, so a moved branch is another tree", async () => {
    const rig = gitRig();
    rig.write("a.java", "1");
    const first = rig.commit("one");
    const before = await run({ git: rig.folder, at: "main" });
    expect(before.trees).toMatchObject([{ id: "all", source: "git", revision: first }]);
    rig.write("a.java", "2");
    const second = rig.commit("two");
    const after = await run({ git: rig.folder, at: "main" });
    expect(after.trees[0]?.revision).toBe(second);
    expect(after.keys).not.toEqual(before.keys);
    expect(messages((await run({ git: rig.folder, at: "gone" })).outcomes)).toContain("no branch, tag or commit gone");
  });

  test("at base: one tree per distinct commit, named by it; no later commit's content in any", async () => {
    const rig = gitRig();
    const url = pathToFileURL(rig.folder).href;
    rig.write("src/A.java", "before");
    const one = rig.commit("one");
    rig.write("src/A.java", "fixed");
    rig.write("src/B.java", "added by the fix");
    const two = rig.commit("two");
    const dataset = tools.output([caseAt(1, one), caseAt(2, two), caseAt(3, one), caseAt(4, null), caseAt(5, "abc")]);
    const { trees, units, prepared } = await run({ git: url, at: "base", include: "src/**" }, dataset);
    expect(units.map(({ id }) => id)).toEqual([one, two].sort());
    const at = new Map(trees.map((tree) => [tree.id, tree]));
    expect(at.get(one)?.files.map(({ path }) => path)).toEqual(["src/A.java"]);
    expect(await openCorpus(at.get(one) as Tree, tools).text("src/A.java")).toBe("before");
    expect(at.get(two)?.files).toHaveLength(2);
    expect(tools.warnings.join("\n")).toMatch(
      /1 of 5 cases have no base commit.*\n.*1 of 5 cases have a base commit that is no full/,
    );
    expect(await checkout.finish?.(prepared, [], tools, stageInputs({}))).toMatchObject({
      notes: [expect.any(String), expect.any(String)],
    });
  });

  test("{repository}: each case's own repository, each cloned once", async () => {
    const rigs = ["One", "two"].map((name) => {
      const rig = gitRig();
      rig.write("a.txt", name);
      const commits = [rig.commit("first"), rig.commit(`second of ${name}`)];
      return { name, rig, commits };
    });
    const parent = mkdtempSync(join(tmpdir(), "bench-repositories-"));
    mkdirSync(join(parent, "o"));
    for (const { name, rig } of rigs) symlinkSync(rig.folder, join(parent, "o", name));
    const own = (number: number, repository: string | null, base: string) => {
      const { id, value } = caseAt(number, base);
      return { id, value: { ...value, repository } };
    };
    const [one, two] = rigs;
    const dataset = tools.output([
      ...(one?.commits ?? []).map((commit, index) => own(index, "o/One", commit)),
      ...(two?.commits ?? []).map((commit, index) => own(10 + index, "o/two", commit)),
      own(20, null, "a".repeat(40)),
      own(21, "../two", "b".repeat(40)),
    ]);
    const git = `${pathToFileURL(parent).href}/{repository}`;
    const { trees, units } = await run({ git, at: "base" }, dataset);
    expect(units).toHaveLength(4);
    const texts = await Promise.all(trees.map(async (tree) => [tree.id, await openCorpus(tree, tools).text("a.txt")] as const));
    expect(new Map(texts)).toEqual(
      new Map(rigs.flatMap(({ name, commits }) => commits.map((commit) => [commit, name] as const))),
    );
    expect(tools.warnings.join()).toContain("2 of 6 cases name no repository");
    const folders = readdirSync(tools.cacheFolder("git")).filter((name) => name.endsWith(".git"));
    expect(folders).toHaveLength(2);
    const alone = tools.output([own(1, null, "a".repeat(40))]);
    expect(messages((await run({ git, at: "base" }, alone)).outcomes)).toContain("names its repository");
  });

  test("a unit that is executed again stores everything again", async () => {
    const rig = gitRig();
    rig.write("a.java", "1");
    const commit = rig.commit("one");
    let puts = 0;
    const using = stageToolsRig({
      env: tools.env,
      putBytes: (bytes) => {
        puts += 1;
        return tools.putBytes(bytes);
      },
    });
    const { prepared, units } = await run({ git: rig.folder, at: "base" }, tools.output([caseAt(1, commit)]), {
      ...using,
      load: tools.load,
    });
    expect(puts).toBe(1);
    await checkout.execute(prepared, units[0] as Unit, using, signal);
    expect(puts).toBe(2);
  });

  test("at base without a data set, or with one that knows no commits, fails with what to do", async () => {
    expect(messages((await run({ git: "/x", at: "base" })).outcomes)).toContain("`needs`");
    expect(messages((await run({ git: "/x", at: "base" }, tools.output([caseAt(1, null)]))).outcomes)).toContain("at: REF");
    expect((await run({ git: "/x", at: "base" }, tools.output([]))).units).toEqual([]);
  });

  test("offline without a clone fails with what to do, and is not tried again", async () => {
    const offline = stageToolsRig({ env: tools.env, offline: true });
    const { outcomes } = await run({ git: "https://127.0.0.1:9/o/r", at: "main" }, undefined, offline);
    expect(outcomes).toMatchObject([{ type: "failed", message: expect.stringContaining("--offline") }]);
    expect(outcomes[0]).not.toHaveProperty("retry");
  });

  test("a server that can't be reached is worth another attempt", async () => {
    const { outcomes } = await run({ git: "http://127.0.0.1:9/o/r", at: "main" });
    expect(outcomes).toMatchObject([{ type: "failed", retry: {} }]);
  });
});
