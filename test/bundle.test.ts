import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { digestBytes } from "../src/base/json.js";
import { ANSWERS, bench, CASES, caseLine, classes, DOOR, ROOF, scoredProject, WINDOW, write } from "./rigs/scored-project.js";
import { type TarEntry, tarball } from "./rigs/tar.js";

/** Files of a tar, as the hand-made archives of the rig have them. */
function entriesOf(path: string): TarEntry[] {
  const bytes = gunzipSync(readFileSync(path));
  const entries: TarEntry[] = [];
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const header = bytes.subarray(at, at + 512);
    const name = header.toString("utf8", 0, 100).replace(/\0.*$/s, "");
    const size = Number.parseInt(header.toString("latin1", 124, 136), 8);
    entries.push({ path: name, content: bytes.subarray(at + 512, at + 512 + size) });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

const elsewhere = () => mkdtempSync(join(tmpdir(), "bench-elsewhere-"));

async function bundled(options: Parameters<typeof scoredProject>[0] = {}) {
  const project = await scoredProject(options);
  const said = await bench(project.folder, "export", "bundle", "latest", "--out", "run.tgz");
  expect(said).toMatchObject({ exit: 0 });
  return { ...project, file: join(project.folder, "run.tgz") };
}

describe("a bundle", () => {
  test("scores the same on another machine, without the project that made it", async () => {
    const { folder, run, file } = await bundled({ cells: { one: ANSWERS, two: { ...ANSWERS, 1: classes("Door\u2028") } } });
    const here = JSON.parse((await bench(folder, "rescore", "latest", "--rules", "lenient", "--json")).stdout);
    const there = elsewhere();
    cpSync(file, join(there, "paper.tgz"));
    rmSync(folder, { recursive: true });
    const imported = await bench(there, "import", "paper.tgz");
    expect(imported).toMatchObject({ exit: 0 });
    expect(imported.stdout).toContain(run);
    const result = JSON.parse((await bench(there, "rescore", run, "--rules", "lenient", "--json")).stdout);
    expect(result).toMatchObject({ source: "cache", notes: [] });
    expect(result.cells).toEqual(here.cells);
    expect(JSON.parse((await bench(there, "score", "latest:one.jsonl", "--json")).stdout).issues).toHaveLength(6);
    expect((await bench(there, "cache", "verify")).exit).toBe(0);
  });

  test("holds what scoring reads, and not the sources, the journal, or this machine", async () => {
    const { file, folder } = await bundled();
    const entries = entriesOf(file);
    expect(entries.map(({ path }) => path)).toEqual([
      "bundle.json",
      ...["acme__house__puppet", "dataset-card.json", "dataset-card.md", "report.md", "results.json", "run.json"].map((name) =>
        expect.stringContaining(`run/${name}`),
      ),
      "objects.jsonl",
    ]);
    const text = entries.map(({ content }) => Buffer.from(content ?? "").toString("utf8")).join("");
    expect(text).not.toContain(folder);
    expect(text).not.toMatch(/class \d+ \{\}/);
  });

  test("the same run gives the same bytes", async () => {
    const { folder, file } = await bundled();
    await bench(folder, "export", "bundle", "latest", "--out", "again.tgz");
    expect(readFileSync(join(folder, "again.tgz")).equals(readFileSync(file))).toBe(true);
  });

  test("importing twice changes nothing; another run of that name is refused", async () => {
    const { file, run } = await bundled();
    const there = elsewhere();
    for (let i = 0; i < 2; i++) expect((await bench(there, "import", file)).exit).toBe(0);
    writeFileSync(join(there, "evaluation_results", run, "report.md"), "other");
    const said = await bench(there, "import", file);
    expect(said.exit).toBe(2);
    expect(said.stderr).toContain("another run");
    expect(readdirSync(join(there, "evaluation_results"))).toEqual([run]);
  });

  test("gc keeps what an imported run needs", async () => {
    const { file } = await bundled();
    const there = elsewhere();
    await bench(there, "import", file);
    const dry = JSON.parse((await bench(there, "cache", "gc", "--answers", "--json")).stdout);
    expect(dry.dropped_objects).toBe(0);
    expect((await bench(there, "rescore", "latest", "--rules", "lenient")).exit).toBe(0);
  });

  test("is refused where it would give a token away; a person can say that it is none", async () => {
    const token = `${"gh"}p_${"q7Zk2Rw9Xb4Tn6Vc1Md8Ls3Pf5Hj0GyAeUiO"}`;
    const cases = [...CASES.slice(0, 5), caseLine(6, [DOOR], { body: `I use ${token} to log in.` })];
    const { folder } = await scoredProject({ cases, cells: { puppet: { ...ANSWERS, 1: `${classes(DOOR)} // ${token}` } } });
    const said = await bench(folder, "export", "bundle", "latest", "--out", "run.tgz");
    expect(said.exit).toBe(1);
    expect(existsSync(join(folder, "run.tgz"))).toBe(false);
    expect(said.stderr).toContain("acme/house#6");
    expect(said.stderr).toContain("GitHub token");
    expect(said.stderr).not.toContain(token);
    const fingerprint = /fingerprint ([0-9a-f]{12})/.exec(said.stderr)?.[1] ?? "";
    expect((await bench(folder, "export", "bundle", "latest", "--out", "run.tgz", "--not-secret", fingerprint)).exit).toBe(0);
  });

  test("a run whose cache is gone can't be bundled", async () => {
    const { folder } = await scoredProject();
    rmSync(join(folder, "cache"), { recursive: true });
    const said = await bench(folder, "export", "bundle", "latest");
    expect(said.exit).toBe(2);
    expect(said.stderr).toContain("there is no cache");
  });
});

describe("what is no bundle, or a wrong one, changes nothing", () => {
  const edited = (change: (entries: TarEntry[], head: Head) => TarEntry[]) => async (file: string) => {
    const entries = entriesOf(file);
    const head = JSON.parse(Buffer.from(entries[0]?.content ?? "").toString("utf8")) as Head;
    const changed = change(entries.slice(1), head);
    writeFileSync(file, tarball([{ path: "bundle.json", content: JSON.stringify(head) }, ...changed]));
  };
  interface Head {
    run_id: string;
    objects: number;
    bundle_format: number;
    files: { name: string; bytes: number; sha256: string }[];
  }
  const withHead = (change: (head: Head) => Head) =>
    edited((entries, head) => {
      Object.assign(head, change(head));
      return entries;
    });
  const objects = (entries: TarEntry[]) => entries.find(({ path }) => path === "objects.jsonl") as TarEntry;
  /** Entries with other objects, and the head made to fit. */
  const withObjects = (change: (lines: string[]) => string[]) =>
    edited((entries, head) => {
      const lines = Buffer.from(objects(entries).content ?? "")
        .toString("utf8")
        .split("\n")
        .filter((line) => line !== "");
      const content = change(lines)
        .map((line) => `${line}\n`)
        .join("");
      head.files = head.files.map((one) =>
        one.name === "objects.jsonl" ? { ...one, bytes: Buffer.byteLength(content), sha256: sha256(content) } : one,
      );
      return entries.map((entry) => (entry.path === "objects.jsonl" ? { path: entry.path, content } : entry));
    });

  test.each<[string, (file: string) => Promise<void>, RegExp]>([
    ["cut short", async (file) => writeFileSync(file, readFileSync(file).subarray(0, 900)), /damaged/],
    ["no archive", async (file) => writeFileSync(file, "hello"), /no bundle/],
    ["another format", withHead((head) => ({ ...head, bundle_format: 2 })), /not one that this version reads/],
    ["a run id that is a path", withHead((head) => ({ ...head, run_id: "../x" })), /run_id/],
    ["a file outside", edited((entries) => [...entries, { path: "../evil.txt", content: "x" }]), /not in its list/],
    ["an absolute file", edited((entries) => [...entries, { path: "/tmp/evil.txt", content: "x" }]), /not in its list/],
    [
      "a listed file outside",
      edited((entries, head) => {
        head.files.push({ name: "run/../../evil.txt", bytes: 1, sha256: sha256("x") });
        return [...entries, { path: "run/../../evil.txt", content: "x" }];
      }),
      /no file of a bundle/,
    ],
    ["a link", edited((entries) => [...entries, { path: "run/link", type: "2", link: "/etc/passwd" }]), /only files/],
    [
      "a link in place of a file",
      edited((entries) =>
        entries.map((one) => (one.path === "run/report.md" ? { path: one.path, type: "2", link: "/etc/passwd" } : one)),
      ),
      /only files/,
    ],
    ["a file twice", edited((entries) => [...entries, ...entries.slice(0, 1)]), /twice/],
    ["a missing file", edited((entries) => entries.slice(1)), /missing/],
    [
      "a changed report",
      edited((entries) => entries.map((one) => (one.path === "run/report.md" ? { ...one, content: flipped(one.content) } : one))),
      /other bytes/,
    ],
    [
      "a changed object",
      withObjects((lines) => lines.map((line, i) => (i === 3 ? line.replace("acme", "acne") : line))),
      /other bytes/,
    ],
    ["a line that is no object", withObjects((lines) => [...lines, "{}"]), /is no object/],
    ["an object twice", withObjects((lines) => [...lines, lines[0] ?? ""]), /twice/],
    [
      "an object less",
      async (file) => {
        await withObjects((lines) => lines.slice(0, -1))(file);
        await withHead((head) => ({ ...head, objects: head.objects - 1 }))(file);
      },
      /not complete/,
    ],
    [
      "an object more",
      async (file) => {
        const text = '{"poison":true}';
        await withObjects((lines) => [...lines, JSON.stringify({ digest: sha256(text), text })])(file);
        await withHead((head) => ({ ...head, objects: head.objects + 1 }))(file);
      },
      /does not name/,
    ],
  ])("%s", async (_, damage, message) => {
    const { file } = await bundled();
    await damage(file);
    const there = elsewhere();
    const said = await bench(there, "import", file);
    expect(said.exit).toBe(1);
    expect(said.stderr).toMatch(message);
    const out = join(there, "evaluation_results");
    expect(existsSync(out) ? readdirSync(out) : []).toEqual([]);
    expect(existsSync(join(there, "evil.txt"))).toBe(false);
    expect(existsSync("/tmp/evil.txt")).toBe(false);
    const { objects: held } = JSON.parse((await bench(there, "cache", "stats", "--json")).stdout);
    expect(held).toBe(0);
  });
});

function sha256(text: string): string {
  return digestBytes(text);
}

function flipped(content: TarEntry["content"]): Buffer {
  const bytes = Buffer.from(content ?? "");
  bytes[10] = (bytes[10] ?? 0) ^ 1;
  return bytes;
}

describe("export", () => {
  test("answers: each under its cell's label, and they score as they did", async () => {
    const { folder } = await scoredProject({ cells: { one: ANSWERS, two: { ...ANSWERS, 2: classes(ROOF) } } });
    await bench(folder, "export", "answers", "latest", "--out", "answers.jsonl");
    const scored = async (label: string, ...argv: string[]) =>
      JSON.parse((await bench(folder, "score", ...argv, "--json")).stdout).summary.measures.R.value + label.length * 0;
    for (const label of ["one.jsonl", "two.jsonl"]) {
      const from = ["answers.jsonl", "--dataset", "pipelines/dataset.jsonl", "--backend", label, "--corpus", "tree"];
      expect(await scored(label, ...from)).toBe(await scored(label, `latest:${label}`));
    }
    const one = (await bench(folder, "export", "answers", "latest:one.jsonl")).stdout.trim().split("\n");
    expect(one).toHaveLength(5);
    expect(JSON.parse(one[3] ?? "")).toMatchObject({ id: "acme/house#4", backend: "one.jsonl", details: { note: "kept" } });
  });

  test("dataset: reads back to the same cases", async () => {
    const { folder } = await scoredProject();
    await bench(folder, "export", "dataset", "latest", "--out", "mined.json");
    const [ours, theirs] = await Promise.all(
      [["latest"], ["latest", "--dataset", "mined.json"]].map((argv) => bench(folder, "score", ...argv, "--json")),
    );
    const digest = ({ stdout }: { stdout: string }) => JSON.parse(stdout).summary.measures;
    expect(digest(theirs as never)).toEqual(digest(ours as never));
    rmSync(join(folder, "cache"), { recursive: true });
    expect((await bench(folder, "export", "dataset", "latest")).stderr).toContain("--cache");
  });

  test("queries: without the truth unless it is asked for", async () => {
    const { folder } = await scoredProject();
    const { stdout } = await bench(folder, "export", "queries", "pipelines/dataset.jsonl");
    const rows = JSON.parse(stdout);
    expect(rows).toHaveLength(6);
    expect(Object.keys(rows[0])).toEqual(["id", "issue_number", "query"]);
    expect(stdout).not.toContain("Roof.java");
    const withTruth = JSON.parse((await bench(folder, "export", "queries", "latest", "--with-truth")).stdout);
    expect(withTruth[2]).toMatchObject({ issue_number: 3, expected_classes_paths: [ROOF, WINDOW] });
    expect(withTruth[2].query).toContain("Case 3");
    expect(withTruth.map(({ query }: { query: string }) => query)).toEqual(rows.map(({ query }: { query: string }) => query));
  });

  test("queries of the original's file: its truth, its order, its skipping", async () => {
    const pull = (...files: string[]) => ({
      ...{ number: 9, title: "Fix", url: "https://example.org/p", repository: "acme/house", merged_at: "2025-01-15T00:00:00Z" },
      ...{ impacted_files: files, impacted_files_count: files.length },
    });
    const issue = (number: number, ...files: string[]) => ({
      ...{ number, title: `Case ${number}`, url: "https://example.org/i", description_message: "Text." },
      ...{ created_at: "2025-01-01T00:00:00Z", closed_at: "2025-02-01T00:00:00Z" },
      linked_merged_pull_requests: [pull(...files)],
    });
    const issues = [issue(1, "README.md"), issue(2, "b/B.java", "a/A.JAVA", "x.xml"), issue(3, "c/C.java")];
    const folder = elsewhere();
    write(folder, "mined.json", JSON.stringify({ project_name: "acme/house", github_url: "https://example.org", issues }));
    const rows = async (...argv: string[]) => {
      const said = await bench(folder, "export", "queries", "mined.json", "--with-truth", ...argv);
      return JSON.parse(said.stdout).map((row: Record<string, unknown>) => [row.issue_number, row.expected_classes_paths]);
    };
    expect(await rows()).toEqual([
      [2, ["a/A.JAVA", "b/B.java"]],
      [3, ["c/C.java"]],
    ]);
    expect(await rows("--issue-limit", "2")).toHaveLength(1);
    expect(await rows("--include-empty-java")).toHaveLength(3);
    const asked = await bench(folder, "export", "queries", "mined.json", "--extra-prompt", "Which classes?");
    expect(asked.stdout).toContain("Which classes?");
  });

  test("wrong usage says what would be right", async () => {
    const { folder } = await scoredProject();
    expect((await bench(folder, "export", "everything", "latest")).stderr).toMatch(/queries, answers, dataset, bundle/);
    expect((await bench(folder, "export", "queries", "gone")).stderr).toMatch(/no run "gone"/);
    expect((await bench(folder, "import", "gone.tgz")).stderr).toMatch(/no such file/);
  });
});
