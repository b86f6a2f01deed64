/** Situations that people met in public threads about mining, each as a small repository, decided end to end into the mined file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { MineRig } from "../../test/rigs/mine-rig.js";
import { closedEvent, named, sha, smallRecording, T } from "../../test/rigs/small-recording.js";

const rigs: MineRig[] = [];
afterAll(() => {
  for (const rig of rigs) rig.remove();
});

type Parts = Parameters<typeof smallRecording>[0];

interface MinedPull {
  repository: string;
  number: number;
  link: { grade: string; evidence: string[] };
  impacted_files: string[];
  files_truncated: boolean;
  base_commit: string | null;
}

/** Kept pull requests by issue number, and the rules that dropped something. */
async function decide(parts: Parts, links = "closing") {
  const rig = new MineRig();
  rigs.push(rig);
  writeFileSync(join(rig.folder, "recording.json"), JSON.stringify(smallRecording(parts)));
  const { exit, repositories } = await rig.json(["O/R"], { recording: "recording.json", "issue-limit": "0", links });
  expect(exit).toBe(0);
  const [result] = repositories;
  const mined = JSON.parse(rig.read(result?.file ?? ""));
  const kept: Record<number, MinedPull[]> = {};
  for (const issue of mined.issues) kept[issue.number] = issue.linked_merged_pull_requests;
  return {
    kept,
    pulls: (issue: number) => (kept[issue] ?? []).map(({ repository, number, link }) => `${repository}#${number} ${link.grade}`),
    dropped: (result?.dropped ?? []).map(({ rule }) => rule),
    notes: mined.notes as string[],
  };
}

/** Issue 1, and pull request 2 with this text that cross-references it. */
const linked = (body: string, pull: object = {}, issue: object = {}, more: object[] = []): Parts => ({
  issues: [{ number: 1, timeline: [named(2), closedEvent()], ...issue }, ...(more as Record<string, unknown>[])],
  pulls: [{ number: 2, body, ...pull }],
});

describe("closing words", () => {
  test.each([
    ["in a fenced block", "Use it so:\n\n```\ngit commit -m 'fixes #1'\n```\n"],
    ["in an indented block", "Use it so:\n\n    fixes #1\n"],
    ["in inline code", "Write `fixes #1` in your commit."],
    ["in a template's comment", "<!-- Fixes #1 -->\nNo issue."],
  ])("%s say nothing", async (_, body) => {
    const { kept, dropped } = await decide(linked(body));
    expect(kept).toEqual({});
    expect(dropped).toContain("grade-not-selected");
  });

  test.each(["fix for #1", "fix to #1", "see #1", "prefixes #1", "#1 is fixed", "fixes issue 1", "fixes #11"])(
    "%s is none",
    async (body) => {
      expect((await decide(linked(body))).kept).toEqual({});
    },
  );

  test.each(["Fixes #1", "closes: #1", "RESOLVED o/r#1.", "fix https://github.com/O/R/issues/1", "Fixes #1, closes #7"])(
    "%s is one",
    async (body) => {
      expect((await decide(linked(body))).pulls(1)).toEqual(["o/r#2 keyword"]);
    },
  );
});

test("numbers that collide between repositories: another repository's #1 is not ours", async () => {
  const foreign = { repository: "other/place", number: 2, body: "Fixes #1", files: [{ filename: "their/File.java" }] };
  const parts = {
    issues: [{ number: 1, timeline: [named(2, T(10), "other/place"), closedEvent()] }],
    pulls: [{ number: 2, body: "Fixes other/place#1" }],
    foreign_pulls: [foreign],
  };
  expect((await decide(parts)).kept).toEqual({});
  const mentions = await decide(parts, "mentions");
  expect(mentions.pulls(1)).toEqual(["other/place#2 mention"]);
  const explicit = await decide({ ...parts, foreign_pulls: [{ ...foreign, body: "Fixes O/R#1" }] });
  expect(explicit.kept).toEqual({});
  expect(explicit.dropped).toContain("other-repository");
});

test("a pull request to another branch counts, and its evidence says so", async () => {
  const { kept } = await decide(linked("Fixes #1", { base: { ref: "release-2", sha: sha(7) } }));
  expect(kept[1]?.[0]?.link.evidence.join()).toMatch(/merged into "release-2", not into the default branch "main"/);
  expect(kept[1]?.[0]?.base_commit).toBe(sha(7));
});

