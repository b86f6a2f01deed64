/**
 * Both APIs give the same data set: the local server answers REST and GraphQL from one recording, validates each query against GitHub's
 * published schema, and executes it by graphql-js.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { fromAssembled } from "../../test/rigs/assembled-recording.js";
import { GitHubServer, type GitHubServerOptions } from "../../test/rigs/github-server.js";
import { MineRig, withoutTime } from "../../test/rigs/mine-rig.js";
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
  expect(closed.flatMap(({ mistakes }) => mistakes)).toEqual([]);
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

interface MinedFile {
  dataset_digest: string;
  audit: { rule: string; removed: number; items: string[] }[];
  issues: {
    number: number;
    best_grade: string;
    strata: object;
    linked_merged_pull_requests: { link?: object; number: number }[];
  }[];
}

async function mineBy(api: string, server: GitHubServer, more: Record<string, string> = {}, repo = "O/R") {
  const rig = newRig();
  const from = server.requests.length;
  const result = await rig.json([repo], { "github-url": server.url, "issue-limit": "0", api, ...more });
  expect([result.exit, result.stderr]).toEqual([0, expect.any(String)]);
  const text = withoutTime(rig.read(result.repositories[0]?.file ?? ""));
  return { rig, result, text, file: JSON.parse(text) as MinedFile, requests: server.requests.slice(from) };
}

/** What may differ: how sure a link is and why, and what is made of that. Everything else is the same. */
function common(file: MinedFile): unknown {
  return {
    ...file,
    dataset_digest: "",
    issues: file.issues.map((issue) => ({
      ...issue,
      best_grade: "",
      strata: {},
      linked_merged_pull_requests: issue.linked_merged_pull_requests.map((pull) => ({ ...pull, link: {} })),
    })),
  };
}

describe("both APIs give the same data set", () => {
  test.each([1, 2, 3])("of an invented repository (%i), but for grades and evidence", async (seed) => {
    const server = await serve(syntheticRecording(seed, 60));
    const [rest, graphql] = [await mineBy("rest", server), await mineBy("graphql", server)];
    expect(rest.file.issues.length).toBeGreaterThan(5);
    expect(common(graphql.file)).toEqual(common(rest.file));
    expect(rest.requests.some(({ method }) => method === "POST")).toBe(false);
    expect(graphql.requests.filter(({ path }) => !/^\/graphql|\/files/.test(path))).toEqual([]);
  });

  test("byte for byte under mentions, where no grade hangs on what only GraphQL tells", async () => {
    const server = await serve(syntheticRecording(4, 60));
    const links = { links: "mentions" };
    expect((await mineBy("graphql", server, links)).text).toBe((await mineBy("rest", server, links)).text);
  });

  test("where every grade is looked for", async () => {
    const server = await serve(syntheticRecording(5, 60));
    const links = { links: "closing,mention,manual" };
    const [rest, graphql] = [await mineBy("rest", server, links), await mineBy("graphql", server, links)];
    expect(common(graphql.file)).toEqual(common(rest.file));
  });
});

const assembled = resolve(import.meta.dirname, "../../../shared/data/github/json-java.json");
describe.skipIf(!existsSync(assembled))("JSON-java", () => {
  test("issue by issue the same under closing and mentions", async () => {
    const server = await serve(whole(fromAssembled(JSON.parse(readFileSync(assembled, "utf8")))));
    for (const links of ["closing", "mentions"]) {
      const [rest, graphql] = [
        await mineBy("rest", server, { links }, "stleary/JSON-java"),
        await mineBy("graphql", server, { links }, "stleary/JSON-java"),
      ];
      expect(common(graphql.file)).toEqual(common(rest.file));
      expect(graphql.requests.length).toBeLessThan(rest.requests.length);
      console.info(
        links,
        rest.file.issues.length,
        graphql.file.issues.length,
        rest.requests.length,
        graphql.requests.length,
        rest.file.audit.map(({ rule, removed }) => `${rule}:${removed}`).join(" "),
      );
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
void [closedEvent, named, smallRecording, T];
