/** `bench mine` over the real engine and cache against a local server: what is written, what it costs, how it stops and goes on. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Fault, GitHubServer, type GitHubServerOptions } from "../../test/rigs/github-server.js";
import { MineRig, withoutTime } from "../../test/rigs/mine-rig.js";
import { closedEvent, named, smallRecording } from "../../test/rigs/small-recording.js";
import { syntheticRecording } from "../../test/rigs/synthetic-recording.js";
import type { Recording } from "../github/recording.js";

const TOKEN = "ghp_thisMustNeverBeSeen1234567890";
const rigs: MineRig[] = [];
const servers: GitHubServer[] = [];
let rig: MineRig;
beforeEach(() => {
  rig = newRig();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  for (const old of rigs.splice(0)) old.remove();
});

function newRig(token: string | undefined = TOKEN): MineRig {
  const made = new MineRig(token);
  // What is special to REST, and what is common to both; GraphQL has its own tests beside.
  made.defaults = { api: "rest" };
  rigs.push(made);
  return made;
}

async function serve(recording: Recording, options: GitHubServerOptions = {}): Promise<GitHubServer> {
  const server = await GitHubServer.start(recording, { token: TOKEN, ...options });
  servers.push(server);
  return server;
}

/** Two issues: one closed by a pull request, one that a pull request merely names. */
const small = smallRecording({
  issues: [
    { number: 1, body: "It breaks.", labels: ["bug"], timeline: [named(11), closedEvent()] },
    { number: 2, timeline: [named(12), closedEvent()] },
  ],
  pulls: [
    {
      number: 11,
      body: "Fixes #1",
      files: [
        { filename: "src/A.java", status: "modified", additions: 3, deletions: 1 },
        { filename: "src/B.java", status: "renamed", previous_filename: "src/Old.java", additions: 0, deletions: 0 },
        { filename: "README.md", status: "added", additions: 1, deletions: 0 },
      ],
    },
    { number: 12 },
  ],
});
const synthetic = syntheticRecording(7, 30);
/** What two minings of one repository have in common: the file without its time. */
const minedText = (from: MineRig) => withoutTime(from.read(`mined_projects/${mined(from)}`));
const mined = (from: MineRig) => from.minedFiles().filter((name) => !name.includes("__audit"))[0] ?? "";

describe("the mined file", () => {
  test("has the original's members in the original's meaning, and ours beside them", async () => {
    const server = await serve(small);
    const result = await rig.json(["O/R"], { "github-url": server.url });
    expect(result).toMatchObject({ exit: 0, repositories: [{ repository: "O/R", state: "done", kept: 1, scanned: 2 }] });
    expect(result.repositories[0]?.file).toMatch(/^mined_projects\/o__r__\d{8}T\d{6}Z\.json$/);
    const file = JSON.parse(rig.read(result.repositories[0]?.file ?? ""));
    expect(file).toMatchObject({
      project_name: "o/r",
      github_url: "https://github.com/O/R",
      total_closed_issues_scanned: 2,
      total_relevant_issues: 1,
      schema_version: 3,
      links: "closing",
    });
    expect(Date.parse(file.mined_at)).not.toBeNaN();
    expect(file.issues).toHaveLength(1);
    expect(file.issues[0]).toMatchObject({
      number: 1,
      title: "issue 1",
      description_message: "It breaks.",
      url: "https://github.com/O/R/issues/1",
      labels: ["bug"],
      linked_merged_pull_request_urls: ["https://github.com/O/R/pull/11"],
      linked_merged_pull_requests: [
        {
          number: 11,
          repository: "o/r",
          impacted_files: ["src/A.java", "src/B.java", "README.md"],
          impacted_files_count: 3,
          link: { grade: "keyword" },
          base_commit: expect.stringMatching(/^[0-9a-f]{40}$/),
          merge_commit: expect.stringMatching(/^[0-9a-f]{40}$/),
          files: [
            { path: "src/A.java", status: "modified", role: "source" },
            { path: "src/B.java", status: "renamed", previous_path: "src/Old.java" },
            { path: "README.md", status: "added", role: "docs" },
          ],
        },
      ],
    });
  });

  test("is the same but for its time whenever and wherever it is mined", async () => {
    const server = await serve(synthetic);
    const other = newRig();
    await rig.mine(["O/R"], { "github-url": server.url, "issue-limit": "0" });
    await other.mine(["https://github.com/O/R.git"], { "github-url": server.url, "issue-limit": "0" });
    expect(minedText(other)).toBe(minedText(rig));
  });

  test("of another rule in the same second stands beside the first", async () => {
    const server = await serve(small);
    const out = rig.folder;
    const at = (name: string) => JSON.parse(rig.read(name));
    const [one, two] = [
      await rig.json(["O/R"], { "github-url": server.url, out }),
      await rig.json(["O/R"], { "github-url": server.url, out, links: "mentions" }),
    ];
    const files = [one, two].map(({ repositories }) => repositories[0]?.file ?? "");
    expect(new Set(files).size).toBe(2);
    expect(files.map((file) => at(file).links)).toEqual(["closing", "mentions"]);
    expect(at(files[1] ?? "").total_relevant_issues).toBe(2);
  });

  test("--extensions selects targets and leaves impacted_files as they are", async () => {
    const server = await serve(small);
    const { repositories } = await rig.json(["O/R"], { "github-url": server.url, extensions: ".java" });
    const [issue] = JSON.parse(rig.read(repositories[0]?.file ?? "")).issues;
    expect(issue.targets.map(({ path }: { path: string }) => path)).toEqual(["src/A.java", "src/Old.java"]);
    expect(issue.linked_merged_pull_requests[0].impacted_files).toHaveLength(3);
    expect(repositories[0]?.dropped).toContainEqual(expect.objectContaining({ rule: "extensions", removed: 1 }));
  });
});

