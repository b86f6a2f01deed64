import { describe, expect, test } from "vitest";
import { findToken, tokenInEnvFile } from "./token.js";

describe("findToken", () => {
  const files = [
    { path: "here/.env.github", text: "GITHUB_TOKEN=from-here" },
    { path: "root/.env.github", text: "GITHUB_TOKEN=from-root" },
  ];

  test("takes the first source that has one", () => {
    expect(findToken({ given: "g", env: { GITHUB_TOKEN: "e" }, files })).toEqual({ token: "g", source: "--token" });
    expect(findToken({ env: { GITHUB_TOKEN: "e" }, files })).toEqual({ token: "e", source: "GITHUB_TOKEN" });
    expect(findToken({ env: {}, files })).toEqual({ token: "from-here", source: "here/.env.github" });
    expect(findToken({ env: {}, files: [{ path: "here/.env.github", text: null }, ...files.slice(1)] })?.source).toBe(
      "root/.env.github",
    );
    expect(findToken({ env: {}, files: [] })).toBeNull();
  });

  test("passes over placeholders, blanks and what can't be a header", () => {
    const env = { GITHUB_TOKEN: "your_token_here" };
    expect(findToken({ given: " ", env, files })?.token).toBe("from-here");
    expect(findToken({ env: { GITHUB_TOKEN: "a b" }, files: [] })).toBeNull();
    expect(findToken({ env: { GITHUB_TOKEN: "a\nb" }, files: [] })).toBeNull();
  });
});

describe("tokenInEnvFile", () => {
  test.each([
    ["GITHUB_TOKEN=abc", "abc"],
    ["# comment\r\n\r\nexport GITHUB_TOKEN = 'abc'\r\n", "abc"],
    ['OTHER=1\nGITHUB_TOKEN="abc"', "abc"],
    ["GITHUB_TOKEN=\nGITHUB_TOKEN=second", "second"],
    ["GITHUB_TOKEN=YOUR_GITHUB_TOKEN_HERE", null],
    ["GITHUB_TOKEN_OLD=abc", null],
    ["nothing here", null],
    ["GITHUB_TOKEN=\"abc'", "\"abc'"],
  ])("%j", (text, token) => {
    expect(tokenInEnvFile(text)).toBe(token);
  });
});
