import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { named, smallRecording, T } from "../../test/rigs/small-recording.js";
import { parseRecording } from "./recording.js";
import { recordingFetch, recordingServer } from "./recording-server.js";

const recording = smallRecording({
  issues: [
    { number: 1, timeline: [named(3), named(9, T(11), "Other/R")], comments: [{ user: "u", created_at: T(5), body: "hello" }] },
    { number: 2, state: "open", closed_at: null, state_reason: null },
    ...Array.from({ length: 120 }, (_, i) => ({ number: 100 + i, created_at: T(1, i % 24) })),
  ],
  pulls: [
    { number: 3, commits: [{ sha: "a".repeat(40), message: "m" }] },
    { number: 4, merged_at: null, state: "open", closed_at: null },
  ],
  foreign_pulls: [{ number: 9, repository: "Other/R", body: "theirs" }],
});
const respond = recordingServer(recording);
const get = (path: string, headers: Record<string, string> = {}) => {
  const { status, headers: answered, body } = respond({ method: "GET", url: `https://api.github.com${path}`, headers });
  return { status, headers: answered, json: body === "" ? null : JSON.parse(body) };
};

describe("lists", () => {
  test("open ones by default, thirty a page, a hundred at most", () => {
    expect(get("/repos/O/R/issues").json.map(({ number }: { number: number }) => number)).toEqual([4, 2]);
    expect(get("/repos/O/R/issues?state=closed").json).toHaveLength(30);
    expect(get("/repos/O/R/issues?state=closed&per_page=500").json).toHaveLength(100);
  });

  test("pull requests stand among the issues, with their merge time", () => {
    const all = get("/repos/o/r/issues?state=all&per_page=100&page=2").json.concat(
      get("/repos/o/r/issues?state=all&per_page=100").json,
    );
    const three = all.find(({ number }: { number: number }) => number === 3);
    expect(three.pull_request.merged_at).toBe(T(10));
    expect(three.html_url).toBe("https://github.com/O/R/pull/3");
    expect(get("/repos/o/r/pulls?state=all").json.map(({ number }: { number: number }) => number)).toEqual([4, 3]);
  });

  test("links lead through all pages, each element once, whatever the size", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (size) => {
        const numbers: number[] = [];
        let path: string | undefined = `/repos/O/R/issues?state=all&per_page=${size}`;
        let pages = 0;
        while (path !== undefined) {
          const page = get(path);
          numbers.push(...page.json.map(({ number }: { number: number }) => number));
          path = /<https:\/\/api\.github\.com([^>]+)>; rel="next"/.exec(page.headers.link ?? "")?.[1];
          pages += 1;
        }
        expect(pages).toBe(Math.ceil(124 / size));
        expect(new Set(numbers).size).toBe(124);
        expect(numbers).toHaveLength(124);
      }),
      { numRuns: 30 },
    );
  });

  test("sort, direction and since", () => {
    const updated = get("/repos/O/R/issues?state=closed&sort=updated&direction=asc&per_page=100").json.map(
      (issue: { updated_at: string }) => Date.parse(issue.updated_at),
    );
    expect(updated).toEqual([...updated].sort((a, b) => a - b));
    expect(
      get(`/repos/O/R/issues?state=all&since=${T(19)}&per_page=100`).json.every(
        (issue: { updated_at: string }) => issue.updated_at >= T(19),
      ),
    ).toBe(true);
  });
});

test("timelines hold comments, and cross-references with the other side's text and merge time", () => {
  const timeline = get("/repos/O/R/issues/1/timeline").json;
  expect(timeline.map(({ event }: { event: string }) => event)).toEqual(["commented", "cross-referenced", "cross-referenced"]);
  expect(timeline[0].body).toBe("hello");
  expect(timeline[1].source.issue).toMatchObject({
    number: 3,
    pull_request: { merged_at: T(10) },
    repository: { full_name: "O/R" },
  });
  expect(timeline[2].source.issue).toMatchObject({
    number: 9,
    body: "theirs",
    repository_url: "https://api.github.com/repos/Other/R",
  });
});

