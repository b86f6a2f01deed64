/**
 * Both APIs give the same data set: the local server answers REST and GraphQL from one recording, validates each query against GitHub's
 * published schema, and executes it by graphql-js.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { fromAssembled } from "../../test/rigs/assembled-recording.js";
import { GitHubServer, type GitHubServerOptions } from "../../test/rigs/github-server.js";
import { commonToApis, type MinedFile, MineRig, withoutTime } from "../../test/rigs/mine-rig.js";
import { closedEvent, named, sha, smallRecording, T } from "../../test/rigs/small-recording.js";
import { syntheticRecording } from "../../test/rigs/synthetic-recording.js";
import type { Recording } from "../github/recording.js";

const TOKEN = "ghp_thisMustNeverBeSeen1234567890";
const rigs: MineRig[] = [];
const servers: GitHubServer[] = [];
afterEach(async () => {
  const closed = servers.splice(0);
  await Promise.all(closed.map((server) => server.close()));
  for (const rig of rigs.splice(0)) rig.remove();
  expect([...new Set(closed.flatMap(({ mistakes }) => mistakes))].slice(0, 10)).toEqual([]);
});

function newRig(): MineRig {
  const rig = new MineRig(TOKEN);
  rigs.push(rig);
  return rig;
}

async function serve(recording: Recording, options: GitHubServerOptions = {}): Promise<GitHubServer> {
  const server = await GitHubServer.start(recording, { token: TOKEN, ...options });
  servers.push(server);
  return server;
}

async function mineBy(api: string, server: GitHubServer, more: Record<string, string> = {}, repo = "O/R") {
  const rig = newRig();
  const from = server.requests.length;
  const result = await rig.json([repo], { "github-url": server.url, "issue-limit": "0", api, ...more });
  expect([result.exit, result.stderr]).toEqual([0, expect.any(String)]);
  const text = withoutTime(rig.read(result.repositories[0]?.file ?? ""));
  return { rig, result, text, file: JSON.parse(text) as MinedFile, requests: server.requests.slice(from) };
}

describe("both APIs give the same data set", () => {
  test.each([1, 3])("of an invented repository (%i), but for grades and evidence", async (seed) => {
    const server = await serve(syntheticRecording(seed, 60));
    const [rest, graphql] = [await mineBy("rest", server), await mineBy("graphql", server)];
    expect(rest.file.issues.length).toBeGreaterThan(5);
    expect(commonToApis(graphql.file)).toEqual(commonToApis(rest.file));
    expect(rest.requests.some(({ method }) => method === "POST")).toBe(false);
    expect(graphql.requests.filter(({ path }) => !/^\/graphql|\/files/.test(path))).toEqual([]);
  });

  test("byte for byte under mentions, where no grade hangs on what only GraphQL tells", async () => {
    const server = await serve(syntheticRecording(4, 40));
    const links = { links: "mentions" };
    expect((await mineBy("graphql", server, links)).text).toBe((await mineBy("rest", server, links)).text);
  });

  test("where every grade is looked for", async () => {
    const server = await serve(syntheticRecording(5, 40));
    const links = { links: "closing,mention,manual" };
    const [rest, graphql] = [await mineBy("rest", server, links), await mineBy("graphql", server, links)];
    expect(commonToApis(graphql.file)).toEqual(commonToApis(rest.file));
  });
});

const assembled = resolve(import.meta.dirname, "../../../shared/data/github/json-java.json");
describe.skipIf(!existsSync(assembled))("JSON-java", () => {
  test("issue by issue the same under closing and mentions", async () => {
    const server = await serve(whole(fromAssembled(JSON.parse(readFileSync(assembled, "utf8")))));
    for (const [links, kept] of [
      ["closing", 8],
      ["mentions", 75],
    ] as const) {
      const [rest, graphql] = [
        await mineBy("rest", server, { links }, "stleary/JSON-java"),
        await mineBy("graphql", server, { links }, "stleary/JSON-java"),
      ];
      expect(commonToApis(graphql.file)).toEqual(commonToApis(rest.file));
      expect(graphql.requests.length).toBeLessThan(rest.requests.length);
      expect([links, rest.file.issues.length, graphql.file.issues.length]).toEqual([links, kept, kept]);
    }
  });
});

/** GitHub's schema demands what the assembled recording does not know: it is filled in for both. */
function whole(recording: Recording): Recording {
  const at = "2010-01-01T00:00:00Z";
  const thread = <T extends Recording["issues"][number] | Recording["pulls"][number]>(one: T): T => ({
    ...one,
    created_at: one.created_at ?? at,
    timeline: one.timeline.map((event) => ({ ...event, created_at: event.created_at ?? at })),
  });
  const pull = <T extends Recording["pulls"][number]>(one: T): T => ({
    ...thread(one),
    base: { ref: one.base?.ref ?? "master", sha: one.base?.sha ?? sha(one.number) },
  });
  return {
    ...recording,
    issues: recording.issues.map(thread),
    pulls: recording.pulls.map(pull),
    foreign_pulls: recording.foreign_pulls.map(pull),
  };
}