describe("requests", () => {
  const pipeline = (url: string) => `name: p
stages:
  issues: { uses: fetch-issues, with: { repo: o/r, limit: 0, github_url: "${url}", api: rest } }
  links: { uses: resolve-timeline-prs, needs: issues, with: { api: rest } }
  files: { uses: fetch-pr-files, needs: links, with: { api: rest } }
  dataset: { uses: build-dataset, needs: [issues, links, files], with: { extensions: [.java], links: closing } }
`;

  test("a pipeline on the same repository makes none after mining, and mining makes none after a pipeline", async () => {
    const server = await serve(synthetic);
    writeFileSync(join(rig.folder, "pipelines/p.yaml"), pipeline(server.url));
    const first = await rig.json(["O/R"], { "github-url": server.url, "issue-limit": "0" });
    expect(first.counts.requests).toBe(server.requests.length);
    const asked = server.requests.length;
    const ran = await rig.bench("run", "pipelines/p.yaml", "--json");
    expect([ran.exit, JSON.parse(ran.stdout).counts.requests, server.requests.length]).toEqual([0, 0, asked]);
    const again = await rig.json(["o/r"], { "github-url": server.url, "issue-limit": "0" });
    expect([again.exit, again.counts.requests, server.requests.length]).toEqual([0, 0, asked]);

    const other = newRig();
    writeFileSync(join(other.folder, "pipelines/p.yaml"), pipeline(server.url));
    await other.bench("run", "pipelines/p.yaml");
    const then = server.requests.length;
    const after = await other.json(["O/R"], { "github-url": server.url, "issue-limit": "0" });
    expect([after.exit, after.counts.requests, server.requests.length]).toEqual([0, 0, then]);
  });

  test("a larger limit asks only for what is missing; unmerged pull requests cost no files", async () => {
    const server = await serve(syntheticRecording(3, 110));
    await rig.mine(["O/R"], { "github-url": server.url, "issue-limit": "20" });
    await rig.mine(["O/R"], { "github-url": server.url, "issue-limit": "0" });
    const paths = server.requests.map(({ path }) => path);
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
    expect(server.count("/issues/") + server.count("/pulls/")).toBeGreaterThan(110);
    const unmerged = syntheticRecording(3, 110).pulls.filter(({ merged_at }) => merged_at === null);
    expect(unmerged.length).toBeGreaterThan(0);
    for (const { number } of unmerged) expect(server.count(`/pulls/${number}/files`)).toBe(0);
  });

  test("--refresh asks conditionally, and what has not changed gives the same file", async () => {
    const server = await serve(synthetic);
    const { repositories } = await rig.json(["O/R"], { "github-url": server.url, "issue-limit": "0" });
    const before = withoutTime(rig.read(repositories[0]?.file ?? ""));
    const asked = server.requests.length;
    const second = await rig.json(["O/R"], { "github-url": server.url, "issue-limit": "0", refresh: true });
    expect(withoutTime(rig.read(second.repositories[0]?.file ?? ""))).toBe(before);
    const again = server.requests.slice(asked);
    expect(again.length).toBeGreaterThan(30);
    expect(again.every(({ headers }) => headers["if-none-match"] !== undefined)).toBe(true);
  });

  test("are told with what is left and the reset; progress lines come every n issues", async () => {
    const reset = Math.floor(Date.now() / 1000) + 1800;
    const headers = { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4321", "x-ratelimit-reset": String(reset) };
    const server = await serve(synthetic, { script: () => ({ type: "headers", headers }) });
    const { stdout, stderr, exit } = await rig.mine(["O/R"], { "github-url": server.url, "progress-every": "10" });
    expect(exit).toBe(0);
    expect(stderr).toContain(`${server.requests.length} requests made`);
    expect(stderr).toMatch(/4321 of 5000 requests left until \d{4}-/);
    expect(stderr.match(/O\/R: \d+ issues scanned/g)).toHaveLength(3);
    expect(stdout).toMatch(/O\/R: \d+ of 30 closed issues kept \(links: closing\)/);
    expect(stdout).toMatch(/ no-accepted-link /);
    const quiet = await newRig().mine(["O/R"], { "github-url": server.url, quiet: true });
    expect(quiet.stderr).toBe("");
  });
});

describe("several repositories", () => {
  test("a bad one does not stop the others, and each is mined once", async () => {
    const server = await serve(small);
    const { stderr, stdout, exit } = await rig.mine(["no/such", "nonsense", "O/R", "https://github.com/o/r"], {
      "github-url": server.url,
    });
    expect(exit).toBe(1);
    expect(stderr).toMatch(/failed: no\/such: GET \/repos\/no\/such\/issues does not exist/);
    expect(stderr).toMatch(/failed: nonsense: "nonsense" is not a valid repository/);
    expect(stdout.match(/closed issues kept/g)).toHaveLength(1);
    expect(rig.minedFiles().filter((name) => name.startsWith("o__r"))).toHaveLength(2);
  });

  test("one that a limit stopped makes it 75, and the next command goes on", async () => {
    let limited = true;
    const server = await serve(small, {
      script: ({ path }) => (limited && path.includes("/files") ? { type: "primary-limit", reset: 7200 } : null),
    });
    const first = await rig.json(["no/such", "O/R"], { "github-url": server.url, "max-wait": "1m" });
    expect(first).toMatchObject({ exit: 75, repositories: [{ state: "failed" }, { state: "stopped", file: null }] });
    const resumeAt = Date.parse(first.resume_at ?? "");
    expect(resumeAt - Date.now()).toBeGreaterThan(7_100_000);
    expect(first.stderr).toContain(`Go on from ${first.resume_at} with the same command`);
    limited = false;
    rig.slept = 0;
    const second = await rig.json(["O/R"], { "github-url": server.url });
    expect(second).toMatchObject({ exit: 0, repositories: [{ state: "done", kept: 1 }] });
    const answered = server.requests.map(({ path }) => path).filter((path) => !path.includes("no/such"));
    const twice = answered.filter((path, index) => answered.indexOf(path) !== index);
    expect(twice.every((path) => path.includes("/files"))).toBe(true);
  });
});

describe("faults", () => {
  const STORM: readonly Fault[] = [
    { type: "status", status: 502 },
    { type: "reset", at: "start" },
    { type: "reset", at: "body" },
    { type: "truncated" },
    { type: "empty" },
    { type: "html", status: 200 },
    { type: "secondary-limit", status: 429, retryAfter: 2 },
    { type: "secondary-limit", status: 403 },
    { type: "primary-limit", reset: 20 },
  ];

  test("a storm of them changes nothing but the number of requests", async () => {
    await rig.mine(["O/R"], { "github-url": (await serve(synthetic)).url });
    const stormy = await serve(synthetic, {
      script: ({ index }, attempt) => (attempt <= 2 ? (STORM[index % STORM.length] ?? null) : null),
    });
    const other = newRig();
    expect((await other.mine(["O/R"], { "github-url": stormy.url, "max-wait": "1d" })).exit).toBe(0);
    expect(minedText(other)).toBe(minedText(rig));
    expect(other.slept).toBeGreaterThan(20_000);
  });

  test.each(STORM.slice(-3))(
    "%j after any number of requests and no time to wait: stops, goes on, asks nothing twice",
    async (fault) => {
      const whole = await serve(small);
      await rig.mine(["O/R"], { "github-url": whole.url });
      for (let stopAt = 0; stopAt < whole.requests.length; stopAt++) {
        const server = await serve(small, { script: ({ index }) => (index === stopAt ? fault : null) });
        const other = newRig();
        expect((await other.mine(["O/R"], { "github-url": server.url, "max-wait": "1s" })).exit).toBe(75);
        other.slept = 0;
        // A minute passes for what must be waited for.
        expect((await other.mine(["O/R"], { "github-url": server.url, "max-wait": "5m" })).exit).toBe(0);
        const answered = server.requests.filter(({ index }) => index !== stopAt).map(({ path }) => path);
        expect(answered.filter((path, index) => answered.indexOf(path) !== index)).toEqual([]);
        expect(minedText(other)).toBe(minedText(rig));
      }
    },
  );

  test("Ctrl-C ends a wait at once", async () => {
    const server = await serve(small, { script: () => ({ type: "primary-limit", reset: 600 }) });
    const controller = new AbortController();
    rig.onSleep = () => controller.abort(new Error("interrupted"));
    const { exit, stderr } = await rig.mine(["O/R", "o/other"], { "github-url": server.url }, controller.signal);
    expect(exit).toBe(130);
    expect(stderr).toMatch(/waiting until .*\n.*nothing is lost/s);
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });

  test("issues whose files can't be had keep the repository from being written, and the next command tries them again", async () => {
    let broken = true;
    const server = await serve(small, {
      script: ({ path }) => (broken && path.includes("/pulls/11/files") ? { type: "status", status: 500 } : null),
    });
    const first = await rig.json(["O/R"], { "github-url": server.url });
    expect(first).toMatchObject({ exit: 1, repositories: [{ state: "failed", file: null }] });
    expect(first.repositories[0]?.message).toMatch(/\/pulls\/11\/files/);
    broken = false;
    expect(await rig.json(["O/R"], { "github-url": server.url })).toMatchObject({ exit: 0, repositories: [{ kept: 1 }] });
  });
});

describe("the token", () => {
  test("is nowhere on disk and never shown, whatever happens", async () => {
    const fault = (index: number): Fault | null =>
      index % 3 === 0 ? { type: "status", status: 502, body: `{"message":"echo"}` } : null;
    const server = await serve(synthetic, { script: ({ index }, attempt) => (attempt === 1 ? fault(index) : null) });
    const fromEnv = await rig.mine(["O/R", "no/such"], { "github-url": server.url });
    const given = newRig(undefined);
    const fromOption = await given.mine(["O/R", `https://${TOKEN}@github.com/a/b/`, `bad ${1}`], {
      "github-url": server.url,
      token: TOKEN,
    });
    expect([fromEnv.exit, fromOption.exit]).toEqual([1, 1]);
    expect(server.requests.length).toBeGreaterThan(60);
    for (const { stdout, stderr } of [fromEnv, fromOption]) expect(stdout + stderr).not.toContain(TOKEN);
    for (const project of [rig, given]) {
      const everything = await project.everything();
      expect(everything.length).toBeGreaterThan(100);
      expect(everything.filter(({ text }) => text.includes(TOKEN)).map(({ where }) => where)).toEqual([]);
    }
  });

  test("that a server gives back in its answers does not reach the journal", async () => {
    const server = await serve(small, {
      script: ({ path }) =>
        path.includes("/timeline") ? { type: "redirect", status: 302, location: `http://elsewhere.example/${TOKEN}` } : null,
    });
    const { stderr, exit } = await rig.mine(["O/R"], { "github-url": server.url });
    expect(exit).toBe(1);
    expect(stderr).not.toContain(TOKEN);
    const journals = (await rig.everything()).filter(
      ({ where }) => where.endsWith("journal.jsonl") || where.endsWith("run.json"),
    );
    expect(journals).toHaveLength(2);
    for (const { text } of journals) expect(text).not.toContain(TOKEN);
  });

  test("of .env.github is used and its file named; a placeholder is none", async () => {
    const server = await serve(small);
    const project = newRig("YOUR_TOKEN_HERE");
    writeFileSync(join(project.folder, ".env.github"), `# mine\nexport GITHUB_TOKEN='${TOKEN}'\n`);
    const { exit, stderr } = await project.mine(["O/R"], { "github-url": server.url });
    expect(exit).toBe(0);
    expect(stderr).toContain("Using the GitHub token of .env.github.");
  });

  test("that is missing is warned of with its consequence; one that is refused says so", async () => {
    const server = await serve(small, { token: null });
    const without = await newRig("").mine(["O/R"], { "github-url": server.url });
    expect(without.exit).toBe(0);
    expect(without.stderr).toMatch(/60 requests an hour, enough for about \d+ issues/);
    const refused = await rig.mine(["O/R"], { "github-url": server.url });
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toMatch(/the token was refused \(401\)/);
  });
});

test("a recording answers without network or token; offline says what is missing", async () => {
  writeFileSync(join(rig.folder, "r.json"), JSON.stringify(small));
  const recorded = await rig.json(["O/R"], { recording: "r.json", offline: true });
  expect(recorded).toMatchObject({ exit: 0, repositories: [{ kept: 1 }] });
  expect(recorded.stderr).not.toContain("token");
  const offline = await rig.mine(["o/other"], { offline: true });
  expect(offline.exit).toBe(1);
  expect(offline.stderr).toContain("--offline forbids it");
  await expect(rig.mine(["O/R", "o/x"], { recording: "r.json" })).rejects.toThrow(/one repository/);
});

test("GitHub Enterprise is asked below its /api/v3", async () => {
  const server = await serve(small, { prefix: "/api/v3" });
  const { origin } = new URL(server.url);
  const { exit } = await rig.mine([`${origin}/O/R`], { "github-url": `${origin}/api/v3` });
  expect(exit).toBe(0);
  expect(server.requests.length).toBeGreaterThan(3);
});
