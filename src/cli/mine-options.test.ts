import { describe, expect, test } from "vitest";
import type { OptionValue } from "./contract.js";
import { command } from "./mine.js";
import { readMineOptions } from "./mine-options.js";
import { readArguments } from "./options.js";

const read = (options: Record<string, OptionValue>) => readMineOptions(options, "/work");
/** As typed behind `bench mine`. */
const typed = (...argv: string[]) => {
  const { args, options } = readArguments(command, argv);
  return { repos: args, ...readMineOptions(options, "/work") };
};

test("defaults are the original's, but for the links rule", () => {
  expect(read({})).toMatchObject({
    limit: 200,
    links: "closing",
    extensions: null,
    githubUrl: undefined,
    out: undefined,
    maxWait: 900_000,
    progressEvery: 25,
    refresh: false,
    offline: false,
  });
});

describe("--issue-limit", () => {
  test.each([
    [["o/r", "--issue-limit"], 200],
    [["o/r", "--issue-limit", ""], 200],
    [["o/r", "--issue-limit="], 200],
    [["o/r", "--issue-limit", "0"], 0],
    [["o/r", "--max-issues=12"], 12],
    [["--issue-limit", "7", "o/r"], 7],
    [["o/r", "--issue-limit", "7", "--max-issues", "7"], 7],
  ])("%j", (argv, limit) => {
    expect(typed(...argv)).toMatchObject({ repos: ["o/r"], limit });
  });

  test.each(["-5", "1.5", "all", "1e3", "0x10", "99999999999999999999"])("refuses %s", (value) => {
    expect(() => typed("o/r", "--issue-limit", value)).toThrow(/--issue-limit needs a whole number \(0 = all\)/);
  });

  test("says where a repository that it swallowed belongs", () => {
    expect(() => typed("--issue-limit", "o/r")).toThrow(/name repositories before it/);
  });

  test("two different ones are a mistake", () => {
    expect(() => read({ "issue-limit": "5", "max-issues": "6" })).toThrow(/mean the same thing/);
  });
});

test("links rules", () => {
  expect(read({ links: "mentions" }).links).toBe("mentions");
  expect(read({ links: "closing, manual" }).links).toEqual(["closing", "manual"]);
  expect(() => read({ links: "closes" })).toThrow(/--links/);
});

test("extensions", () => {
  expect(read({ extensions: ".java, .kt" }).extensions).toEqual([".java", ".kt"]);
  expect(() => read({ extensions: "," })).toThrow(/--extensions/);
});

test("roles", () => {
  expect(read({}).roles).toBeUndefined();
  expect(read({ roles: "all" }).roles).toBe("all");
  expect(read({ roles: "test, source" }).roles).toEqual(["source", "test"]);
  expect(() => read({ roles: "code" })).toThrow(/--roles needs all, or a list of source, .*not "code"/);
  expect(() => read({ roles: "," })).toThrow(/--roles/);
});

test("addresses", () => {
  expect(read({ "github-url": "https://ghe.example/api/v3/" }).githubUrl).toBe("https://ghe.example/api/v3");
  expect(read({ "github-url": "https://github.com" }).githubUrl).toBe("https://api.github.com");
  expect(() => read({ "github-url": "https://me:pass@ghe.example" })).toThrow(/^--github-url: (?!.*pass@)/);
});

test("the original's --output-dir is --out", () => {
  expect(read({ "output-dir": "data" }).out).toBe("/work/data");
  expect(read({ out: "data", "output-dir": "data" }).out).toBe("/work/data");
  expect(() => read({ out: "a", "output-dir": "b" })).toThrow(/mean the same thing/);
});

test("the API and the rules are checked", () => {
  expect(read({ api: "rest" })).toMatchObject({ api: "rest", rules: {} });
  expect(read({ api: "graphql" })).toMatchObject({ api: "graphql" });
  expect(() => read({ api: "soap" })).toThrow(/auto, rest or graphql/);
  expect(read({ rule: ["bots=off", "default-branch-only=on"] })).toMatchObject({
    rules: { bots: false, default_branch_only: true },
  });
  expect(() => read({ rule: ["bot=off"] })).toThrow(/is no rule.*bots/);
  expect(() => read({ rule: ["bots=maybe"] })).toThrow(/NAME=on/);
});
