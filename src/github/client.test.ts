/** The client against a real local server that misbehaves: every fault ends in the right outcome and the right number of requests. */
import { afterEach, describe, expect, test } from "vitest";
import { type Fault, GitHubServer, type GitHubServerOptions } from "../../test/rigs/github-server.js";
import { smallRecording } from "../../test/rigs/small-recording.js";
import { type StageToolsRig, stageToolsRig } from "../../test/rigs/stage-tools.js";
import { type ClientOptions, type GitHubClient, openClient } from "./client.js";
import { LimitState } from "./limits.js";

const TOKEN = "ghp_thisMustNeverBeSeen1234567890";
const recording = smallRecording({ issues: Array.from({ length: 250 }, (_, i) => ({ number: i + 1 })) });
const LIST = "/repos/{owner}/{repo}/issues";
const QUERY = { owner: "o", repo: "r", state: "closed", per_page: 100 };

const servers: GitHubServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Rig {
  readonly server: GitHubServer;
  readonly tools: StageToolsRig;
  readonly state: LimitState;
  readonly client: GitHubClient;
  open(more?: Partial<ClientOptions>): Promise<GitHubClient>;
}

async function rig(
  serverOptions: GitHubServerOptions = {},
  toolOptions: Parameters<typeof stageToolsRig>[0] = {},
  more: Partial<ClientOptions> = {},
): Promise<Rig> {
  const server = await GitHubServer.start(recording, { token: TOKEN, ...serverOptions });
  servers.push(server);
  const tools = stageToolsRig(toolOptions);
  const state = new LimitState();
  const open = (other: Partial<ClientOptions> = {}) =>
    openClient({
      api: server.url,
      token: TOKEN,
      userAgent: "test",
      world: tools,
      state,
      resource: "github",
      send: fetch,
      store: null,
      refresh: false,
      offline: false,
      limits: { timeout: 10_000, ...more.limits },
      ...more,
      ...other,
    });
  return { server, tools, state, open, client: await open() };
}

const signal = () => new AbortController().signal;
/** The fault for the first `times` requests. */
const first =
  (fault: Fault, times = 1) =>
  (_: unknown, attempt: number) =>
    attempt <= times ? fault : null;

test("sends version, accept and token, and pages by a hundred", async () => {
  const { client, server, tools } = await rig();
  const all = await client.askAll(LIST, QUERY, 10, signal());
  expect(all.ok && all.value.elements).toHaveLength(250);
  expect(server.requests).toHaveLength(3);
  expect(tools.counts.requests).toBe(3);
  const headers: Readonly<Record<string, string | undefined>> = server.requests[0]?.headers ?? {};
  expect(headers["x-github-api-version"]).toBe("2022-11-28");
  expect(headers.accept).toBe("application/vnd.github+json");
  expect(headers["user-agent"]).toContain("test");
});

describe("asks again after", () => {
  const cases: [string, Fault, number][] = [
    ["502", { type: "status", status: 502 }, 2],
    ["a reset before the answer", { type: "reset", at: "start" }, 1],
    ["a reset within the body", { type: "reset", at: "body" }, 1],
    ["a page of HTML with 502", { type: "html", status: 502 }, 1],
    ["a page of HTML with 200", { type: "html", status: 200 }, 1],
    ["a body cut short", { type: "truncated" }, 1],
    ["an empty body", { type: "empty" }, 1],
    ["a secondary limit with retry-after", { type: "secondary-limit", status: 403, retryAfter: 3 }, 1],
    ["a secondary limit without", { type: "secondary-limit", status: 429 }, 1],
    ["the primary limit", { type: "primary-limit", reset: 30 }, 1],
  ];
  test.each(cases)("%s", async (_, fault, times) => {
    const { client, server, tools } = await rig({ script: first(fault, times) });
    const page = await client.ask(LIST, QUERY, signal());
    expect(page.ok && page.value.data).toHaveLength(100);
    expect(server.requests).toHaveLength(times + 1);
    expect(tools.counts.requests).toBe(times + 1);
  });
});

test("takes JSON of a wrong type", async () => {
  const { client, server } = await rig({ script: first({ type: "wrong-type" }) });
  expect((await client.ask(LIST, QUERY, signal())).ok).toBe(true);
  expect(server.requests).toHaveLength(1);
});

