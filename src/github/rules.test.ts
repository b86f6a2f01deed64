/** What titles and texts say of a pull request's kind, and how rules are typed. */
import { describe, expect, test } from "vitest";
import { changedRules, DEFAULT_RULES, isBackport, isOn, isRelease, isRevert, parseRule, rulesOf } from "./rules.js";

test.each([
  "Release 1.2.3",
  "Release v2.0.0-rc.1",
  "v1.4.0",
  "1.4.0",
  "chore(release): 3.1.0",
  "chore: release 3.1.0",
  "chore(deps): bump junit from 4.12 to 4.13.1",
  "Bump org.json:json from 20230227 to 20231013",
  "Bump version to 2.1.0",
  "Bump version",
  "Prepare release 2.1",
  "Version Packages",
  "chore: release main",
  "Prepare for next development iteration",
  "[maven-release-plugin] prepare release x-1.0",
])("%s is a release or a version bump", (title) => {
  expect(isRelease(title)).toBe(true);
});

test.each([
  "Fix release script",
  "Release the lock when the reader fails",
  "Update parser to accept numbers from 1.5 up",
  "Versioned caches",
  "Bump the limit of open files",
  "Bump error message",
  "Prepare for release of resources",
  "",
  null,
])("%s is none", (title) => {
  expect(isRelease(title)).toBe(false);
});

describe("backports", () => {
  const says = (title: string, body: string | null = null, head_ref: string | null = null) =>
    isBackport({ title, body }, { head_ref });

  test.each([
    ["[Backport 2.x] Fix it", null, null],
    ["Backport: fix it", null, null],
    ["Fix it (backport #12)", null, null],
    ["[3.1] Fix it [backport]", null, null],
    ["Cherry-pick fix to 2.x", null, null],
    ["Fix it", "Backport of #12.", null],
    ["Fix it", "This is an automated backport of o/r#12", null],
    ["Fix it", "# Why\n\nManual cherry-pick of pull request #9", null],
    ["Fix it", null, "backport-12-to-2.x"],
    ["Fix it", null, "backport/2.x/12"],
  ])("%s / %s / %s is one", (title, body, head) => {
    expect(says(title, body, head)).toBe(true);
  });

  test.each([
    ["Fix the backport script", null, null],
    ["Fix it", "This needs a backport to 2.x", null],
    ["Fix it", "```\nbackport of #12\n```", null],
    ["Fix it", null, "feature/backports"],
  ])("%s / %s / %s is none", (title, body, head) => {
    expect(says(title, body, head)).toBe(false);
  });
});

test("a revert takes back; a revert of a revert does not", () => {
  expect(isRevert('Revert "x"')).toBe(true);
  expect(isRevert('Revert "Revert "x""')).toBe(false);
  expect(isRevert("Revert to the old parser")).toBe(false);
});

test("rules are typed by name, on or off, and only what differs is told", () => {
  expect(parseRule("bots=off")).toEqual({ ok: true, value: { bots: false } });
  expect(parseRule(" Default-Branch-Only = ON ")).toEqual({ ok: true, value: { default_branch_only: true } });
  for (const wrong of ["bots", "bots=", "robots=off", "__proto__=on", "constructor=on"]) expect(parseRule(wrong).ok).toBe(false);
  expect(changedRules(DEFAULT_RULES)).toEqual([]);
  expect(changedRules(rulesOf({ bots: "off", reverted: "on", transferred: true }))).toEqual(["bots=off", "transferred=on"]);
  expect(isOn(rulesOf({ time_window: false }), "merged-after-close")).toBe(false);
  // What belongs to no rule always holds.
  expect(isOn(rulesOf({ time_window: false }), "not-merged")).toBe(true);
});
