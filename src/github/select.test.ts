import { describe, expect, test } from "vitest";
import { LINK_GRADES, type LinkGrade } from "../dataset/schema.js";
import type { LinkCandidate, LinkRule } from "./schema.js";
import { linkRuleText, parseLinkRule, scopeCovers, scopeOf, selectLinks, widestRule } from "./select.js";

const link = (number: number, grades: LinkGrade[], more: Partial<LinkCandidate> = {}): LinkCandidate => ({
  pull: `o/r#${number}`,
  repository: "o/r",
  number,
  title: null,
  url: null,
  created_at: null,
  merged_at: "2024-01-10T00:00:00Z",
  base_ref: null,
  base_sha: null,
  merge_commit_sha: null,
  changed_files: null,
  grade: grades[0] ?? "mention",
  grades,
  evidence: [],
  in_window: true,
  objections: [],
  wanted: true,
  ...more,
});
const late = { objections: [{ rule: "merged-after-close" as const, what: "late" }] };
const CLOSED = { closed_at: "2024-01-20T00:00:00Z" };
const select = (links: LinkCandidate[], rule: LinkRule, closed = CLOSED) => {
  const { links: kept, dropped } = selectLinks({ id: "o/r#1", links }, closed, rule);
  return {
    kept: kept.map(({ number, selected_as }) => `${number} ${selected_as}`),
    dropped: dropped.map(({ rule: name, item }) => `${item} ${name}`),
  };
};

describe("by grade", () => {
  test("closing takes platform, keyword and commit; the best accepted grade counts", () => {
    const links = LINK_GRADES.map((grade, index) => link(index, [grade]));
    expect(select(links, "closing").kept).toEqual(["0 platform", "1 keyword", "2 commit"]);
    expect(select([link(1, ["keyword", "commit", "mention"])], ["commit"]).kept).toEqual(["1 commit"]);
  });

  test("an objection stops evidence of closing, and what people stated or merely named stays", () => {
    const links = [link(1, ["keyword", "mention"], late), link(2, ["keyword", "curated"], late), link(3, ["manual"], late)];
    expect(select(links, "closing")).toEqual({
      kept: [],
      dropped: ["o/r#1 merged-after-close", "o/r#2 merged-after-close", "o/r#3 grade-not-selected"],
    });
    expect(select(links, ["closing", "curated", "manual"])).toEqual({
      kept: ["2 curated"],
      dropped: ["o/r#1 merged-after-close", "o/r#3 merged-after-close"],
    });
    expect(select(links, ["mention"]).kept).toEqual(["1 mention"]);
  });

  test("nothing is taken that was never merged", () => {
    const unmerged = link(1, ["keyword", "curated", "mention"], {
      merged_at: null,
      objections: [{ rule: "not-merged", what: "" }],
    });
    for (const rule of ["closing", ["closing", "curated", "mention"]] as const)
      expect(select([unmerged], [...rule] as LinkRule).kept).toEqual([]);
  });

  test("every link is kept or has a line that says why not", () => {
    const links = [link(1, ["keyword"], late), link(2, ["mention"]), link(3, ["commit"])];
    const { kept, dropped } = select(links, "closing");
    expect(kept.length + dropped.length).toBe(links.length);
  });
});

describe("mentions", () => {
  test("all merged ones if one was merged by the close", () => {
    const links = [
      link(1, ["mention"]),
      link(2, ["mention"], { merged_at: "2024-02-01T00:00:00Z" }),
      link(3, ["mention"], { merged_at: null }),
    ];
    expect(select(links, "mentions")).toEqual({ kept: ["1 mention", "2 mention"], dropped: ["o/r#3 not-merged"] });
    expect(select(links.slice(1), "mentions")).toEqual({ kept: [], dropped: ["o/r#3 not-merged", "o/r#1 merged-after-close"] });
  });
  test("merged at the very instant of the close counts; without a close nothing does", () => {
    expect(select([link(1, ["mention"], { merged_at: CLOSED.closed_at })], "mentions").kept).toHaveLength(1);
    expect(selectLinks({ id: "o/r#1", links: [link(1, ["mention"])] }, { closed_at: null }, "mentions").links).toEqual([]);
  });
  test("what only a recording's makers state is not of this rule", () => {
    expect(select([link(1, ["curated"])], "mentions").kept).toEqual([]);
  });
});

test("scopes", () => {
  expect(scopeOf("closing")).toBe("closing");
  expect(scopeOf("mentions")).toBe("mentions");
  expect(scopeOf(["closing", "curated"])).toBe("closing");
  expect(scopeOf(["closing", "mention"])).toBe("both");
  expect(scopeCovers("closing", ["manual"])).toBe(true);
  expect(scopeCovers("closing", "mentions")).toBe(false);
  expect(scopeCovers("mentions", "closing")).toBe(false);
  for (const rule of ["closing", "mentions", ["mention"]] as LinkRule[]) expect(scopeCovers("both", rule)).toBe(true);
  expect(widestRule("closing")).not.toContain("mention");
  expect(widestRule("both")).toContain("mention");
  expect(linkRuleText(["closing", "curated"])).toBe("closing, curated");
});

test.each([
  ["closing", "closing"],
  ["Mentions", "mentions"],
  ["closing, curated", ["closing", "curated"]],
  ["keyword", ["keyword"]],
])("parseLinkRule %s", (text, rule) => {
  expect(parseLinkRule(text)).toEqual({ ok: true, value: rule });
});
test.each(["", "closed", "mentions,keyword", "keyword,,commit"])("parseLinkRule refuses %j and lists what there is", (text) => {
  const parsed = parseLinkRule(text);
  expect(!parsed.ok && parsed.error).toContain("curated");
});