test("gives up after six attempts, says so, and that a later run may succeed", async () => {
  const { client, server, tools } = await rig({ script: () => ({ type: "status", status: 502 }) });
  const page = await client.ask(LIST, QUERY, signal());
  expect(page).toMatchObject({ ok: false, error: { type: "failed", again: true } });
  expect(!page.ok && page.error.message).toMatch(/502.*6 attempts/);
  expect(server.requests).toHaveLength(6);
  // Doubling from a second, with jitter of half.
  expect(tools.sleeps).toEqual([750, 1500, 3000, 6000, 12_000]);
});

test("a server that never answers is left after the time-out", async () => {
  const { client, server } = await rig({ script: () => ({ type: "silent" }) }, {}, { limits: { timeout: 50, attempts: 2 } });
  const page = await client.ask(LIST, QUERY, signal());
  expect(!page.ok && page.error.message).toContain("no answer within");
  expect(server.requests).toHaveLength(2);
});

test.each([
  [401, "token was refused"],
  [404, "does not exist"],
  [410, "does not exist"],
  [422, "refused the request"],
])("%d is not repeated", async (status, words) => {
  const { client, server } = await rig({ script: () => ({ type: "status", status }) });
  const page = await client.ask(LIST, QUERY, signal());
  expect(!page.ok && page.error.message).toContain(words);
  expect(server.requests).toHaveLength(1);
});

describe("limits", () => {
  test("shows until when it waits, and that it goes on", async () => {
    const { client, tools } = await rig({ script: first({ type: "secondary-limit", status: 403, retryAfter: 5 }) });
    const before = tools.clock.now();
    await client.ask(LIST, QUERY, signal());
    const [wait, on] = tools.waits;
    expect(wait?.resource).toBe("github");
    expect(wait?.until).toBeGreaterThanOrEqual(before + 5000);
    expect(wait?.why).toContain("secondary");
    expect(on).toMatchObject({ until: null });
  });

  test("a second limit right behind the first is waited for too", async () => {
    const { client, tools } = await rig({ script: first({ type: "secondary-limit", status: 429, retryAfter: 1 }, 3) });
    expect((await client.ask(LIST, QUERY, signal())).ok).toBe(true);
    expect(tools.sleeps).toEqual([1500, 1500, 1500]);
  });

  test("longer than may be waited for: stops, names the time, and nothing is sent meanwhile", async () => {
    const { client, server, tools } = await rig({ script: () => ({ type: "primary-limit", reset: 3600 }) });
    const page = await client.ask(LIST, QUERY, signal());
    expect(page).toMatchObject({ ok: false, error: { type: "limit" } });
    const resumeAt = !page.ok && page.error.type === "limit" ? page.error.resumeAt : 0;
    expect(resumeAt - tools.clock.now()).toBeGreaterThan(3_590_000);
    expect(await client.ask(LIST, { ...QUERY, page: 2 }, signal())).toMatchObject({ ok: false, error: { type: "limit" } });
    expect(server.requests).toHaveLength(1);
    expect(tools.sleeps).toEqual([]);
  });

  test("a limit that never ends stops once it has cost as much as may be waited", async () => {
    const { client, tools } = await rig(
      { script: () => ({ type: "secondary-limit", status: 429, retryAfter: 100 }) },
      { maxWait: 250_000 },
    );
    expect(await client.ask(LIST, QUERY, signal())).toMatchObject({ ok: false, error: { type: "limit" } });
    expect(tools.sleeps.length).toBe(2);
  });

  test("requests that meet one limit together wait once, and people are told once", async () => {
    // A clock that stands until all five sleep.
    let now = Date.UTC(2026, 0, 1);
    const sleepers: { until: number; wake: () => void }[] = [];
    const clock = {
      now: () => now,
      sleep: (milliseconds: number) =>
        new Promise<void>((wake) => {
          sleepers.push({ until: now + milliseconds, wake });
          if (sleepers.length < 5) return;
          now = Math.max(...sleepers.map(({ until }) => until));
          for (const sleeper of sleepers.splice(0)) sleeper.wake();
        }),
    };
    const limited: GitHubServerOptions = {
      script: ({ index }) => (index < 5 ? { type: "secondary-limit", status: 429, retryAfter: 30 } : null),
    };
    const { client, server, tools } = await rig(limited, { clock });
    const asked = await Promise.all([1, 2, 3, 4, 5].map((page) => client.ask(LIST, { ...QUERY, page }, signal())));
    expect(asked.every(({ ok }) => ok)).toBe(true);
    expect(server.requests).toHaveLength(10);
    expect(tools.waits.map(({ until }) => until)).toEqual([expect.any(Number), null]);
  });

  test("an interrupt ends the wait at once", async () => {
    const controller = new AbortController();
    const clock = {
      now: () => Date.now(),
      sleep: (_: number, given?: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          given?.addEventListener("abort", () => reject(given.reason));
          controller.abort(new Error("stopped by hand"));
        }),
    };
    const { client } = await rig({ script: () => ({ type: "primary-limit", reset: 60 }) }, { clock });
    await expect(client.ask(LIST, QUERY, controller.signal)).rejects.toThrow("stopped by hand");
  });

  test("an interrupt ends a request under way", async () => {
    const controller = new AbortController();
    const { client, server } = await rig({ hold: () => true });
    const asking = client.ask(LIST, QUERY, controller.signal);
    await server.whenHeld();
    controller.abort(new Error("stopped by hand"));
    await expect(asking).rejects.toThrow("stopped by hand");
    server.release();
  });

  test("reports what is left, slows down near the end, and waits at zero instead of running into it", async () => {
    const left = [3, 2, 1, 0, 4000];
    const reset = Math.floor(Date.now() / 1000) + 12;
    const seen: unknown[] = [];
    const { client, server, tools } = await rig(
      {
        script: ({ index }) => ({
          type: "headers",
          headers: {
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": String(left[index]),
            "x-ratelimit-reset": String(reset),
          },
        }),
      },
      { limit: (resource, facts) => void seen.push([resource, facts.left, facts.of]) },
    );
    for (let page = 1; page <= 5; page++) expect((await client.ask(LIST, { ...QUERY, page }, signal())).ok).toBe(true);
    expect(seen).toEqual(left.map((n) => ["github", n, 5000]));
    expect(server.requests).toHaveLength(5);
    expect(tools.waits.map(({ why }) => why).filter((why) => why.includes("slowing down")).length).toBeGreaterThanOrEqual(2);
    expect(tools.waits.some(({ why }) => why.includes("used up"))).toBe(true);
  });
});

