/** The fetch stages against a real local server: limits, interruptions, faults, and that nothing answered is asked twice. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { driveStage } from "../../test/rigs/drive-stage.js";
import { type Fault, GitHubServer, type GitHubServerOptions } from "../../test/rigs/github-server.js";
import { closedEvent, named, smallRecording } from "../../test/rigs/small-recording.js";
import { type StageToolsRig, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { canonicalJson } from "../base/json.js";
import { keyDigest } from "../cache/key.js";
import type { UnitOutcome } from "../engine/contract.js";
import type { Recording } from "../github/recording.js";
import type { FilesItem, IssuesMeta, LinksItem } from "../github/schema.js";
import { fetchIssues } from "./fetch-issues.js";
import { fetchPrFiles } from "./fetch-pr-files.js";
import { resolveTimelinePrs } from "./resolve-timeline-prs.js";

const TOKEN = "ghp_thisMustNeverBeSeen1234567890";
/** With a token GraphQL would be asked; what is special to REST is tested here. */
const REST = { api: "rest" };
const servers: GitHubServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(recording: Recording, options: GitHubServerOptions = {}): Promise<GitHubServer> {
  const server = await GitHubServer.start(recording, { token: TOKEN, ...options });
  servers.push(server);
  return server;
}

const withToken = (more: Parameters<typeof stageToolsRig>[0] = {}) => stageToolsRig({ env: { GITHUB_TOKEN: TOKEN }, ...more });

/** 40 issues: each closed by a pull request of its own, every fifth also named by one that all share. */
const forty = smallRecording({
  issues: Array.from({ length: 40 }, (_, i) => ({
    number: i + 1,
    timeline: [named(100 + i), ...(i % 5 === 0 ? [named(99)] : []), closedEvent()],
  })),
  pulls: [
    { number: 99, body: Array.from({ length: 8 }, (_, i) => `Fixes #${i * 5 + 1}`).join("\n") },
    ...Array.from({ length: 40 }, (_, i) => ({ number: 100 + i, body: `Closes #${i + 1}` })),
  ],
});

async function mine(server: GitHubServer, tools: StageToolsRig, links = "closing", lines = false) {
  const issues = await driveStage(fetchIssues, { repo: "O/R", limit: 0, github_url: server.url, ...REST }, tools);
  const resolved = await driveStage(resolveTimelinePrs, { links, ...REST }, tools, issues.output);
  const files = await driveStage(fetchPrFiles, { ...REST, lines }, tools, resolved.output);
  return {
    issues,
    resolved,
    files,
    text: canonicalJson([issues.items, resolved.items, files.items].map((items) => items.map(({ value }) => value))),
  };
}

test("a shared pull request is asked for once; every request is counted", async () => {
  const server = await serve(forty);
  const tools = withToken();
  const { files } = await mine(server, tools);
  expect(files.items).toHaveLength(41);
  expect(server.count("/pulls/99?")).toBe(0);
  for (const path of ["/pulls/99", "/pulls/99/files?per_page=100", "/issues/99/timeline?per_page=100"]) {
    expect(
      server.requests.filter((request) => request.path === `/repos/O/R${path}` || request.path === `/repos/o/r${path}`),
    ).toHaveLength(1);
  }
  // A list page, 40 timelines, and for each of 41 pull requests itself, its timeline and its files.
  expect(tools.counts.requests).toBe(1 + 40 + 3 * 41);
  expect(server.requests).toHaveLength(tools.counts.requests ?? 0);
});

test("storms of faults change nothing but the number of requests", async () => {
  const calm = await mine(await serve(forty), withToken());
  const faults: Fault[] = [
    { type: "status", status: 502 },
    { type: "reset", at: "start" },
    { type: "reset", at: "body" },
    { type: "truncated" },
    { type: "empty" },
    { type: "html", status: 200 },
    { type: "secondary-limit", status: 429, retryAfter: 2 },
    { type: "primary-limit", reset: 20 },
  ];
  const stormy = await serve(forty, {
    script: ({ index }, attempt) => (attempt <= 2 ? (faults[index % faults.length] ?? null) : null),
  });
  const tools = withToken();
  const stormed = await mine(stormy, tools);
  const addresses = (text: string) => text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "SERVER");
  expect(addresses(stormed.text)).toBe(addresses(calm.text));
  expect(tools.counts.requests).toBe(stormy.requests.length);
  expect(stormy.requests.length).toBeGreaterThan(2 * 160);
});

