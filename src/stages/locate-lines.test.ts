/** Lines of fixes from a real repository: moved by other work, renamed, inserted, removed, rebased, and not there any more. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type GitRig, gitRig } from "../../test/rigs/git-repository.js";
import { type StageToolsRig, stageInputs, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { type Case, caseSchema, DATASET_SCHEMA_VERSION, type DatasetHeader, type Link } from "../dataset/schema.js";
import { selectTargets } from "../dataset/targets.js";
import type { ItemStageKind, WholeStageKind } from "../engine/contract.js";
import { checkoutConfigSchema, checkout as checkoutKind } from "./checkout.js";
import { locateLines } from "./locate-lines.js";

const checkout = checkoutKind as ItemStageKind<unknown, unknown>;
const locate = locateLines as WholeStageKind<unknown>;
const signal = new AbortController().signal;

const JAVA = `class A {
  int f() {
    return 1;
  }

  int g() {
    return 2;
  }
}
`;
const PYTHON = "def f():\n    one()\n\n\ndef g():\n    two()\n";

type File = Partial<Link["files"][number]> & { readonly path: string };

function link(number: number, base: string | null, merge: string | null, files: readonly File[]): Link {
  return {
    repository: "o/r",
    number,
    title: null,
    url: null,
    merged_at: `2020-01-0${number}T00:00:00Z`,
    grade: "platform",
    evidence: [],
    base_commit: base,
    merge_commit: merge,
    files_truncated: false,
    files: files.map((file) => ({
      status: "modified",
      previous_path: null,
      additions: null,
      deletions: null,
      role: "source",
      ...file,
    })),
  };
}

function caseOf(base: string, links: readonly Link[]): Case {
  const targets = [...selectTargets(links, { extensions: null, roles: null }).targets];
  const asked = { id: "o/r#1", repository: "o/r", number: 1, title: "t", body: "", base_commit: base };
  return caseSchema.parse({ ...asked, links: [...links], targets });
}

async function run(
  rig: Pick<GitRig, "folder">,
  cases: readonly Case[],
  git: string | null = rig.folder,
  chosen = cases.map(({ id }) => id),
) {
  const tools: StageToolsRig = stageToolsRig({ env: { PATH: process.env.PATH } });
  const shared = { url: null, scanned: null, links: null, extensions: null, notes: [], audit: [] };
  const header = { schema_version: DATASET_SCHEMA_VERSION, project_name: "o/r", ...shared } satisfies DatasetHeader;
  const all = tools.output(
    cases.map((value) => ({ id: value.id, value })),
    header,
  );
  const dataset = { ...all, items: all.items.filter(({ id }) => chosen.includes(id)) };
  const prepared = await checkout.prepare(
    checkoutConfigSchema.parse({ git: rig.folder, at: "base" }),
    stageInputs({ dataset }),
    tools,
  );
  const trees = [];
  for (const unit of checkout.start?.(prepared) ?? []) {
    const outcome = await checkout.execute(prepared, unit, tools, signal);
    if (outcome.type === "done") trees.push(...outcome.items);
  }
  const corpus = tools.output(trees);
  const result = await locate.run(
    locate.config.parse(git === null ? {} : { git }),
    stageInputs({ dataset, corpus }),
    tools,
    signal,
  );
  if (!result.ok) throw new Error(result.message);
  const located = result.value.items.map(({ value }) => caseSchema.parse(JSON.parse(JSON.stringify(value))));
  return { located, targets: located[0]?.targets ?? [], notes: (result.value.meta as { notes: string[] }).notes, tools };
}

test("the fix's lines in the tree of the question, although others moved and changed the file before it was merged", async () => {
  const rig = gitRig();
  rig.write("src/A.java", JAVA);
  const base = rig.commit("base");
  rig.git("checkout", "-q", "-b", "fix");
  rig.write("src/A.java", JAVA.replace("return 2", "return 3"));
  rig.write("src/New.java", "class New { }\n");
  rig.commit("fix");
  rig.git("checkout", "-q", "main");
  rig.write("src/A.java", `// licence\n// more\n${JAVA.replace("return 1", "return 10")}`);
  rig.commit("other work");
  rig.git("merge", "-q", "--no-ff", "fix", "-m", "merge");
  const merge = rig.git("rev-parse", "HEAD");
  const one = caseOf(base, [link(1, base, merge, [{ path: "src/A.java" }, { path: "src/New.java", status: "added" }])]);
  const { targets, notes } = await run(rig, [one]);
  expect(targets).toMatchObject([
    {
      path: "src/A.java",
      in_tree: true,
      hunks: [[7, 1]],
      ranges: [[7, 7]],
      classes: [{ name: "A", ranges: [[1, 9]] }],
      functions: [{ name: "A.g", ranges: [[6, 8]] }],
    },
    { path: "src/New.java", in_tree: false, ranges: null },
  ]);
  expect(notes).toEqual([]);
});

test("renames, insertions, files that the fix removes; an insertion between two functions is their class's", async () => {
  const rig = gitRig();
  rig.write("Old.java", JAVA);
  rig.write("gone.py", PYTHON);
  rig.write("end.py", PYTHON);
  rig.write("bin.java", "\0binary");
  const base = rig.commit("base");
  rig.git("mv", "Old.java", "New.java");
  rig.write("New.java", JAVA.replace("\n  int g", "\n  int h() {\n    return 0;\n  }\n\n  int g"));
  rig.remove("gone.py");
  rig.write("bin.java", "\0other");
  // At the very end of a function that was there: only the file after the fix says whose line it is.
  rig.write("end.py", PYTHON.replace("one()\n", "one()\n    more()\n"));
  const merge = rig.commit("fix");
  const one = caseOf(base, [
    link(1, base, merge, [
      { path: "New.java", status: "renamed", previous_path: "Old.java" },
      { path: "gone.py", status: "removed" },
      { path: "end.py" },
      { path: "bin.java" },
    ]),
  ]);
  const { targets, notes } = await run(rig, [one]);
  expect(targets.find(({ path }) => path === "Old.java")).toMatchObject({
    renamed_to: "New.java",
    hunks: [[5, 0]],
    ranges: [[5, 6]],
    classes: [{ name: "A" }],
    functions: [],
  });
  expect(targets.find(({ path }) => path === "gone.py")).toMatchObject({
    ranges: [[1, 6]],
    functions: [{ name: "f", ranges: [[1, 2]] }, { name: "g" }],
  });
  expect(targets.find(({ path }) => path === "end.py")).toMatchObject({ ranges: [[2, 3]], functions: [{ name: "f" }] });
  const binary = targets.find(({ path }) => path === "bin.java");
  expect(binary?.ranges).toBeNull();
  expect(binary).not.toHaveProperty("functions");
  expect(notes).toContain("1 of 4 targets that are in the tree have no line ranges");
});

test("two fixes of one issue: the second's lines are carried back behind the first and the rename between them", async () => {
  const rig = gitRig();
  rig.write("A.java", JAVA);
  const base = rig.commit("base");
  rig.git("mv", "A.java", "B.java");
  rig.write("B.java", JAVA.replace("    return 1;", "    log();\n    return 11;"));
  const first = rig.commit("first");
  rig.write("B.java", JAVA.replace("    return 1;", "    log();\n    return 12;").replace("return 2", "return 22"));
  const second = rig.commit("second");
  const one = caseOf(base, [
    link(1, base, first, [{ path: "B.java", status: "renamed", previous_path: "A.java" }]),
    link(2, first, second, [{ path: "B.java" }]),
  ]);
  const { targets } = await run(rig, [one]);
  expect(targets).toMatchObject([
    {
      path: "A.java",
      renamed_to: "B.java",
      ranges: [
        [3, 3],
        [7, 7],
      ],
      functions: [{ name: "A.f" }, { name: "A.g" }],
    },
  ]);
});

test("commits that were rebased one by one are compared with the base, and that is said", async () => {
  const rig = gitRig();
  rig.write("a.py", PYTHON);
  rig.write("b.py", PYTHON);
  const base = rig.commit("base");
  rig.write("a.py", PYTHON.replace("one", "uno"));
  rig.commit("first of the pull request");
  rig.write("b.py", PYTHON.replace("two", "due"));
  const merge = rig.commit("last of the pull request");
  const { targets, notes } = await run(rig, [caseOf(base, [link(1, base, merge, [{ path: "a.py" }, { path: "b.py" }])])]);
  expect(targets.map(({ path, functions }) => [path, functions?.map(({ name }) => name)])).toEqual([
    ["a.py", ["f"]],
    ["b.py", ["g"]],
  ]);
  expect(notes.join()).toContain("1 fixes are more than their merge commit");
});

test("a commit that the repository does not have leaves what the data set states, and is said", async () => {
  const rig = gitRig();
  rig.write("A.java", JAVA);
  const base = rig.commit("base");
  const one = caseOf(base, [link(1, base, "0".repeat(40), [{ path: "A.java", hunks: [[3, 1]] }])]);
  const { targets, notes } = await run(rig, [one]);
  expect(targets).toMatchObject([{ ranges: [[3, 3]], functions: [{ name: "A.f" }] }]);
  expect(notes.join()).toContain("1 fixes can't be read from the repository");
});

test("without a repository: hunks of patches, and functions that the makers state are kept and placed", async () => {
  const rig = gitRig();
  rig.write("A.java", JAVA);
  rig.write("note.txt", "x\n");
  const base = rig.commit("base");
  const patched = caseOf(base, [
    link(1, base, null, [
      { path: "A.java", hunks: [[8, 0]] },
      { path: "note.txt", hunks: [[1, 1]] },
    ]),
  ]);
  const stated: Case = {
    ...caseOf(base, [link(1, base, null, [{ path: "A.java" }])]),
    id: "o/r#2",
    targets: [
      {
        ...{ path: "A.java", role: "source", status: null, renamed_to: null, grade: 1, ranges: null },
        functions: [
          { name: "A.f", ranges: null },
          { name: "A.gone", ranges: null },
        ],
      },
    ],
  };
  const { located } = await run(rig, [patched, stated], null);
  expect(located[0]?.targets).toMatchObject([
    { ranges: [[8, 9]], classes: [{ name: "A" }], functions: [] },
    { path: "note.txt", ranges: [[1, 1]] },
  ]);
  expect(located[0]?.targets[1]).not.toHaveProperty("functions");
  expect(located[1]?.targets[0]).toMatchObject({
    ranges: null,
    functions: [
      { name: "A.f", ranges: [[2, 4]] },
      { name: "A.gone", ranges: null },
    ],
  });
});

test("through the mined file and back nothing of it is lost", async () => {
  const { minedFile } = await import("../dataset/mined-file.js");
  const { readDataset } = await import("../dataset/read.js");
  const rig = gitRig();
  rig.write("A.java", JAVA);
  const base = rig.commit("base");
  rig.write("A.java", JAVA.replace("return 2", "return 3"));
  const merge = rig.commit("fix");
  const { located } = await run(rig, [caseOf(base, [link(1, base, merge, [{ path: "A.java", hunks: [[7, 1]] }])])]);
  const shared = { url: null, scanned: null, links: null, extensions: null, notes: [], audit: [] };
  const header = { schema_version: DATASET_SCHEMA_VERSION, project_name: "o/r", ...shared } satisfies DatasetHeader;
  const read = readDataset(minedFile({ header, cases: located }, "2020-01-01T00:00:00Z"), "x.json");
  expect(read.ok && read.value.dataset.cases).toEqual(located);
  expect(read.ok && read.value.notes).toEqual([]);
});

test("each case's own repository; a case that was not selected goes by as it is", async () => {
  const root = mkdtempSync(join(tmpdir(), "bench-repositories-"));
  const made = ["r", "s", "t"].map((name) => {
    const rig = gitRig();
    mkdirSync(join(root, "o"), { recursive: true });
    symlinkSync(rig.folder, join(root, "o", name));
    rig.write(`${name}.java`, JAVA);
    const base = rig.commit("base");
    rig.write(`${name}.java`, JAVA.replace("return 2", `return "${name}"`));
    const fix = { ...link(1, base, rig.commit("fix"), [{ path: `${name}.java` }]), repository: `o/${name}` };
    return { ...caseOf(base, [fix]), id: `o/${name}#1`, repository: `o/${name}` };
  });
  const { located } = await run({ folder: `${root}/{repository}` }, made, `${root}/{repository}`, ["o/r#1", "o/s#1"]);
  expect(located.map(({ targets: [target] }) => [target?.path, target?.functions?.map(({ name }) => name)])).toEqual([
    ["r.java", ["A.g"]],
    ["s.java", ["A.g"]],
    ["t.java", undefined],
  ]);
  rmSync(root, { recursive: true });
});
