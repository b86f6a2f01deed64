/**
 * Time travel with real git: whatever happened to a repository (renames, reverts, files that came later, a fix on a branch), the tree of a
 * case holds what was there at its base commit and nothing that came after it.
 */
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { type GitRig, gitRig } from "../../test/rigs/git-repository.js";
import { type StageToolsRig, stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { type Tree, treeSchema } from "../corpus/contract.js";
import { openCorpus } from "../corpus/tree.js";
import { caseSchema } from "../dataset/schema.js";
import type { ItemStageKind, OutItem } from "../engine/contract.js";
import { checkoutConfigSchema, checkout as kind } from "./checkout.js";

const checkout = kind as ItemStageKind<unknown, unknown>;
const signal = new AbortController().signal;

interface Story {
  readonly rig: GitRig;
  /** Every commit, oldest first, each with the word that it alone wrote. */
  readonly commits: readonly { readonly id: string; readonly word: string }[];
  readonly cases: readonly OutItem[];
  readonly named: Readonly<Record<string, string>>;
}

/** Each commit writes a word of its own into every file that it touches, so that contents say which commits they came from. */
function story(): Story {
  const rig = gitRig();
  const commits: { id: string; word: string }[] = [];
  const done = (name: string): string => {
    const id = rig.commit(name);
    commits.push({ id, word: `word-${name};` });
    return id;
  };
  const write = (path: string, name: string, more = "") => rig.write(path, `class X { /* word-${name}; */ }\n${more}`);
  write("src/A.java", "first");
  write("src/B.java", "first");
  const first = done("first");
  rig.git("mv", "src/B.java", "src/Renamed.java");
  write("src/A.java", "second");
  write("src/Added.java", "second");
  const second = done("second");
  // A fix on a branch, merged after other work went on.
  rig.git("checkout", "-q", "-b", "fix", first);
  write("src/A.java", "fix");
  write("src/FromFix.java", "fix");
  done("fix");
  rig.git("checkout", "-q", "main");
  write("docs/x.md", "aside");
  const aside = done("aside");
  try {
    rig.git("merge", "-q", "--no-ff", "--no-commit", "fix");
  } catch {
    // A.java was changed on both sides: the merge is resolved by hand below.
  }
  write("src/A.java", "merge");
  const merge = done("merge");
  write("src/A.java", "bad");
  const bad = done("bad");
  rig.git("revert", "--no-edit", "--no-commit", bad);
  const revert = done("revert");
  write("src/A.java", "last");
  const last = done("last");
  const one = (number: number, base: string, fix: string, path: string): OutItem => {
    const link = { repository: "o/r", number: 100 + number, title: null, url: null, merged_at: null, grade: "platform" };
    const id = `o/r#${number}`;
    const links = [{ ...link, base_commit: base, merge_commit: fix, files: [] }];
    const targets = [{ path, role: "source" }];
    return {
      id,
      value: caseSchema.parse({ id, repository: "o/r", number, title: "t", body: "", base_commit: base, targets, links }),
    };
  };
  const cases = [
    one(1, first, second, "src/B.java"),
    one(2, aside, merge, "src/A.java"),
    one(3, bad, revert, "src/A.java"),
    one(4, revert, last, "src/A.java"),
    // Another issue about the same commit, and a file that the fix adds.
    one(5, aside, merge, "src/FromFix.java"),
  ];
  return { rig, commits, cases, named: { first, second, aside, merge, bad, revert, last } };
}

async function trees(git: string, at: string, { cases }: Story, tools: StageToolsRig) {
  const dataset = tools.output(cases);
  const inputs = stageInputs({ dataset });
  const prepared = await checkout.prepare(checkoutConfigSchema.parse({ git, at }), inputs, tools);
  const made: Tree[] = [];
  for (const unit of checkout.start?.(prepared) ?? []) {
    const outcome = await checkout.execute(prepared, unit, tools, signal);
    if (outcome.type !== "done") throw new Error(JSON.stringify(outcome));
    made.push(...outcome.items.map(({ value }) => treeSchema.parse(value)));
  }
  const refs = tools.output(made.map((tree) => ({ id: tree.id, value: tree }))).items;
  const meta = (await checkout.finish?.(prepared, refs, tools, inputs)) as { truth?: string[] };
  return { made, truth: meta.truth ?? [] };
}

async function words(tree: Tree, tools: StageToolsRig): Promise<Map<string, string[]>> {
  const corpus = openCorpus(tree, tools);
  const found = new Map<string, string[]>();
  for (const { path } of tree.files) found.set(path, (await corpus.text(path)).match(/word-\w+;/g) ?? []);
  return found;
}

test.each(["path", "url"])("no tree holds what came after its commit (a clone by %s)", async (by) => {
  const told = story();
  const tools = stageToolsRig({ env: { PATH: process.env.PATH } });
  const git = by === "path" ? told.rig.folder : pathToFileURL(told.rig.folder).href;
  const { made, truth } = await trees(git, "base", told, tools);
  // One tree per distinct commit, shared by the cases that ask about it.
  expect(made.map(({ id }) => id).sort()).toEqual(
    [...new Set(told.cases.map(({ value }) => (value as { base_commit: string }).base_commit))].sort(),
  );
  for (const tree of made) {
    const history = new Set(told.rig.git("rev-list", tree.id).split("\n"));
    const later = told.commits.filter(({ id }) => !history.has(id)).map(({ word }) => word);
    expect(later.length).toBeGreaterThan(0);
    const held = [...(await words(tree, tools)).values()].flat();
    expect(held.filter((word) => later.includes(word))).toEqual([]);
    // Exactly the files of that commit, and no history beside them.
    expect(tree.files.map(({ path }) => path)).toEqual(told.rig.git("ls-tree", "-r", "--name-only", tree.id).split("\n").sort());
  }
  const at = (name: string) => made.find(({ id }) => id === told.named[name]) as Tree;
  expect(at("first").files.map(({ path }) => path)).toEqual(["src/A.java", "src/B.java"]);
  expect((await words(at("revert"), tools)).get("src/A.java")).toEqual(["word-merge;"]);
  expect((await words(at("bad"), tools)).get("src/A.java")).toEqual(["word-bad;"]);
  expect(truth).toEqual(["1 of 5 targets, of 1 cases, are not among the selected files of their trees: they are counted apart"]);
});

test("one commit for all: which targets it lacks, and whose fixes it already holds, is said", async () => {
  const told = story();
  const tools = stageToolsRig({ env: { PATH: process.env.PATH } });
  const { truth } = await trees(told.rig.folder, told.named.bad ?? "", told, tools);
  const short = told.named.bad?.slice(0, 12);
  expect(truth).toEqual([
    `1 of 5 targets, of 1 cases, are not among the selected files of the tree at ${short}: they are counted apart`,
    `the tree at ${short} already holds a fix of 3 of 5 cases (o/r#1, o/r#2, o/r#5): what is asked about them is no longer so there. \`at: base\` gives each case the tree before its fix`,
  ]);
  expect(tools.warnings).toEqual(truth);
  // At the very first commit no fix is in yet.
  const early = await trees(told.rig.folder, told.named.first ?? "", told, tools);
  expect(early.truth.join()).not.toContain("already holds");
});

test("targets in a submodule are said to be there; names alike but for letter case are said and kept", async () => {
  const rig = gitRig();
  rig.write("a/Name.java", "one");
  rig.write("a/name.java", "two");
  rig.git("add", "-A");
  rig.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib/other`);
  rig.git("commit", "-q", "-m", "submodule");
  const base = rig.git("rev-parse", "HEAD");
  const targets = ["lib/other/src/X.java", "lib/other", "a/name.java"].map((path) => ({ path, role: "source" }));
  const id = "o/r#1";
  const value = caseSchema.parse({ id, repository: "o/r", number: 1, title: "t", body: "", base_commit: base, targets });
  const tools = stageToolsRig({ env: { PATH: process.env.PATH } });
  const { made, truth } = await trees(rig.folder, "base", { rig, commits: [], cases: [{ id, value }], named: {} }, tools);
  expect(truth.join("\n")).toContain(
    "2 targets are in a submodule, or are one, and submodules are not followed: lib/other/src/X.java, lib/other",
  );
  expect(made[0]?.files.map(({ path }) => path)).toEqual(["a/Name.java", "a/name.java"]);
  expect(made[0]?.notes.join("\n")).toContain(
    "2 files have names that differ only in letter case or Unicode form (a/Name.java, a/name.java)",
  );
});