test("stopped after any request and started again, no answered request is repeated and the result is the same", async () => {
  const small = smallRecording({
    issues: Array.from({ length: 3 }, (_, i) => ({ number: i + 1, timeline: [named(99), named(100 + i), closedEvent()] })),
    pulls: [{ number: 99, body: "fixes #1, fixes #2" }, ...[0, 1, 2].map((i) => ({ number: 100 + i, body: `fixes #${i + 1}` }))],
  });
  const whole = await mine(await serve(small), withToken());
  const total = servers.at(-1)?.requests.length ?? 0;
  expect(total).toBeGreaterThan(10);
  for (let stopAfter = 1; stopAfter < total; stopAfter++) {
    const server = await serve(small, {
      script: ({ index }) => (index === stopAfter ? { type: "primary-limit", reset: 7200 } : null),
    });
    // What outlives a process: memory and bytes. Clock and limits seen are new.
    const memories = withToken();
    const first = await mine(server, memories).catch(() => null);
    expect(
      [
        ...(first?.issues.outcomes.values() ?? []),
        ...(first?.resolved.outcomes.values() ?? []),
        ...(first?.files.outcomes.values() ?? []),
      ].some(({ type }) => type === "stop"),
    ).toBe(true);
    const second = await mine(
      server,
      withToken({ memory: memories.memory, putBytes: memories.putBytes, getBytes: memories.getBytes }),
    );
    const answered = server.requests.filter(({ index }) => index !== stopAfter).map(({ path }) => path);
    expect(answered.filter((path, index) => answered.indexOf(path) !== index)).toEqual([]);
    const addresses = (text: string) => text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "SERVER");
    expect(addresses(second.text)).toBe(addresses(whole.text));
  }
});

describe("a limit beyond what may be waited", () => {
  test("stops with the time from which to go on, and without the token", async () => {
    const server = await serve(forty, { script: () => ({ type: "primary-limit", reset: 3600 }) });
    const tools = withToken();
    const { outcomes } = await driveStage(fetchIssues, { repo: "o/r", github_url: server.url, ...REST }, tools);
    const outcome = outcomes.get("page 1");
    expect(outcome?.type).toBe("stop");
    if (outcome?.type === "stop") {
      expect((outcome.resumeAt ?? 0) - tools.clock.now()).toBeGreaterThan(3_590_000);
      expect(outcome.message).not.toContain(TOKEN);
    }
  });
});

