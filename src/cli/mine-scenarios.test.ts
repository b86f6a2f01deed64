/** Situations that people met in public threads about mining, each as a small repository, decided end to end into the mined file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { GitHubServer } from "../../test/rigs/github-server.js";
import { commonToApis, MineRig, withoutTime } from "../../test/rigs/mine-rig.js";
import { closedEvent, named, sha, smallRecording, T } from "../../test/rigs/small-recording.js";
import type { Recording } from "../github/recording.js";
import type { OptionValue } from "./contract.js";

const rigs: MineRig[] = [];
afterAll(() => {
  for (const rig of rigs) rig.remove();
});

type Parts = Parameters<typeof smallRecording>[0];

const TOKEN = "ghp_thisMustNeverBeSeen1234567890";

interface MinedPull {
  repository: string;
  number: number;
  link: { grade: string; evidence: string[] };
  impacted_files: string[];
  files_truncated: boolean;
  base_commit: string | null;
}

/** Mines by one API: from the recording, or, with a `url`, from a server that holds queries against GitHub's published schema. */
async function mineBy(api: string, recording: Recording, options: Readonly<Record<string, OptionValue>>, url?: string) {
  const rig = new MineRig(url === undefined ? undefined : TOKEN);
  rigs.push(rig);
  writeFileSync(join(rig.folder, "recording.json"), JSON.stringify(recording));
  const source = url === undefined ? { recording: "recording.json" } : { "github-url": url };
  const { exit, repositories } = await rig.json(["O/R"], { ...source, "issue-limit": "0", api, ...options });
  expect([api, exit]).toEqual([api, 0]);
  const [result] = repositories;
  const mined = JSON.parse(withoutTime(rig.read(result?.file ?? "")));
  return { mined, dropped: (result?.dropped ?? []).map(({ rule }) => rule) };
}

/**
 * Kept pull requests by issue number, and the rules that dropped something: by REST. Every scenario is decided by GraphQL too, and must come to
 * the same but for grades.
 */
