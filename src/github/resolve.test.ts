/** Decisions about links, on small recordings asked through the real client. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { driveStage } from "../../test/rigs/drive-stage.js";
import { closedEvent, named, sha, smallRecording, T } from "../../test/rigs/small-recording.js";
import { stageToolsRig } from "../../test/rigs/stage-tools.js";
import { fetchIssues } from "../stages/fetch-issues.js";
import { resolveTimelinePrs } from "../stages/resolve-timeline-prs.js";
import type { LinkRule, LinksItem } from "./schema.js";
import { selectLinks } from "./select.js";

type Parts = Parameters<typeof smallRecording>[0];

async function resolved(parts: Parts, rule: LinkRule = "closing") {
  const recording = join(mkdtempSync(join(tmpdir(), "bench-resolve-")), "recording.json");
  writeFileSync(recording, JSON.stringify(smallRecording(parts)));
  const tools = stageToolsRig();
  const issues = await driveStage(fetchIssues, { repo: "O/R", recording, limit: 0 }, tools);
  const listing = tools.counts.requests ?? 0;
  const links = await driveStage(resolveTimelinePrs, { recording, links: rule }, tools, issues.output);
  for (const outcome of links.outcomes.values()) if (outcome.type !== "done") throw new Error(outcome.message);
  const items = links.items.map(({ value }) => value as LinksItem);
  return { items, requests: (tools.counts.requests ?? 0) - listing };
}

/** The item of issue 12 and what `rule` takes of it. */
async function twelve(parts: Parts, rule: LinkRule = "closing") {
  const { items, requests } = await resolved(parts, rule);
  const item = items.find(({ issue }) => issue.number === 12);
  if (item === undefined) throw new Error("issue 12 was not listed");
  const selected = selectLinks(item, { closed_at: T(20) }, rule);
  return {
    item,
    requests,
    kept: selected.links.map(({ pull, selected_as }) => `${pull} ${selected_as}`),
    rules: selected.dropped.map(({ rule: name }) => name),
  };
}

const issue = (more: Record<string, unknown> = {}) => ({ number: 12, timeline: [named(34), closedEvent()], ...more });

describe("keyword", () => {
  test("in the pull request's prose closes, with the words as evidence", async () => {
    const { item, kept } = await twelve({ issues: [issue()], pulls: [{ number: 34, body: "This is it.\n\nCloses #12" }] });
    expect(kept).toEqual(["o/r#34 keyword"]);
    expect(item.links[0]?.evidence).toContain('the pull request\'s text says "Closes #12"');
    expect(item.links[0]).toMatchObject({
      base_ref: "main",
      base_sha: sha(34),
      merge_commit_sha: sha(1034),
      in_window: true,
      changed_files: 1,
    });
  });

  test.each([
    ["in a code block", "```\nfixes #12\n```"],
    ["in inline code", "use `fixes #12`"],
    ["in a template's comment", "<!-- fixes #12 -->"],
    ["not a closing reference", "fix for #12"],
    ["of another issue", "fixes #120, see #12"],
    ["of another repository", "fixes other/repo#12"],
  ])("%s is a mention", async (_, body) => {
    const { item, kept, rules } = await twelve({ issues: [issue()], pulls: [{ number: 34, body }] });
    expect(kept).toEqual([]);
    expect(item.links[0]?.grade).toBe("mention");
    expect(rules).toEqual(["grade-not-selected"]);
  });

  test("in a commit message is read raw", async () => {
    const timeline = [named(34), { event: "referenced", created_at: T(9), commit_id: sha(7) }, closedEvent()];
    const { kept, item } = await twelve({
      issues: [issue({ timeline })],
      pulls: [{ number: 34, body: "see #12", commits: [{ sha: sha(7), message: "`fixes #12`" }] }],
    });
    expect(kept).toEqual(["o/r#34 keyword"]);
    expect(item.links[0]?.evidence.join()).toContain("commit 0000000000 of the pull request says");
  });

  test("in a commit of a pull request that never names the issue itself", async () => {
    const timeline = [{ event: "referenced", created_at: T(9), commit_id: sha(7) }, closedEvent()];
    const { kept } = await twelve({
      issues: [issue({ timeline })],
      pulls: [{ number: 34, commits: [{ sha: sha(7), message: "Fix the cursor\n\nResolves #12" }] }],
    });
    expect(kept).toEqual(["o/r#34 keyword"]);
  });

  test("a commit of a fork is not looked at", async () => {
    const timeline = [{ event: "referenced", created_at: T(9), commit_id: sha(7), commit_repository: "fork/r" }, closedEvent()];
    const { kept, requests } = await twelve({
      issues: [issue({ timeline })],
      pulls: [{ number: 34, commits: [{ sha: sha(7), message: "fixes #12" }] }],
    });
    expect(kept).toEqual([]);
    expect(requests).toBe(1);
  });
});