test("pull requests, their files and commits; commits and their pull requests", () => {
  expect(get("/repos/o/r/pulls/3").json).toMatchObject({
    number: 3,
    merged: true,
    base: { ref: "main", repo: { default_branch: "main" } },
    changed_files: 1,
  });
  expect(get("/repos/o/r/pulls/3/files").json[0]).toMatchObject({ filename: "src/File3.java", status: "modified" });
  expect(get("/repos/o/r/pulls/3/commits").json[0].commit.message).toBe("m");
  expect(get(`/repos/o/r/commits/${"a".repeat(40)}/pulls`).json[0].number).toBe(3);
  expect(get("/repos/other/r/pulls/9").json.html_url).toBe("https://github.com/Other/R/pull/9");
});

test.each([
  "/repos/o/r/pulls/1",
  "/repos/o/r/issues/77",
  "/repos/x/y/issues",
  "/user",
  "/repos/o/r/issues/1/nonsense",
  "/repos/o/r/pulls/%E0%A4%A/files",
  "/",
])("404: %s", (path) => {
  expect(get(path)).toMatchObject({ status: 404, json: { message: "Not Found" } });
});

test("ETags: 304 without a body, and another page has another one", () => {
  const one = get("/repos/o/r/issues?state=closed");
  expect(get("/repos/o/r/issues?state=closed", { "if-none-match": one.headers.etag ?? "" })).toMatchObject({
    status: 304,
    json: null,
  });
  expect(get("/repos/o/r/issues?state=closed", { "if-none-match": `W/${one.headers.etag}` }).status).toBe(304);
  expect(get("/repos/o/r/issues?state=closed&page=2", { "if-none-match": one.headers.etag ?? "" }).status).toBe(200);
});

test("serves below a prefix, as GitHub Enterprise does", async () => {
  const fetching = recordingFetch(recording, { api: "https://code.example.org/api/v3", web: "https://code.example.org" });
  const response = await fetching("https://code.example.org/api/v3/repos/o/r/issues/1");
  const issue = (await response.json()) as { html_url: string };
  expect(issue.html_url).toBe("https://code.example.org/O/R/issues/1");
  expect((await fetching("https://code.example.org/repos/o/r/issues/1")).status).toBe(404);
});

test("3,000 files are listed of more", () => {
  const many = smallRecording({ pulls: [{ number: 3, files: Array.from({ length: 3005 }, (_, i) => ({ filename: `f${i}` })) }] });
  const server = recordingServer(many);
  const last = server({ method: "GET", url: "https://api.github.com/repos/o/r/pulls/3/files?per_page=100&page=30", headers: {} });
  expect(JSON.parse(last.body)).toHaveLength(100);
  expect(last.headers.link).not.toContain('rel="next"');
  expect(
    JSON.parse(server({ method: "GET", url: "https://api.github.com/repos/o/r/pulls/3", headers: {} }).body).changed_files,
  ).toBe(3005);
});

test("never throws, whatever is asked", () => {
  fc.assert(
    fc.property(fc.webPath(), fc.webQueryParameters(), (path, query) => {
      const { status } = respond({ method: "GET", url: `https://api.github.com/repos/o/r${path}?${query}`, headers: {} });
      expect([200, 404]).toContain(status);
    }),
  );
});

describe("parseRecording", () => {
  test("reads what it wrote", () => {
    const parsed = parseRecording(JSON.stringify(recording));
    expect(parsed).toEqual({ ok: true, value: recording });
  });
  test.each([
    ["", "not JSON"],
    ["[]", "no recording"],
    ['{"format":"other"}', "no recording"],
    ['{"format":"bench-github-recording","version":2}', "version 2"],
    ['{"format":"bench-github-recording","version":1,"recorded_at":"never"}', "recorded_at"],
  ])("%j", (text, words) => {
    const parsed = parseRecording(text);
    expect(!parsed.ok && parsed.error).toContain(words);
  });
  test("names the place of a mistake", () => {
    const broken = { ...recording, issues: [{ ...recording.issues[0], state: "shut" }] };
    const parsed = parseRecording(JSON.stringify(broken));
    expect(!parsed.ok && parsed.error).toContain("issues.0.state");
  });
  test("answers are the same for the same recording", () => {
    const body = (text: string) => createHash("sha256").update(text).digest("hex");
    const again = recordingServer(smallRecording({ issues: [{ number: 1 }] }));
    const other = recordingServer(smallRecording({ issues: [{ number: 1 }] }));
    const request = { method: "GET", url: "https://api.github.com/repos/o/r/issues/1", headers: {} };
    expect(body(again(request).body)).toBe(body(other(request).body));
  });
});
