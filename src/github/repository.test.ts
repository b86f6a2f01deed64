import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apiUrl, parseRepository } from "./repository.js";

describe("parseRepository", () => {
  test.each([
    ["apache/cordova-android", "apache/cordova-android", null],
    ["  stleary/JSON-java ", "stleary/JSON-java", null],
    ["https://github.com/stleary/JSON-java", "stleary/JSON-java", null],
    ["https://github.com/stleary/JSON-java.git", "stleary/JSON-java", null],
    ["http://www.github.com/stleary/JSON-java/tree/main?tab=readme#top", "stleary/JSON-java", null],
    ["github.com/stleary/JSON-java/", "stleary/JSON-java", null],
    ["git@github.com:stleary/JSON-java.git", "stleary/JSON-java", null],
    ["ssh://git@github.com/stleary/JSON-java.git", "stleary/JSON-java", null],
    ["git@code.example.org:team/tool.git", "team/tool", "code.example.org"],
    ["ssh://git@code.example.org:2222/team/tool.git", "team/tool", "code.example.org"],
    ["https://code.example.org:8443/team/tool/pulls", "team/tool", "code.example.org:8443"],
    ["a/b.c_d-e", "a/b.c_d-e", null],
  ])("%s", (typed, slug, host) => {
    const parsed = parseRepository(typed);
    expect(parsed.ok && parsed.value.slug).toBe(slug);
    expect(parsed.ok && parsed.value.enterpriseHost).toBe(host);
  });

  test.each([
    "",
    "owner",
    "a/b/c",
    "a b/c",
    "a/..",
    "./b",
    "https://github.com/only",
    "ftp://github.com/a/b",
    "https://",
    "a/b\u0000",
    "/a/b",
    "git@host",
  ])("refuses %j and says what would be right", (typed) => {
    const parsed = parseRepository(typed);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.error).toContain("owner/name");
  });

  test("names other services", () => {
    const parsed = parseRepository("https://gitlab.com/a/b");
    expect(!parsed.ok && parsed.error).toContain("gitlab.com");
  });

  test("never repeats a password of an address", () => {
    const parsed = parseRepository("https://user:s3cret-token@gitlab.com/a/b");
    expect(!parsed.ok && parsed.error).not.toContain("s3cret");
  });

  test("never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => typeof parseRepository(text).ok === "boolean"));
  });
});

describe("apiUrl", () => {
  const here = { enterpriseHost: null };
  test.each([
    [here, undefined, "https://api.github.com"],
    [here, "https://github.com", "https://api.github.com"],
    [here, "https://api.github.com/", "https://api.github.com"],
    [here, "http://127.0.0.1:8080/", "http://127.0.0.1:8080"],
    [{ enterpriseHost: "code.example.org" }, undefined, "https://code.example.org/api/v3"],
    [{ enterpriseHost: "code.example.org" }, "https://code.example.org/api/v3/", "https://code.example.org/api/v3"],
  ])("%j %s", (repository, given, expected) => {
    expect(apiUrl(repository, given)).toEqual({ ok: true, value: expected });
  });

  test.each(["nonsense", "ftp://host/api", "https://user:pass@host/api/v3"])("refuses %s without repeating secrets", (given) => {
    const url = apiUrl(here, given);
    expect(url.ok).toBe(false);
    expect(JSON.stringify(url)).not.toContain("pass@");
  });
});