describe("paging links", () => {
  test.each([
    ["to another server", '<http://elsewhere.example/issues?page=2>; rel="next"', "another server"],
    ["without a page", '<?state=closed>; rel="next"', "names no page"],
    ["in a circle", '<?page=1>; rel="next"', /circle|repeats/],
  ])("%s", async (_, link, words) => {
    const { client, server } = await rig({ script: () => ({ type: "link", link }) });
    const all = await client.askAll(LIST, QUERY, 100, signal());
    expect(all.ok).toBe(false);
    if (!all.ok) expect(all.error.message).toMatch(words);
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });

  test("without end: cut at the most pages that make sense, and noticed as soon as pages repeat", async () => {
    const endless: GitHubServerOptions = { script: ({ index }) => ({ type: "link", link: `<?page=${index + 2}>; rel="next"` }) };
    expect(await (await rig(endless)).client.askAll(LIST, QUERY, 3, signal())).toMatchObject({ ok: true, value: { cut: true } });
    const { client, server } = await rig(endless);
    const all = await client.askAll(LIST, QUERY, 1000, signal());
    expect(!all.ok && all.error.message).toContain("repeats");
    // Three pages of issues, and two empty ones.
    expect(server.requests).toHaveLength(5);
  });
});

describe("redirects", () => {
  test("on the same server are followed (a renamed repository)", async () => {
    const { client, server } = await rig({
      script: ({ path }) =>
        path.includes("/repos/o/old/") ? { type: "redirect", status: 301, location: path.replace("/o/old/", "/o/r/") } : null,
    });
    const page = await client.ask(LIST, { ...QUERY, repo: "old" }, signal());
    expect(page.ok && page.value.data).toHaveLength(100);
    expect(server.requests).toHaveLength(2);
  });

  test("to another server are not: the token stays here", async () => {
    const other = await GitHubServer.start(recording);
    servers.push(other);
    const { client } = await rig({ script: ({ path }) => ({ type: "redirect", status: 302, location: `${other.url}${path}` }) });
    const page = await client.ask(LIST, QUERY, signal());
    expect(!page.ok && page.error.message).toContain("another server");
    expect(other.requests).toHaveLength(0);
  });
});

