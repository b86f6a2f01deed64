/** What texts say: prose, closing words, references, reverts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { closingReferences } from "./keywords.js";
import { proseOf } from "./prose.js";
import { referencePatterns, referencesIn } from "./references.js";
import { saysItReverts } from "./reverts.js";

const closing = (text: string) =>
  closingReferences(text, "o/r", "github.com").map(({ repository, number }) => `${repository}#${number}`);

describe("closing words", () => {
  test.each([
    ["Closes #12", ["o/r#12"]],
    [
      "close #1, closed #2, fix #3 fixes #4 fixed #5 resolve #6 RESOLVES #7 resolved: #8",
      ["o/r#1", "o/r#2", "o/r#3", "o/r#4", "o/r#5", "o/r#6", "o/r#7", "o/r#8"],
    ],
    ["Fixes: Other/Repo#9", ["other/repo#9"]],
    ["fixes https://github.com/O/R/issues/12", ["o/r#12"]],
    ["closes gh-33", ["o/r#33"]],
    ["Fixes\n#12", ["o/r#12"]],
    ["fixes #1, #2", ["o/r#1"]],
    ["(fixes #12)", ["o/r#12"]],
    ["fix for #12", []],
    ["This fixes the bug in #12", []],
    ["hotfix #12", []],
    ["prefixes #12", []],
    ["fixes #12abc", []],
    ["fixes #0", []],
    ["fixing #12", []],
    ["fixes https://elsewhere.example/O/R/issues/12", []],
    ["see #12", []],
    ["закрывает#12 fixes#12", []],
  ])("%j", (text, expected) => {
    expect(closing(text)).toEqual(expected);
  });

  test("stay cheap on hostile text", () => {
    const hostile = [
      `${"fixes ".repeat(100_000)}`,
      `fixes ${"a/".repeat(200_000)}`,
      `fixes ${" ".repeat(400_000)}#1`,
      `fixes ${"a".repeat(400_000)}#1`,
    ];
    for (const text of hostile) expect(closing(text)).toEqual([]);
  });
});

describe("prose", () => {
  const words = (text: string) => closing(proseOf(text));

  test.each([
    ["```\nfixes #1\n```\nfixes #2", ["o/r#2"]],
    ["~~~ts\nfixes #1\n```\n~~~\nfixes #2", ["o/r#2"]],
    ["````\n```\nfixes #1\n```\n````\nfixes #2", ["o/r#2"]],
    ["```\nfixes #1 (never closed)", []],
    ["use `fixes #1` or ``fixes #3 ` x`` and fixes #2", ["o/r#2"]],
    ["a ` alone, fixes #2", ["o/r#2"]],
    ["<!-- fixes #1 -->fixes #2", ["o/r#2"]],
    ["<!--\nfixes #1\n```\n-->\nfixes #2", ["o/r#2"]],
    ["<!-- fixes #1", []],
    ["the mark `<!--` opens nothing: fixes #2", ["o/r#2"]],
    ["text\n\n    fixes #1\n\nfixes #2", ["o/r#2"]],
    ["- item\n\n    fixes #2", ["o/r#2"]],
    ["> fixes #2", ["o/r#2"]],
    ["text\r\n```\r\nfixes #1\r\n```\r\nfixes #2", ["o/r#2"]],
    ["- ```\n  fixes #1\n  ```\n- fixes #2", ["o/r#2"]],
    ["inline ```fixes #1``` fixes #2", ["o/r#2"]],
  ])("%j", (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test("never gains a closing reference and keeps plain words", () => {
    const word = fc.constantFrom("fixes #1", "`", "```", "\n", "\n\n", "<!--", "-->", "    ", "- ", "> ", "text", "~~~");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), (parts) => {
        const text = parts.join(" ");
        expect(closing(proseOf(text)).length).toBeLessThanOrEqual(closing(text).length);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z .,]{0,40}$/), (text) => {
        expect(proseOf(text)).toBe(text);
      }),
    );
  });

  test("stays cheap on hostile text", () => {
    const runs = Array.from({ length: 600 }, (_, i) => "`".repeat(i + 1)).join("x");
    for (const text of [runs, "<!--".repeat(100_000), "`<!--".repeat(100_000), "\t".repeat(300_000), "```\n".repeat(100_001)])
      proseOf(text);
    expect(proseOf("a".repeat(1_000_000))).toHaveLength(1_000_000);
  });
});

describe("references of the mentions rule", () => {
  const patterns = referencePatterns("github.com", "https://api.github.com");
  const found = (value: unknown) =>
    referencesIn(value, "o/r", patterns).map(({ repository, number, how }) => `${repository}#${number} ${how}`);

  test.each([
    ["https://github.com/A/B/pull/5/files#diff", ["a/b#5 web-url"]],
    ["HTTP://GITHUB.COM/A/B/PULL/5", ["a/b#5 web-url"]],
    ["https://api.github.com/repos/A/B/pulls/5", ["a/b#5 api-url"]],
    ["see A/B#5", ["a/b#5 shorthand"]],
    ["https://www.github.com/A/B/pull/5", []],
    ["#12 GH-12 PR 12 A/B/pull/12 https://github.com/A/B/issues/12", []],
  ])("%j", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test("are looked for in every string and every object with a pull request, however deep", () => {
    const event = {
      event: "cross-referenced",
      source: {
        issue: {
          number: 7,
          repository_url: "https://api.github.com/repos/X/Y",
          pull_request: { url: "u" },
          body: "same as a/b#8",
        },
      },
    };
    expect(found([event])).toEqual(["x/y#7 object", "a/b#8 shorthand"]);
    expect(found({ number: 3, pull_request: {} })).toEqual(["o/r#3 object"]);
    expect(found({ number: 3, pull_request: null })).toEqual([]);
    let deep: unknown = "a/b#1";
    for (let i = 0; i < 50_000; i++) deep = [deep];
    expect(found(deep)).toEqual(["a/b#1 shorthand"]);
  });

  test("stay cheap on hostile text", () => {
    for (const text of ["a".repeat(500_000), "a/".repeat(250_000), "a/b#".repeat(100_000), "https://github.com/".repeat(50_000)])
      expect(found(text)).toEqual([]);
  });

  test("of another server are those of that server", () => {
    const theirs = referencePatterns("code.example.org", "https://code.example.org/api/v3");
    const text =
      "https://code.example.org/a/b/pull/1 https://code.example.org/api/v3/repos/a/b/pulls/2 https://github.com/a/b/pull/3";
    expect(referencesIn(text, "o/r", theirs).map(({ number }) => number)).toEqual([1, 2]);
  });
});

describe("saysItReverts", () => {
  const pull = {
    repository: "o/r",
    number: 7,
    title: "Fix the cursor",
    url: null,
    created_at: null,
    merged_at: "2024-01-01T00:00:00Z",
  };
  test.each([
    ['Revert "Fix the cursor"', null, true],
    ['revert "fix the cursor" (#8)', null, true],
    ["Undo", "Reverts o/r#7", true],
    ["Undo", "This reverts #7.", true],
    ["Undo", "reverts https://github.com/o/r/pull/7", true],
    ["Undo", "Reverts other/repo#7", false],
    ["Undo", "`Reverts #7`", false],
    ["Undo", "Reverts o/r#71", false],
    ['Revert "Revert "Fix the cursor""', "Reverts o/r#8", false],
    ["Related", "see #7", false],
  ])("%j %j", (title, body, expected) => {
    expect(saysItReverts({ repository: "o/r", title, body }, pull, "github.com")).toBe(expected);
  });
});
