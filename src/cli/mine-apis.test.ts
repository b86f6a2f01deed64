/**
 * Both APIs give the same data set: the local server answers REST and GraphQL from one recording, validates each query against GitHub's
 * published schema, and executes it by graphql-js.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ApiRigs } from "../../test/rigs/api-rigs.js";
import { fromAssembled } from "../../test/rigs/assembled-recording.js";
import { commonToApis, type MinedFile } from "../../test/rigs/mine-rig.js";
import { closedEvent, named, sha, smallRecording, T } from "../../test/rigs/small-recording.js";
import { syntheticRecording } from "../../test/rigs/synthetic-recording.js";
import type { Recording } from "../github/recording.js";

const rigs = new ApiRigs();
afterEach(() => rigs.end());
const serve = rigs.serve.bind(rigs);
const mineBy = rigs.mineBy.bind(rigs);
const newRig = () => rigs.rig();

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
    const [rest, graphql] = [await mineBy("rest", server, links), await mineBy("graphql", server, links)];
    const common = ({ text }: typeof rest) =>
      text.replaceAll(/^ +"edited_at": null,\n/gm, "").replace(/"dataset_digest": ".*"/, "");
    expect(common(graphql)).toBe(common(rest));
  });

  test("with which lines changed, and without: GraphQL does not tell them, so each pull request then costs a request by REST", async () => {
    const file = (n: number) => ({ filename: `F${n}.java`, patch: `@@ -${n},2 +${n},3 @@\n x\n+y\n z` });
    const server = await serve(
      smallRecording({
        issues: [1, 2].map((number) => ({ number, timeline: [named(10 + number), closedEvent()] })),
        pulls: [1, 2].map((n) => ({
          number: 10 + n,
          body: `Fixes #${n}`,
          files: [file(n), { filename: "new.java", status: "added" }],
        })),
      }),
    );
    for (const lines of [{}, { lines: true }]) {
      const [rest, graphql] = [await mineBy("rest", server, lines), await mineBy("graphql", server, lines)];
      expect(commonToApis(graphql.file)).toEqual(commonToApis(rest.file));
      expect(graphql.text.includes('"hunks"')).toBe("lines" in lines);
      expect(graphql.requests.filter(({ method }) => method === "GET").length).toBe("lines" in lines ? 2 : 0);
    }
  });

  test("when texts were edited is told by GraphQL alone, and found by lint", async () => {
    const server = await serve(
      smallRecording({
        issues: [1, 2].map((number) => ({
          number,
          timeline: [named(10 + number), closedEvent()],
          ...(number === 1 ? { edited_at: T(15) } : {}),
        })),
        pulls: [1, 2].map((n) => ({ number: 10 + n, body: `Fixes #${n}` })),
      }),
    );
    const [rest, graphql] = [await mineBy("rest", server), await mineBy("graphql", server)];
    const told = ({ file }: typeof rest) => file.issues.map(({ edited_at }) => edited_at);
    expect([told(rest), told(graphql)]).toEqual([
      [undefined, undefined],
      [T(15), null],
    ]);
    const linted = await graphql.rig.bench("lint", graphql.result.repositories[0]?.file ?? "", "--json");
    const found = JSON.parse(linted.stdout).findings.find(({ name }: { name: string }) => name === "edited-after-fix");
    expect([found.count, found.of, found.cases]).toEqual([1, 2, ["o/r#1"]]);
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
    const rig = rigs.rig(null);
    expect((await rig.mine(["O/R"], { "github-url": without.url })).exit).toBe(0);
    expect(without.requests.some(({ method }) => method === "POST")).toBe(false);
    const old = await serve(syntheticRecording(7, 10), { graphql: false });
    const { exit, stderr } = await newRig().mine(["O/R"], { "github-url": old.url });
    expect([exit, stderr.match(/has no GraphQL API; the REST API is asked instead/g)?.length]).toEqual([0, 1]);
    expect(old.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    const asked = await newRig().mine(["O/R"], { "github-url": old.url, api: "graphql" });
    expect([asked.exit, asked.stderr]).toEqual([1, expect.stringMatching(/leave `api: graphql` out/)]);
    const noToken = await rigs.rig(null).mine(["O/R"], { "github-url": without.url, api: "graphql" });
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