test("reopened and closed again: the last close decides, and both fixes count", async () => {
  const { pulls } = await decide({
    issues: [
      {
        number: 1,
        closed_at: T(20),
        timeline: [named(2), closedEvent(T(10)), { event: "reopened", created_at: T(12) }, named(3, T(15)), closedEvent(T(20))],
      },
    ],
    pulls: [
      { number: 2, body: "Fixes #1", merged_at: T(10) },
      { number: 3, body: "Fixes #1", merged_at: T(19) },
    ],
  });
  expect(pulls(1)).toEqual(["o/r#2 keyword", "o/r#3 keyword"]);
});

test("transferred in: noted, and its links are judged like any other's", async () => {
  const { pulls, notes } = await decide(
    linked("Fixes #1", {}, { timeline: [{ event: "transferred", created_at: T(2) }, named(2), closedEvent()] }),
  );
  expect(pulls(1)).toEqual(["o/r#2 keyword"]);
  expect(notes.join()).toContain("transferred");
});

test.each([
  ["not_planned", "not-planned"],
  ["duplicate", "duplicate"],
])("closed as %s: a closing word is no fix", async (reason, rule) => {
  const { kept, dropped } = await decide(linked("Fixes #1", {}, { state_reason: reason }));
  expect(kept).toEqual({});
  expect(dropped).toContain(rule);
});

describe("reverted", () => {
  const revert = (number: number, of: number, at: string) => ({
    number,
    merged_at: at,
    title: `Revert "change ${of}"`,
    body: `Reverts O/R#${of}`,
  });

  test("a change that was taken back is no fix; the one that came after it is", async () => {
    const { pulls, dropped } = await decide({
      issues: [{ number: 1, timeline: [named(2), named(4, T(14)), closedEvent()] }],
      pulls: [
        { number: 2, body: "Fixes #1", timeline: [named(3, T(12))] },
        revert(3, 2, T(12)),
        { number: 4, body: "Fixes #1 again", merged_at: T(15) },
      ],
    });
    expect(pulls(1)).toEqual(["o/r#4 keyword"]);
    expect(dropped).toContain("reverted");
  });

  test("a revert of the revert restores it", async () => {
    const { pulls } = await decide({
      issues: [{ number: 1, timeline: [named(2), closedEvent()] }],
      pulls: [
        { number: 2, body: "Fixes #1", timeline: [named(3, T(12))] },
        { ...revert(3, 2, T(12)), timeline: [named(4, T(13))] },
        { number: 4, merged_at: T(13), title: 'Revert "Revert "change 2""', body: "Reverts O/R#3" },
      ],
    });
    expect(pulls(1)).toEqual(["o/r#2 keyword"]);
  });
});

test("more than 3,000 files: what GitHub lists is kept, marked and noted", async () => {
  const files = Array.from({ length: 3100 }, (_, i) => ({ filename: `src/F${i}.java` }));
  const { kept, notes } = await decide(linked("Fixes #1", { files }));
  expect(kept[1]?.[0]).toMatchObject({ files_truncated: true, impacted_files: expect.objectContaining({ length: 3000 }) });
  expect(notes.join()).toMatch(/file lists of 1 pull requests are cut: o\/r#2/);
});

test("more than a hundred events: the link behind them is found", async () => {
  const noise = Array.from({ length: 250 }, () => ({ event: "labeled", created_at: T(3) }));
  const { pulls } = await decide(linked("Fixes #1", {}, { timeline: [...noise, named(2), closedEvent()] }));
  expect(pulls(1)).toEqual(["o/r#2 keyword"]);
});

test("closed by a commit that no text speaks of: the commit's pull request is the link", async () => {
  const { pulls } = await decide({
    issues: [{ number: 1, timeline: [closedEvent(T(20), { commit_id: sha(1002) })] }],
    pulls: [{ number: 2, merged_at: T(20) }],
  });
  expect(pulls(1)).toEqual(["o/r#2 commit"]);
});

test("merged before the issue was opened, after it was closed, or never: no fix", async () => {
  for (const [pull, rule] of [
    [{ merged_at: "2023-12-01T00:00:00Z" }, "merged-before-issue"],
    [{ merged_at: T(21) }, "merged-after-close"],
    [{ merged_at: null }, "not-merged"],
  ] as const) {
    const { kept, dropped } = await decide(linked("Fixes #1", pull));
    expect(kept).toEqual({});
    expect(dropped).toContain(rule);
  }
});