describe("kept answers", () => {
  const store = (tools: StageToolsRig) => ({
    memory: tools.memory("github-etags"),
    putBytes: tools.putBytes,
    getBytes: tools.getBytes,
  });

  test("are not asked for twice, also by a client of the next run", async () => {
    const { server, tools, open } = await rig();
    const before = await (await open({ store: store(tools) })).askAll(LIST, QUERY, 10, signal());
    const after = await (await open({ store: store(tools) })).askAll(LIST, QUERY, 10, signal());
    expect(after).toEqual(before);
    expect(server.requests).toHaveLength(3);
    expect(tools.counts.requests_saved).toBe(3);
  });

  test("are confirmed by 304 on refresh", async () => {
    const { server, tools, open } = await rig();
    const before = await (await open({ store: store(tools) })).askAll(LIST, QUERY, 10, signal());
    const after = await (await open({ store: store(tools), refresh: true })).askAll(LIST, QUERY, 10, signal());
    expect(after).toEqual(before);
    expect(server.requests).toHaveLength(6);
    expect(server.requests.slice(3).every(({ headers }) => headers["if-none-match"] !== undefined)).toBe(true);
  });

  test("are asked for again when their bytes are gone", async () => {
    const { server, tools, open } = await rig();
    await (await open({ store: store(tools) })).ask(LIST, QUERY, signal());
    const broken = { ...store(tools), getBytes: () => Promise.reject(new Error("damaged")) };
    for (const refresh of [false, true])
      expect((await (await open({ store: broken, refresh })).ask(LIST, QUERY, signal())).ok).toBe(true);
    expect(server.requests).toHaveLength(3);
    expect(server.requests.at(-1)?.headers["if-none-match"]).toBeUndefined();
  });

  test("hold no token", async () => {
    const written: string[] = [];
    const { tools, open } = await rig();
    const { memory, putBytes, getBytes } = store(tools);
    const spy = {
      memory: {
        get: memory.get,
        set: (key: string, value: Parameters<typeof memory.set>[1]) => {
          written.push(key, JSON.stringify(value));
          return memory.set(key, value);
        },
      },
      putBytes: (bytes: Uint8Array) => {
        written.push(Buffer.from(bytes).toString("utf8"));
        return putBytes(bytes);
      },
      getBytes,
    };
    await (await open({ store: spy })).ask(LIST, QUERY, signal());
    expect(written.length).toBe(3);
    expect(written.join("\n")).not.toContain(TOKEN);
  });
});

test("offline says what would have been asked", async () => {
  const { server, open } = await rig();
  const page = await (await open({ offline: true })).ask(LIST, QUERY, signal());
  expect(!page.ok && page.error.message).toMatch(/\/repos\/o\/r\/issues.*--offline/);
  expect(server.requests).toHaveLength(0);
});

test("the same request at the same time is sent once; one that was interrupted leaves the other to ask itself", async () => {
  const { client, server } = await rig({ hold: ({ index }) => index === 0 });
  const controller = new AbortController();
  const one = client.ask(LIST, QUERY, controller.signal);
  const other = client.ask(LIST, QUERY, signal());
  await server.whenHeld();
  expect(server.requests).toHaveLength(1);
  controller.abort(new Error("stopped"));
  await expect(one).rejects.toThrow("stopped");
  expect((await other).ok).toBe(true);
  expect(server.requests).toHaveLength(2);
});

test("an answer larger than any of GitHub's is refused", async () => {
  const { client, server } = await rig(
    { script: () => ({ type: "body", body: `["${"x".repeat(2_000_000)}"]` }) },
    {},
    { limits: { maxBytes: 1_000_000 } },
  );
  const page = await client.ask(LIST, QUERY, signal());
  expect(page).toMatchObject({ ok: false, error: { type: "failed", again: false } });
  expect(server.requests).toHaveLength(1);
});

test("no message, warning or wait holds the token, whatever happens", async () => {
  const faults: Fault[] = [
    { type: "status", status: 401 },
    { type: "status", status: 403, body: `{"message":"Bad token ${TOKEN}"}` },
    { type: "status", status: 404 },
    { type: "status", status: 502 },
    { type: "reset", at: "start" },
    { type: "html", status: 200 },
    { type: "primary-limit", reset: 9999 },
    { type: "redirect", status: 302, location: "http://elsewhere.example/" },
    { type: "link", link: "<http://elsewhere.example/?page=2>; rel=next" },
  ];
  for (const fault of faults) {
    const { client, tools } = await rig({ script: () => fault });
    const page = await client.ask(LIST, QUERY, signal());
    expect(page.ok).toBe(false);
    expect(JSON.stringify([page, tools.warnings, tools.waits])).not.toContain(TOKEN);
  }
});
