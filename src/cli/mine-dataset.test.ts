/** `bench mine --dataset`: an older mined file is completed; what it holds is not asked for again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { GitHubServer } from "../../test/rigs/github-server.js";
import { MineRig, withoutTime } from "../../test/rigs/mine-rig.js";
import { syntheticRecording } from "../../test/rigs/synthetic-recording.js";

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

const recording = syntheticRecording(21, 40);

async function serve(): Promise<GitHubServer> {
  const server = await GitHubServer.start(recording, { token: TOKEN });
  servers.push(server);
  return server;
}

// biome-ignore lint/suspicious/noExplicitAny: a mined file is changed at will here
type Loose = any;

async function mined(rig: MineRig, options: Record<string, string>, repos = ["O/R"]) {
  const result = await rig.json(repos, { "issue-limit": "0", ...options });
  expect([result.exit, result.repositories[0]?.message]).toEqual([0, undefined]);
  return { result, text: withoutTime(rig.read(result.repositories[0]?.file ?? "")) };
}

/** A mined file as the original writes it: without everything that is ours. `texts`: as its newer versions do. */
function asOriginal(text: string, texts: boolean): string {
  const file: Loose = JSON.parse(text);
  return JSON.stringify({
    project_name: file.project_name,
    github_url: file.github_url,
    mined_at: "2025-01-01T00:00:00Z",
    total_closed_issues_scanned: file.total_closed_issues_scanned,
    total_relevant_issues: file.total_relevant_issues,
    issues: file.issues.map((issue: Loose) => ({
      number: issue.number,
      title: issue.title,
      url: issue.url,
      ...(texts ? { description_message: issue.description_message || null } : {}),
      created_at: issue.created_at,
      closed_at: issue.closed_at,
      linked_merged_pull_request_urls: issue.linked_merged_pull_request_urls,
      linked_merged_pull_requests: issue.linked_merged_pull_requests.map((pull: Loose) => ({
        number: pull.number,
        title: pull.title,
        url: pull.url,
        repository: pull.repository,
        merged_at: pull.merged_at,
        impacted_files: pull.impacted_files,
        impacted_files_count: pull.impacted_files_count,
      })),
    })),
  });
}

describe.each(["rest", "graphql"])("by %s", (api) => {
  const complete = async (change: (text: string) => string, links = "closing", from = links) => {
    const server = await serve();
    const options = { "github-url": server.url, api };
    const whole = await mined(newRig(), { ...options, links });
    const start = from === links ? whole : await mined(newRig(), { ...options, links: from });
    const rig = newRig();
    writeFileSync(join(rig.folder, "old.json"), change(start.text));
    const asked = server.requests.length;
    const completed = await mined(rig, { ...options, links, dataset: "old.json" }, []);
    return {
      whole: JSON.parse(whole.text) as Loose,
      old: JSON.parse(start.text) as Loose,
      completed: JSON.parse(completed.text) as Loose,
      requests: server.requests.slice(asked),
      counted: completed.result.counts.requests,
    };
  };

  test("a whole file of ours asks nothing and gives the same cases", async () => {
    const { whole, completed, requests } = await complete((text) => text);
    expect(requests).toEqual([]);
    expect(completed.issues).toEqual(whole.issues);
    expect(completed.dataset_digest).toBe(whole.dataset_digest);
    expect(completed.notes.join()).toContain(`completed from an older mined file: its ${whole.issues.length} issues`);
  });

  test.each([true, false])(
    "the original's file (texts: %s) becomes whole: its issues alone, by the rule that is asked for",
    async (texts) => {
      const { whole, old, completed, requests, counted } = await complete(
        (text) => asOriginal(text, texts),
        "closing",
        "mentions",
      );
      const its = new Set(old.issues.map(({ number }: Loose) => number));
      expect(completed.issues).toEqual(whole.issues.filter(({ number }: Loose) => its.has(number)));
      expect(completed.issues.length).toBeGreaterThan(5);
      expect(requests.some(({ path, body }) => /\/issues\?/.test(path) || body.includes("issues("))).toBe(false);
      expect(counted).toBe(requests.length);
      if (api === "graphql") expect(requests.filter(({ method }) => method === "POST").length).toBeLessThanOrEqual(9);
    },
  );

  test("only what is missing is asked for: one file list", async () => {
    let pull = 0;
    const { whole, completed, requests } = await complete((text) => {
      const file: Loose = JSON.parse(text);
      const [link] = file.issues[0].linked_merged_pull_requests;
      pull = link.number;
      for (const one of link.files) one.status = null;
      return JSON.stringify(file);
    });
    expect(completed.issues).toEqual(whole.issues);
    // That issue's timeline, its pull request, its files and whether it was reverted; by REST a request each.
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThanOrEqual(api === "graphql" ? 3 : 4);
    const named = (text: string) => [...text.matchAll(/\/(?:pulls|issues)\/(\d+)/g)].map(([, number]) => Number(number));
    for (const number of requests.flatMap(({ path }) => named(path))) expect([pull, whole.issues[0].number]).toContain(number);
  });

  test("other rules are not the file's own: links are looked at anew", async () => {
    const server = await serve();
    const options = { "github-url": server.url, api };
    const rig = newRig();
    const { text } = await mined(rig, options);
    writeFileSync(join(rig.folder, "old.json"), text);
    const fresh = newRig();
    writeFileSync(join(fresh.folder, "old.json"), text);
    const asked = server.requests.length;
    const result = await fresh.json([], { ...options, rule: ["bots=off"], dataset: "old.json" });
    expect([result.exit, server.requests.length > asked]).toEqual([0, true]);
  });
});

test("a file that is none, of another repository, or with several repositories is refused", async () => {
  const rig = newRig();
  writeFileSync(join(rig.folder, "bad.json"), "{");
  await expect(rig.mine([], { dataset: "bad.json" })).rejects.toThrow(/not valid JSON/);
  await expect(rig.mine([], { dataset: "none.json" })).rejects.toThrow(/can't be read/);
  await expect(rig.mine(["a/b", "c/d"], { dataset: "bad.json" })).rejects.toThrow(/one repository/);
  await expect(rig.mine([], {})).rejects.toThrow(/--dataset FILE/);
  writeFileSync(join(rig.folder, "old.json"), JSON.stringify({ project_name: "o/r", issues: [] }));
  const { exit, stderr } = await rig.mine(["a/b"], { dataset: "old.json" });
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/is of o\/r, and repo: names a\/b/)]);
});