async function decide(parts: Parts, links = "closing", rule: readonly string[] = []) {
  const recording = smallRecording(parts);
  const options = { links, ...(rule.length === 0 ? {} : { rule }) };
  const { mined, dropped } = await mineBy("rest", recording, options);
  const server = await GitHubServer.start(recording, { token: TOKEN });
  try {
    const served = await mineBy("graphql", recording, options, server.url);
    expect(commonToApis(served.mined)).toEqual(commonToApis(mined));
    expect(server.mistakes).toEqual([]);
    expect((await mineBy("graphql", recording, options)).mined.issues).toEqual(served.mined.issues);
  } finally {
    await server.close();
  }
  const kept: Record<number, MinedPull[]> = {};
  for (const issue of mined.issues) kept[issue.number] = issue.linked_merged_pull_requests;
  return {
    kept,
    pulls: (issue: number) => (kept[issue] ?? []).map(({ repository, number, link }) => `${repository}#${number} ${link.grade}`),
    dropped,
    audit: mined.audit as { rule: string; removed: number; items: string[] }[],
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

describe("rules", () => {
  const outcome = async (pull: object, rule: readonly string[] = [], issue: object = {}) => {
    const { kept, audit } = await decide(linked("Fixes #1", pull, issue), "closing", rule);
    return [
      Object.keys(kept).length,
      audit.filter(({ rule: name }) => name !== "no-accepted-link").map((line) => [line.rule, line.items]),
    ];
  };
  const one = [["o/r#1 <- o/r#2"]];

  test.each([
    ["bots", "bot", { user: "dependabot[bot]", user_type: "Bot" }],
    ["releases", "release", { title: "Release 1.2.3" }],
    ["releases", "release", { title: "chore(deps): bump junit from 4.12 to 4.13.1" }],
    ["releases", "release", { title: "[maven-release-plugin] prepare release 2.0" }],
    ["time_window", "merged-before-issue", { merged_at: "2023-12-01T00:00:00Z" }],
    ["time_window", "merged-after-close", { merged_at: T(25) }],
  ])("%s: on it takes the link away (%s) and counts it, off it leaves it", async (rule, line, pull) => {
    expect(await outcome(pull)).toEqual([0, [[line, one[0]]]]);
    expect(await outcome(pull, [`${rule}=off`])).toEqual([1, []]);
  });

  test.each([
    ["not_planned", "not-planned", { state_reason: "not_planned" }],
    ["duplicates", "duplicate", { state_reason: "duplicate" }],
  ])("%s", async (rule, line, issue) => {
    expect(await outcome({}, [], issue)).toEqual([0, [[line, one[0]]]]);
    expect(await outcome({}, [`${rule}=off`], issue)).toEqual([1, []]);
  });

  test.each([
    ["default_branch_only", "other-branch", { base: { ref: "release-2", sha: sha(7) } }, {}],
    ["reverts", "revert", { title: 'Revert "something that broke it"' }, {}],
    ["transferred", "transferred", {}, { timeline: [{ event: "transferred", created_at: T(2) }, named(2), closedEvent()] }],
  ])("%s is off unless asked for", async (rule, line, pull, issue) => {
    expect(await outcome(pull, [], issue)).toEqual([1, []]);
    expect(await outcome(pull, [`${rule}=on`], issue)).toEqual([0, [[line, one[0]]]]);
  });

  test("same_repository: off, a fix elsewhere counts", async () => {
    const parts = {
      issues: [{ number: 1, timeline: [named(2, T(10), "other/place"), closedEvent()] }],
      foreign_pulls: [{ repository: "other/place", number: 2, body: "Fixes O/R#1" }],
    };
    expect((await decide(parts)).audit.map(({ rule }) => rule)).toContain("other-repository");
    expect((await decide(parts, "closing", ["same_repository=off"])).pulls(1)).toEqual(["other/place#2 keyword"]);
  });

  test("reverted: off, what was taken back counts", async () => {
    const parts = {
      issues: [{ number: 1, timeline: [named(2), closedEvent()] }],
      pulls: [
        { number: 2, body: "Fixes #1", timeline: [named(3, T(12))] },
        { number: 3, merged_at: T(12), title: 'Revert "change 2"', body: "Reverts O/R#2" },
      ],
    };
    expect((await decide(parts)).kept).toEqual({});
    expect((await decide(parts, "closing", ["reverted=off"])).pulls(1)).toEqual(["o/r#2 keyword"]);
  });

  test("backports: dropped beside the fix, kept where they are all that is linked", async () => {
    const backport = {
      number: 3,
      title: "[Backport 2.x] change 2",
      body: "Fixes #1",
      merged_at: T(11),
      base: { ref: "2.x", sha: sha(7) },
    };
    const both = {
      issues: [{ number: 1, timeline: [named(2), named(3, T(11)), closedEvent()] }],
      pulls: [{ number: 2, body: "Fixes #1" }, backport],
    };
    const decided = await decide(both);
    expect(decided.pulls(1)).toEqual(["o/r#2 keyword"]);
    expect(decided.audit).toContainEqual(expect.objectContaining({ rule: "backport", items: ["o/r#1 <- o/r#3"] }));
    expect((await decide(both, "closing", ["backports=off"])).pulls(1)).toEqual(["o/r#2 keyword", "o/r#3 keyword"]);
    const alone = await decide({ issues: [{ number: 1, timeline: [named(3, T(11)), closedEvent()] }], pulls: [backport] });
    expect(alone.pulls(1)).toEqual(["o/r#3 keyword"]);
    expect(alone.kept[1]?.[0]?.link.evidence.join()).toContain("not linked");
  });

  test("leave the rule mentions alone; what is not as by default is noted", async () => {
    const parts = linked("Fixes #1", { user: "renovate[bot]", user_type: "Bot", title: "Release 1.0.0" });
    expect((await decide(parts, "mentions")).pulls(1)).toEqual(["o/r#2 keyword"]);
    expect((await decide(parts, "closing", ["bots=off", "releases=off"])).notes).toContain(
      "link rules other than the default: bots=off, releases=off",
    );
  });
});
