/** Limits, interruptions and GraphQL's own ways to fail, each over the whole of mining: the data set stays the same, and nothing answered is asked again. */
import { afterEach, describe, expect, test } from "vitest";
import { ApiRigs } from "../../test/rigs/api-rigs.js";
import type { GitHubServerOptions } from "../../test/rigs/github-server.js";
import { commonToApis, withoutTime } from "../../test/rigs/mine-rig.js";
import { T } from "../../test/rigs/small-recording.js";
import { syntheticRecording } from "../../test/rigs/synthetic-recording.js";

const rigs = new ApiRigs();
afterEach(() => rigs.end());
const serve = rigs.serve.bind(rigs);
const mineBy = rigs.mineBy.bind(rigs);
const newRig = () => rigs.rig();

describe("interruptions", () => {
  test.each(["rest", "graphql"])("by limits at ten places give the same data set (%s)", async (api) => {
    const recording = syntheticRecording(9, api === "rest" ? 20 : 140);
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
  const faulty = async (script: GitHubServerOptions["script"], api = "graphql") => {
    const whole = await mineBy("graphql", await serve(recording));
    const server = await serve(recording, script === undefined ? {} : { script });
    const rig = newRig();
    const result = await rig.json(["O/R"], { "github-url": server.url, "issue-limit": "0", api });
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

  test("an older server whose schema lacks a field is asked by REST", async () => {
    const { whole, result, text, posts } = await faulty(
      ({ body }) =>
        body.includes("userLinkedOnly")
          ? {
              type: "graphql",
              change: () => ({
                errors: [
                  {
                    path: ["query", "n0", "issue", "closedByPullRequestsReferences", "userLinkedOnly"],
                    extensions: { code: "argumentNotAccepted", name: "closedByPullRequestsReferences" },
                    message: "Field 'closedByPullRequestsReferences' doesn't accept argument 'userLinkedOnly'",
                  },
                ],
              }),
            }
          : null,
      "auto",
    );
    expect(result.stderr.match(/lacks what is asked for .*; the REST API is asked instead/g)).toHaveLength(1);
    expect(posts.length).toBeLessThanOrEqual(1 + 2);
    expect(commonToApis(JSON.parse(text ?? ""))).toEqual(commonToApis(JSON.parse(whole.text)));
  });

  test("an issue that was transferred away is gone, whatever number it has now", async () => {
    const { result, text } = await faulty((request) =>
      isBatch(request) && /n0: repository[^{]*\{ issue/.test(request.body)
        ? {
            type: "graphql",
            change: ({ data }) => {
              const { n0, ...others } = data as Record<string, { issue: object }>;
              return { data: { ...others, n0: { issue: { ...n0?.issue, number: 9999 } } } };
            },
          }
        : null,
    );
    expect(result.exit).toBe(0);
    expect(JSON.parse(text ?? "").audit).toContainEqual(expect.objectContaining({ rule: "issue-gone" }));
  });
});