describe("fetch-issues", () => {
  const many = smallRecording({
    issues: Array.from({ length: 230 }, (_, i) => ({ number: i + 1 })),
    pulls: Array.from({ length: 100 }, (_, i) => ({ number: 1000 + i })),
  });
  const list = async (limit: number | undefined, options: GitHubServerOptions = {}, tools = withToken()) => {
    const server = await serve(many, options);
    const driven = await driveStage(
      fetchIssues,
      { repo: "o/r", github_url: server.url, ...REST, ...(limit === undefined ? {} : { limit }) },
      tools,
    );
    return { server, tools, ...driven };
  };

  test.each([
    [undefined, 200, 2],
    [0, 230, 4],
    [5, 5, 1],
    [1000, 230, 4],
  ])("limit %s lists %d issues in %d pages; pull requests are none", async (limit, count, pages) => {
    const { items, server, output } = await list(limit);
    expect(items).toHaveLength(count);
    expect(new Set(items.map(({ id }) => id)).size).toBe(count);
    expect(server.requests).toHaveLength(pages);
    expect(output.meta as unknown as IssuesMeta).toMatchObject({
      repository: "O/R",
      url: "https://github.com/O/R",
      listed: count,
      recorded: false,
      made_up_numbers: [],
    });
  });

  test("the limit is no part of a page's key, the repository and the server are", async () => {
    const keys = async (config: object) => {
      const prepared = await (fetchIssues.shape === "items" ? fetchIssues.prepare(config, null as never, withToken()) : null);
      return fetchIssues.shape === "items" ? keyDigest(fetchIssues.parts(prepared)) : "";
    };
    const base = { repo: "o/r", limit: 5, github_url: "http://a.example" };
    expect(await keys({ ...base, limit: 7 })).toBe(await keys(base));
    expect(await keys({ ...base, repo: "https://github.com/O/R.git" })).toBe(await keys(base));
    expect(await keys({ ...base, github_url: "http://b.example" })).not.toBe(await keys(base));
    expect(await keys({ ...base, repo: "o/x" })).not.toBe(await keys(base));
  });

  test("entries that move to the next page meanwhile are listed once", async () => {
    // The third page is answered from one entry earlier, as if an issue had been updated in between.
    const { items } = await list(0, {
      script: ({ path }) =>
        path.includes("page=3")
          ? {
              type: "body",
              body: JSON.stringify([
                { number: 1, title: "again", state: "closed" },
                { number: 1, title: "twice", state: "closed" },
              ]),
            }
          : null,
    });
    expect(items.filter(({ id }) => id === "o/r#1")).toHaveLength(1);
  });

  test("unusable entries are left out with a warning", async () => {
    const { items, tools } = await list(0, {
      script: () => ({
        type: "body",
        body: '[null, {"number": -3, "title": "x", "state": "closed"}, {"number": 4, "state": "closed", "title": "ok", "labels": ["a", {"name": "b"}, 7]}]',
      }),
    });
    expect(items.map(({ id }) => id)).toEqual(["o/r#4"]);
    expect(items[0]?.value).toMatchObject({ labels: ["a", "b"], body: null, created_at: null });
    expect(tools.warnings).toHaveLength(1);
  });

  test.each<[string, Fault, RegExp]>([
    ["links in a circle", { type: "link", link: '<?page=1>; rel="next"' }, /circle/],
    ["links to another server", { type: "link", link: '<http://elsewhere.example/?page=2>; rel="next"' }, /another server/],
    ["no list", { type: "body", body: '{"message":"hello"}' }, /a list of issues was expected/],
    ["no such repository", { type: "status", status: 404 }, /does not exist/],
  ])("%s: fails and says so", async (_, fault, words) => {
    const { outcomes, server } = await list(0, { script: () => fault });
    const last = [...outcomes.values()].at(-1);
    expect(last?.type === "failed" && last.message).toMatch(words);
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  test("an endless list that repeats itself fails", async () => {
    const { outcomes } = await list(0, { script: ({ index }) => ({ type: "link", link: `<?page=${index + 2}>; rel="next"` }) });
    const last = [...outcomes.values()].at(-1);
    // Behind the fourth page there is nothing, and nothing repeats itself too.
    expect(last?.type === "failed" && last.message).toContain("repeats");
  });

  test("without a token it warns what that costs, and sends none", async () => {
    const { tools, items } = await list(5, { token: null }, stageToolsRig());
    expect(items).toHaveLength(5);
    expect(tools.warnings.join()).toMatch(/60 requests an hour/);
  });

  test("the token of the project's .env.github is used", async () => {
    const root = mkdtempSync(join(tmpdir(), "bench-env-"));
    mkdirSync(join(root, "pipelines"));
    writeFileSync(join(root, ".env.github"), `export GITHUB_TOKEN="${TOKEN}"\n`);
    const { items, tools } = await list(5, {}, stageToolsRig({ projectRoot: root }));
    expect(items).toHaveLength(5);
    expect(tools.warnings).toEqual([]);
  });

  test.each([
    [{ repo: "nonsense" }, /repo: .*not a valid repository/],
    [{ repo: "o/r", github_url: "ftp://x" }, /github_url/],
    [{ repo: "o/r", recording: "missing.json" }, /missing\.json can't be read/],
  ])("%j: fails and says what to do", async (config, words) => {
    const { outcomes } = await driveStage(fetchIssues, { ...config, ...REST }, withToken());
    const outcome = outcomes.get("page 1");
    expect(outcome?.type === "failed" && outcome.message).toMatch(words);
  });

  test("a recording of another repository is not served as this one", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "bench-other-")), "r.json");
    writeFileSync(path, JSON.stringify(many));
    const { outcomes } = await driveStage(fetchIssues, { repo: "x/y", recording: path }, withToken());
    const outcome = outcomes.get("page 1");
    expect(outcome?.type === "failed" && outcome.message).toContain("the recording holds O/R");
  });
});

test("offline: a unit that needs the network fails and says so; what is kept is used", async () => {
  const server = await serve(forty);
  const online = withToken();
  await driveStage(fetchIssues, { repo: "O/R", github_url: server.url, ...REST }, online);
  const kept = { memory: online.memory, putBytes: online.putBytes, getBytes: online.getBytes };
  const offline = await driveStage(
    fetchIssues,
    { repo: "O/R", github_url: server.url, ...REST },
    withToken({ offline: true, ...kept }),
  );
  expect(offline.items).toHaveLength(40);
  const nothing = await driveStage(fetchIssues, { repo: "O/R", github_url: server.url, ...REST }, withToken({ offline: true }));
  const outcome: UnitOutcome | undefined = nothing.outcomes.get("page 1");
  expect(outcome?.type === "failed" && outcome.message).toContain("--offline");
  expect(server.requests).toHaveLength(1);
});