describe("close event", () => {
  test("names the merge commit of a pull request that nothing else names", async () => {
    const { kept, item } = await twelve({
      issues: [issue({ timeline: [closedEvent(T(20), { commit_id: sha(1034) })] })],
      pulls: [{ number: 34 }],
    });
    expect(kept).toEqual(["o/r#34 commit"]);
    expect(item.last_close).toEqual({ at: T(20), commit: sha(1034) });
  });

  test("names one of its commits", async () => {
    const timeline = [named(34), closedEvent(T(20), { commit_id: sha(7) })];
    const { kept } = await twelve({
      issues: [issue({ timeline })],
      pulls: [{ number: 34, commits: [{ sha: sha(7), message: "x" }] }],
    });
    expect(kept).toEqual(["o/r#34 commit"]);
  });

  test("names a commit that belongs to nobody", async () => {
    const { kept } = await twelve({
      issues: [issue({ timeline: [named(34), closedEvent(T(20), { commit_id: sha(99) })] })],
      pulls: [{ number: 34 }],
    });
    expect(kept).toEqual([]);
  });

  test.each([
    [1, true, ["o/r#34 commit"]],
    [2, true, []],
    [1, false, []],
  ])("%d s after the close, commit named: %s", async (late, namesCommit, expected) => {
    const merged_at = new Date(Date.parse(T(20)) + late * 1000).toISOString();
    const timeline = [named(34), closedEvent(T(20), namesCommit ? { commit_id: sha(1034) } : {})];
    const { kept } = await twelve({
      issues: [issue({ timeline })],
      pulls: [{ number: 34, merged_at, body: namesCommit ? null : "fixes #12" }],
    });
    expect(kept).toEqual(expected);
  });
});

describe("what speaks against a closing link", () => {
  const fixes = { number: 34, body: "fixes #12" };

  test("merged before the issue was opened", async () => {
    const { kept, rules } = await twelve({ issues: [issue({ created_at: T(15) })], pulls: [fixes] });
    expect([kept, rules]).toEqual([[], ["merged-before-issue"]]);
  });
  test("merged after the close; reopened and closed again, the last close counts", async () => {
    const late = { ...fixes, merged_at: T(25) };
    expect((await twelve({ issues: [issue()], pulls: [late] })).rules).toEqual(["merged-after-close"]);
    const timeline = [closedEvent(T(5)), { event: "reopened", created_at: T(6) }, named(34), closedEvent(T(28))];
    const { item, kept } = await twelve({ issues: [issue({ timeline, closed_at: T(28) })], pulls: [late] });
    expect(kept).toEqual(["o/r#34 keyword"]);
    expect(item.last_close.at).toBe(T(28));
  });
  test.each(["not_planned", "duplicate"])("closed as %s", async (state_reason) => {
    const { kept, rules } = await twelve({ issues: [issue({ state_reason })], pulls: [fixes] });
    expect([kept, rules]).toEqual([[], [state_reason.replace("_", "-")]]);
  });
  test("never merged", async () => {
    const { kept, rules, requests } = await twelve({ issues: [issue()], pulls: [{ ...fixes, merged_at: null }] });
    expect([kept, rules]).toEqual([[], ["not-merged"]]);
    expect(requests).toBe(1);
  });
  test("another repository, where the same number means another issue", async () => {
    const foreign = { ...fixes, repository: "Other/R", body: "fixes #12" };
    const { item, kept, requests } = await twelve({
      issues: [issue({ timeline: [named(34, T(10), "Other/R"), closedEvent()] })],
      foreign_pulls: [foreign],
    });
    expect(kept).toEqual([]);
    expect(item.links[0]).toMatchObject({ pull: "other/r#34", grade: "mention" });
    expect(requests).toBe(1);
    const full = { ...foreign, body: "fixes O/R#12" };
    const other = await twelve({
      issues: [issue({ timeline: [named(34, T(10), "Other/R"), closedEvent()] })],
      foreign_pulls: [full],
    });
    expect(other.item.links[0]?.grade).toBe("keyword");
    expect(other.rules).toEqual(["other-repository"]);
  });
  test("a merge into another branch is kept and noted", async () => {
    const { item, kept } = await twelve({ issues: [issue()], pulls: [{ ...fixes, base: { ref: "release/1.x", sha: sha(1) } }] });
    expect(kept).toEqual(["o/r#34 keyword"]);
    expect(item.links[0]?.evidence.join()).toContain('merged into "release/1.x", not into the default branch "main"');
  });
});