/** 200 issues, each closed by a pull request that says so; every tenth pull request renamed a file, every seventh issue was closed by a commit. */
const twoHundred = () =>
  smallRecording({
    issues: Array.from({ length: 200 }, (_, i) => ({
      number: i + 1,
      timeline: [named(1001 + i), closedEvent(T(20), i % 7 === 0 ? { commit_id: sha(2001 + i) } : {})],
    })),
    pulls: Array.from({ length: 200 }, (_, i) => ({ number: 1001 + i, body: `Fixes #${i + 1}` })),
  });

describe("requests", () => {
  test("200 issues cost at most 30, and the end says so", async () => {
    const server = await serve(twoHundred());
    const rig = newRig();
    const { exit, stdout, stderr } = await rig.mine(["O/R"], { "github-url": server.url });
    expect(exit).toBe(0);
    expect(stdout).toContain("200 of 200 closed issues kept");
    expect(server.requests.length).toBeLessThanOrEqual(30);
    expect(stderr).toContain(`${server.requests.length} requests made`);
    expect(server.requests.every(({ method, path }) => method === "POST" && path === "/graphql")).toBe(true);
  });

  test("a renamed file costs its pull request one by REST, which alone names the former path", async () => {
    const server = await serve(
      smallRecording({
        issues: [1, 2].map((number) => ({ number, timeline: [named(10 + number), closedEvent()] })),
        pulls: [
          { number: 11, body: "Fixes #1", files: [{ filename: "b.java", status: "renamed", previous_filename: "a.java" }] },
          { number: 12, body: "Fixes #2" },
        ],
      }),
    );
    const { text, requests } = await mineBy("graphql", server);
    expect(text).toContain('"previous_path": "a.java"');
    expect(requests.filter(({ method }) => method === "GET").map(({ path }) => path)).toEqual([
      "/repos/o/r/pulls/11/files?per_page=100",
    ]);
  });

  test("what one API fetched serves the other, and a pipeline", async () => {
    const server = await serve(syntheticRecording(7, 30));
    const rig = newRig();
    const asked = async (api: string) => {
      const from = server.requests.length;
      const { exit } = await rig.mine(["O/R"], { "github-url": server.url, "issue-limit": "0", api });
      return [exit, server.requests.slice(from).map(({ method, path }) => `${method} ${path.split("?")[0]}`)];
    };
    await asked("graphql");
    expect(await asked("rest")).toEqual([0, []]);
    expect(await asked("graphql")).toEqual([0, []]);
    writeFileSync(
      join(rig.folder, "pipelines/p.yaml"),
      `name: p
stages:
  issues: { uses: fetch-issues, with: { repo: o/r, limit: 0, github_url: "${server.url}" } }
  links: { uses: resolve-timeline-prs, needs: issues }
  files: { uses: fetch-pr-files, needs: links }
`,
    );
    const from = server.requests.length;
    const ran = await rig.bench("run", "pipelines/p.yaml", "--json");
    expect([ran.exit, server.requests.length - from]).toEqual([0, 0]);
  });

  test("auto asks REST where there is no token, and where the server has no GraphQL, which it says once", async () => {
    const without = await serve(syntheticRecording(7, 10), { token: null });
    const rig = new MineRig();
    rigs.push(rig);
    expect((await rig.mine(["O/R"], { "github-url": without.url })).exit).toBe(0);
    expect(without.requests.some(({ method }) => method === "POST")).toBe(false);
    const old = await serve(syntheticRecording(7, 10), { graphql: false });
    const { exit, stderr } = await newRig().mine(["O/R"], { "github-url": old.url });
    expect([exit, stderr.match(/has no GraphQL API; the REST API is asked instead/g)?.length]).toEqual([0, 1]);
    expect(old.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    const asked = await newRig().mine(["O/R"], { "github-url": old.url, api: "graphql" });
    expect([asked.exit, asked.stderr]).toEqual([1, expect.stringMatching(/leave `api: graphql` out/)]);
    const another = new MineRig();
    rigs.push(another);
    const noToken = await another.mine(["O/R"], { "github-url": without.url, api: "graphql" });
    expect([noToken.exit, noToken.stderr]).toEqual([1, expect.stringMatching(/answers nobody without a token/)]);
  });

  test("on GitHub Enterprise GraphQL lies beside /api/v3", async () => {
    const server = await serve(twoHundred(), { prefix: "/api/v3" });
    const { exit } = await newRig().mine(["O/R"], { "github-url": server.url, "issue-limit": "3" });
    expect([exit, server.requests.every(({ path }) => path === "/graphql")]).toEqual([0, true]);
  });
});

describe("links that only GitHub states", () => {
  const stated = smallRecording({
    issues: [
      { number: 1, timeline: [{ ...named(11), will_close_target: true }, closedEvent()] },
      { number: 2, timeline: [closedEvent(T(20), { closer: { repository: "O/R", number: 12 } })] },
      { number: 3, timeline: [{ ...named(13), event: "connected" }, closedEvent()] },
      { number: 4, timeline: [{ ...named(14), will_close_target: true }, closedEvent()] },
    ],
    // The closing words were edited away; the fourth was merged too late, which no statement outweighs.
    pulls: [11, 12, 13, 14].map((number) => ({ number, ...(number === 14 ? { merged_at: T(25) } : {}) })),
  });

  test("are links of grade platform by GraphQL, none by REST, and obey the same rules", async () => {
    const server = await serve(stated);
    const links = { links: "closing,manual" };
    const graphql = await mineBy("graphql", server, links);
    const shown = ({ issues }: MinedFile) =>
      issues.map(({ number, linked_merged_pull_requests: [pull] }) => [number, pull?.number, pull?.link.grade]);
    expect(shown(graphql.file)).toEqual([
      [1, 11, "platform"],
      [2, 12, "platform"],
      [3, 13, "manual"],
    ]);
    expect(graphql.file.issues[1]?.linked_merged_pull_requests[0]?.link.evidence).toContain(
      "the event that closed the issue names the pull request",
    );
    expect(graphql.file.audit.find(({ rule }) => rule === "merged-after-close")?.items).toEqual(["o/r#4 <- o/r#14"]);
    const rest = await mineBy("rest", server, links);
    expect(shown(rest.file)).toEqual([[3, 13, "manual"]]);
  });
});

describe("interruptions", () => {
  test.each(["rest", "graphql"])("by limits at ten places give the same data set (%s)", async (api) => {
    const recording = syntheticRecording(9, api === "rest" ? 20 : 80);
    const whole = await mineBy(api, await serve(recording));
    const total = whole.requests.length;
    expect(total).toBeGreaterThanOrEqual(14);
    const rig = newRig();
    const at = new Set<number>();
    let answered = 0;
    // Each command is stopped after a few more answers than all before it, ten times.
    let allowed = 0;
    const server = await serve(recording, {
      script: ({ index }) => {
        if (answered >= allowed) {
          at.add(index);
          return { type: "primary-limit", reset: 7200 };
        }
        answered += 1;
        return null;
      },
    });
    const options = { "github-url": server.url, "issue-limit": "0", api };
    for (let stop = 0; stop < 10; stop++) {
      // Short of the end, since after a stop more may come together than before.
      allowed = Math.floor(((total - 4) * stop) / 9);
      const { exit, stderr } = await rig.mine(["O/R"], options);
      expect([stop, exit, /Go on from/.test(stderr)]).toEqual([stop, 75, true]);
    }
    allowed = Number.POSITIVE_INFINITY;
    const last = await rig.json(["O/R"], options);
    expect(last.exit).toBe(0);
    expect(withoutTime(rig.read(last.repositories[0]?.file ?? ""))).toBe(whole.text);
    expect(at.size).toBeGreaterThanOrEqual(10);
    // Nothing that was answered was asked again; other batches may come together after a stop.
    if (api === "rest") expect(answered).toBe(total);
    else expect(answered).toBeLessThanOrEqual(total + 20);
    const asks = server.requests.filter(({ index }) => !at.has(index)).flatMap(({ path, body }) => thingsAsked(path, body));
    expect(asks.filter((ask, index) => asks.indexOf(ask) !== index)).toEqual([]);
  });
});

/** Each thing that a request asks for: a path, or each node of a GraphQL query by its variables. */
function thingsAsked(path: string, body: string): string[] {
  if (body === "") return [path];
  const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
  const aliases = [...query.matchAll(/(n\d+): repository\([^)]*\) \{ (\w+)\([^)]*\) \{?\s*([^\n]*)/g)];
  if (aliases.length === 0) return [`list ${String(variables.after)}`];
  return aliases.map(([, alias = "", field = "", first = ""]) => {
    const i = alias.slice(1);
    return [field, first.trim().slice(0, 40), variables[`number${i}`], variables[`sha${i}`], variables[`after${i}`]].join(" ");
  });
}

describe("faults of GraphQL", () => {
  const recording = syntheticRecording(12, 40);
  const faulty = async (script: GitHubServerOptions["script"]) => {
    const whole = await mineBy("graphql", await serve(recording));
    const server = await serve(recording, script === undefined ? {} : { script });
    const rig = newRig();
    const result = await rig.json(["O/R"], { "github-url": server.url, "issue-limit": "0", api: "graphql" });
    const [{ file = null } = {}] = result.repositories;
    const posts = server.requests.filter(({ method }) => method === "POST");
    return { whole, result, text: file === null ? null : withoutTime(rig.read(file)), posts, rig };
  };
  const size = ({ body }: { body: string }) => Math.max(1, body.split(": repository(").length - 1);
  const isBatch = ({ body }: { body: string }) => /n0: repository/.test(body);

  test("a limit in a 200 is waited for, and so is a secondary one", async () => {
    const limit = (type: string, message: string) => ({
      type: "graphql" as const,
      change: () => ({ data: undefined, errors: [{ type, message }] }),
      headers: { "retry-after": "3" },
    });
    const { whole, text, posts, rig } = await faulty(({ index }) =>
      index === 1
        ? limit("RATE_LIMITED", "API rate limit exceeded")
        : index === 2
          ? limit("OTHER", "You have exceeded a secondary rate limit.")
          : null,
    );
    expect(text).toBe(whole.text);
    const limited = posts.slice(1, 3).map(({ body }) => body);
    for (const body of limited) expect(posts.filter((post) => post.body === body).length).toBeGreaterThanOrEqual(2);
    expect(rig.slept).toBeGreaterThanOrEqual(6000);
  });

  test("few points left: it stops before a query that costs more than they are", async () => {
    const reset = String(Math.floor(Date.now() / 1000) + 7200);
    const { result, posts } = await faulty(() => ({
      type: "graphql",
      change: ({ data }) => ({ data: { ...(data as object), rateLimit: { cost: 5, remaining: 4, limit: 5000, resetAt: T(1) } } }),
      headers: { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4", "x-ratelimit-reset": reset },
    }));
    expect([result.exit, posts.length]).toEqual([75, 1]);
  });

  test.each([
    ["502", { type: "status", status: 502 } as const],
    [
      "a node limit",
      {
        type: "graphql",
        change: () => ({ errors: [{ type: "MAX_NODE_LIMIT_EXCEEDED", message: "this query requests too many nodes" }] }),
      } as const,
    ],
  ])("%s on large queries: they are halved until they pass", async (_, fault) => {
    const { whole, text, posts } = await faulty((request) => (isBatch(request) && size(request) > 5 ? fault : null));
    expect(text).toBe(whole.text);
    const sizes = posts.filter(isBatch).map(size);
    expect(Math.max(...sizes)).toBeGreaterThan(20);
    expect(sizes.filter((one) => one <= 5).length).toBeGreaterThan(5);
  });

  test("the list's page is halved too", async () => {
    const { whole, text, posts } = await faulty(({ body }) =>
      /"size":(?:100|50)/.test(body) ? { type: "status", status: 502 } : null,
    );
    expect(JSON.parse(text ?? "").issues).toEqual(JSON.parse(whole.text).issues);
    expect(posts.filter(({ body }) => body.includes('"size":25')).length).toBeGreaterThan(0);
  });

  test("one thing that fails is asked again alone, the others are not", async () => {
    let failed = false;
    const { whole, text, posts } = await faulty((request) => {
      if (failed || !isBatch(request) || size(request) < 3) return null;
      failed = true;
      return {
        type: "graphql",
        change: ({ data }) => ({
          data: { ...(data as object), n1: null },
          errors: [{ type: "SERVICE_UNAVAILABLE", path: ["n1"], message: "Something went wrong" }],
        }),
      };
    });
    expect(text).toBe(whole.text);
    const asked = posts.flatMap(({ path, body }) => thingsAsked(path, body));
    const twice = asked.filter((ask, index) => asked.indexOf(ask) !== index);
    expect(twice).toHaveLength(1);
  });

  test("one thing that fails for good fails its issue alone, and the next command asks for it alone", async () => {
    let broken = true;
    const isVictim = ({ variables }: { variables: Record<string, unknown> }, i: number) => variables[`number${i}`] === 3;
    const server = await serve(recording, {
      script: (request) => {
        if (!broken || !isBatch(request)) return null;
        const query = JSON.parse(request.body);
        const at = Array.from({ length: size(request) }, (_, i) => i).filter((i) => isVictim(query, i));
        if (at.length === 0) return null;
        return {
          type: "graphql",
          change: ({ data }) => ({
            data: { ...(data as object), [`n${at[0]}`]: null },
            errors: [{ type: "SERVICE_UNAVAILABLE", path: [`n${at[0]}`], message: "Something went wrong" }],
          }),
        };
      },
    });
    const rig = newRig();
    const options = { "github-url": server.url, "issue-limit": "0", api: "graphql" };
    const first = await rig.json(["O/R"], options);
    expect([first.exit, first.repositories[0]?.file]).toEqual([1, null]);
    broken = false;
    const from = server.requests.length;
    const second = await rig.json(["O/R"], options);
    expect(second.exit).toBe(0);
    expect(server.requests.slice(from).flatMap(({ path, body }) => thingsAsked(path, body)).length).toBeLessThanOrEqual(3);
    expect(withoutTime(rig.read(second.repositories[0]?.file ?? ""))).toBe(
      (await mineBy("graphql", await serve(recording))).text,
    );
  });

  test("an issue that does not exist any more is gone, not a failure", async () => {
    const { result, text } = await faulty((request) =>
      isBatch(request) && /n0: repository[^{]*\{ issue/.test(request.body)
        ? {
            type: "graphql",
            change: ({ data }) => ({
              data: { ...(data as object), n0: { issue: null } },
              errors: [{ type: "NOT_FOUND", path: ["n0", "issue"], message: "Could not resolve to an Issue" }],
            }),
          }
        : null,
    );
    expect(result.exit).toBe(0);
    expect(JSON.parse(text ?? "").audit).toContainEqual(expect.objectContaining({ rule: "issue-gone" }));
  });
});