describe("resolve-timeline-prs", () => {
  test("an issue that was transferred away or deleted has no links and says why", async () => {
    const server = await serve(forty, {
      script: ({ path }) => {
        if (path.includes("/issues/3/timeline"))
          return { type: "redirect", status: 301, location: "/repos/O/R/issues/4/timeline" };
        return path.includes("/issues/5/timeline") ? { type: "status", status: 410 } : null;
      },
    });
    const { resolved } = await mine(server, withToken());
    for (const id of ["o/r#3", "o/r#5"]) {
      const item = resolved.items.find((found) => found.id === id)?.value as LinksItem;
      expect(item.links).toEqual([]);
      expect(item.dropped).toMatchObject([{ rule: "issue-gone", item: id }]);
    }
  });

  test("issues of a recording are not looked for on the network", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "bench-rec-")), "r.json");
    writeFileSync(path, JSON.stringify(forty));
    const tools = stageToolsRig();
    const issues = await driveStage(fetchIssues, { repo: "O/R", recording: path, limit: 1 }, tools);
    const resolved = await driveStage(resolveTimelinePrs, {}, tools, issues.output);
    const [outcome] = resolved.outcomes.values();
    expect(outcome?.type === "failed" && outcome.message).toContain("recording:");
  });
});

describe("fetch-pr-files", () => {
  const big = (files: number) =>
    smallRecording({
      issues: [{ number: 1, timeline: [named(2), named(3), closedEvent()] }],
      pulls: [
        {
          number: 2,
          body: "fixes #1",
          files: Array.from({ length: files }, (_, i) => ({
            filename: `f${i}.java`,
            status: i === 0 ? "renamed" : "modified",
            ...(i === 0 ? { previous_filename: "old.java" } : {}),
            ...(i === 1 ? { patch: "@@ -3,3 +3,4 @@\n x\n-y\n+z\n+w\n v" } : {}),
          })),
        },
        { number: 3, body: "fixes #1", merged_at: null },
      ],
    });

  test.each([
    [3000, 30, 3000, true],
    [3005, 30, 3000, true],
    [250, 3, 250, false],
    [0, 1, 0, false],
  ])(
    "%d files: %d requests, %d listed, truncated %s; an unmerged one costs nothing",
    async (files, requests, listed, truncated) => {
      const server = await serve(big(files));
      const { files: driven } = await mine(server, withToken(), "closing", true);
      expect(driven.items).toHaveLength(1);
      const item = driven.items[0]?.value as FilesItem;
      expect(item.files).toHaveLength(listed);
      expect(item.truncated).toBe(truncated);
      expect(item).toMatchObject({ pull: "o/r#2", changed_files: files, base_commit: expect.stringMatching(/^0+2$/) });
      if (files > 0)
        expect(item.files[0]).toEqual({
          path: "f0.java",
          status: "renamed",
          previous_path: "old.java",
          additions: 0,
          deletions: 0,
        });
      // The lines that a patch changes are kept, its text is not; without a patch nothing is known.
      if (files > 0) expect(item.files.slice(0, 3).map(({ hunks }) => hunks)).toEqual([undefined, [[4, 1]], undefined]);
      expect(JSON.stringify(item)).not.toContain("patch");
      expect(server.count("/files")).toBe(requests);
    },
  );

  test("a pull request whose files are gone flows on, marked and with a warning", async () => {
    const server = await serve(big(1), {
      script: ({ path }) => (path.includes("/files") ? { type: "status", status: 404 } : null),
    });
    const tools = withToken();
    const { files } = await mine(server, tools);
    expect(files.items[0]?.value).toMatchObject({ files: [], truncated: true });
    expect(tools.warnings.join()).toContain("o/r#2");
  });
});

test("refresh asks conditionally; nothing changed, nothing changes", async () => {
  const server = await serve(forty);
  const tools = withToken();
  const before = await mine(server, tools);
  const asked = server.requests.length;
  const refreshed = withToken({ refresh: true, memory: tools.memory, putBytes: tools.putBytes, getBytes: tools.getBytes });
  const after = await mine(server, refreshed);
  expect(after.text).toBe(before.text);
  const again = server.requests.slice(asked);
  expect(again.length).toBeGreaterThanOrEqual(asked);
  expect(again.every(({ headers }) => headers["if-none-match"] !== undefined)).toBe(true);
});