describe("reverts", () => {
  const fix = { number: 34, title: "Fix it", body: "fixes #12", timeline: [named(35, T(12))] };
  const revert = { number: 35, title: 'Revert "Fix it"', body: "Reverts O/R#34", merged_at: T(12), timeline: [named(36, T(14))] };

  test("a reverted change is not counted", async () => {
    const { kept, rules, item } = await twelve({ issues: [issue()], pulls: [fix, { ...revert, timeline: [] }] });
    expect([kept, rules]).toEqual([[], ["reverted"]]);
    expect(item.links[0]?.objections[0]?.what).toContain("o/r#35");
  });
  test("a revert that was not merged changes nothing", async () => {
    expect((await twelve({ issues: [issue()], pulls: [fix, { ...revert, merged_at: null, timeline: [] }] })).kept).toEqual([
      "o/r#34 keyword",
    ]);
  });
  test("a revert of the revert restores it, and a third takes it back again", async () => {
    const restore = {
      number: 36,
      title: 'Revert "Revert "Fix it""',
      body: "Reverts O/R#35",
      merged_at: T(14),
      timeline: [named(37, T(16))],
    };
    expect((await twelve({ issues: [issue()], pulls: [fix, revert, { ...restore, timeline: [] }] })).kept).toEqual([
      "o/r#34 keyword",
    ]);
    const again = { number: 37, title: "Undo", body: "Reverts #36", merged_at: T(16) };
    expect((await twelve({ issues: [issue()], pulls: [fix, revert, restore, again] })).rules).toEqual(["reverted"]);
  });
  test("circles of reverts end", async () => {
    const circle = { ...revert, timeline: [named(34, T(13))] };
    expect(
      (
        await twelve({
          issues: [issue()],
          pulls: [{ ...fix, title: 'Revert "Revert "Fix it""', body: "fixes #12, reverts #35" }, circle],
        })
      ).item.links,
    ).toHaveLength(1);
  });
});

describe("by hand and by others", () => {
  test("connected and not disconnected, where the server says which", async () => {
    const source = { repository: "O/R", number: 34 };
    const connected = { event: "connected", created_at: T(5), source };
    const timeline = [connected, closedEvent()];
    expect((await twelve({ issues: [issue({ timeline })], pulls: [{ number: 34 }] }, ["manual"])).kept).toEqual([
      "o/r#34 manual",
    ]);
    const gone = [connected, { event: "disconnected", created_at: T(6), source }, closedEvent()];
    expect((await twelve({ issues: [issue({ timeline: gone })], pulls: [{ number: 34 }] }, ["manual"])).kept).toEqual([]);
  });
  test("a connection without a name is noted", async () => {
    const { item } = await twelve({ issues: [issue({ timeline: [{ event: "connected", created_at: T(5) }, closedEvent()] })] });
    expect(item.notes.join()).toContain("does not say which");
  });
  test("a transfer is noted", async () => {
    const { item } = await twelve({ issues: [issue({ timeline: [{ event: "transferred", created_at: T(5) }, closedEvent()] })] });
    expect(item.notes.join()).toContain("transferred");
  });
  test("curated links are taken only where asked for, and only if merged", async () => {
    const parts = {
      issues: [issue({ timeline: [closedEvent()] })],
      pulls: [
        { number: 34, merged_at: T(25) },
        { number: 35, merged_at: null },
      ],
      curated_links: [34, 35, 99].map((n) => ({ issue: 12, pull: `O/R#${n}`, why: "same topic" })),
    };
    expect((await twelve(parts)).kept).toEqual([]);
    const { kept, item } = await twelve(parts, ["closing", "curated"]);
    expect(kept).toEqual(["o/r#34 curated"]);
    expect(item.links.map(({ pull, wanted }) => [pull, wanted])).toEqual([
      ["o/r#34", true],
      ["o/r#35", false],
    ]);
    expect(item.dropped).toMatchObject([{ rule: "not-a-pull-request", item: "O/R#99" }]);
  });
});

describe("mentions, the original's rule", () => {
  test("takes every merged pull request that any text names, also foreign and late ones, once one was merged in time", async () => {
    const parts = {
      issues: [
        issue({
          body: "like https://github.com/Other/R/pull/5/files",
          comments: [{ user: "u", created_at: T(3), body: "O/R#36 and O/R#13 and gone/gone#1" }],
        }),
        { number: 13 },
      ],
      pulls: [{ number: 34 }, { number: 36, merged_at: T(25) }, { number: 37 }],
      foreign_pulls: [{ number: 5, repository: "Other/R", merged_at: T(4) }],
    };
    const { kept, item, requests } = await twelve(parts, "mentions");
    expect(kept).toEqual(["other/r#5 mention", "o/r#34 mention", "o/r#36 mention"]);
    expect(item.dropped.map(({ item: what }) => what)).toEqual(["o/r#13", "gone/gone#1"]);
    expect(item.links.every(({ wanted }) => wanted)).toBe(true);
    expect(item.links.every(({ base_sha }) => base_sha === null)).toBe(true);
    // Two timelines, and the two foreign numbers: what the issue list told is not asked for.
    expect(requests).toBe(4);
  });

  test("drops the issue where all were merged after the close", async () => {
    const { kept, rules, item } = await twelve({ issues: [issue()], pulls: [{ number: 34, merged_at: T(25) }] }, "mentions");
    expect([kept, rules]).toEqual([[], ["merged-after-close"]]);
    expect(item.links[0]?.wanted).toBe(false);
  });

  test("a list with mention decides about closing too", async () => {
    const { kept } = await twelve(
      { issues: [issue({ body: "o/r#35" })], pulls: [{ number: 34 }, { number: 35, body: "fixes #12" }] },
      ["closing", "mention"],
    );
    expect(kept.sort()).toEqual(["o/r#34 mention", "o/r#35 keyword"]);
  });
});

test("timelines of more than a hundred events are read to the end, with one request a hundred", async () => {
  const comments = Array.from({ length: 250 }, (_, i) => ({ user: "u", created_at: T(2), body: `comment ${i}` }));
  const { kept, requests } = await twelve({ issues: [issue({ comments })], pulls: [{ number: 34, body: "fixes #12" }] });
  expect(kept).toEqual(["o/r#34 keyword"]);
  // Three pages, the pull request, and its own timeline for reverts.
  expect(requests).toBe(5);
});

test("hostile events decide nothing and break nothing", async () => {
  const { readTimeline } = await import("./timeline.js");
  const events = [
    null,
    1,
    "x",
    [],
    {},
    { event: 5 },
    { event: "closed", created_at: "yesterday", commit_id: "zz" },
    { event: "cross-referenced", source: { issue: { number: -1, pull_request: {} } } },
    JSON.parse(
      '{"event":"cross-referenced","__proto__":{"source":1},"source":{"issue":{"number":1e99,"pull_request":{"merged_at":7}}}}',
    ),
  ];
  const facts = readTimeline(events, "o/r");
  expect(facts.pulls).toEqual([]);
  expect(facts.closes).toEqual([{ at: null, commit: null, reason: null }]);
});
