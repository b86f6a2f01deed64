/**
 * A run that is killed at any instant goes on with the same command, and what was paid for is not paid for again.
 *
 * The other side counts: a server of puppets (or of GitHub's answers) that knows what was asked, what it answered and what was open when
 * the process died. BENCH_KILLS=all kills after each of the first 50 answers, on a fresh cache each time; the default is one long chain
 * of kills on one cache, which meets more different states in less time.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { figures, type Project, project, type RunJson } from "./rigs/cli.js";
import { GitHubServer } from "./rigs/github-server.js";
import { type Asked, casesFile, givePuppet, Puppets, puppetBackend } from "./rigs/puppet.js";
import { named, sha, smallRecording, T } from "./rigs/small-recording.js";

const CASES = 200;
const AT_ONCE = 4;
const EVERY_KILL = process.env.BENCH_KILLS === "all";
/** Answers given in all when the process is killed: close together at the start, in bursts, and just before the end. */
const KILLS = [1, 2, 3, 5, 8, 13, 14, 30, 50, 51, 90, 140, 170, 198, 199];

const PIPELINE = `name: kill
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers:
    uses: query-backend
    needs: dataset
    matrix: { backend: [${puppetBackend("puppet", { concurrency: AT_ONCE })}] }
  scores: { uses: score, needs: [dataset, answers], with: { measures: [P, R, F1, "Hit@1", RR] } }
  intervals: { uses: bootstrap, needs: scores, with: { samples: 200 } }
  report: { uses: report, needs: [scores, intervals] }
`;
const FILE = "pipelines/kill.yaml";
const RUN = ["run", FILE, "--json"];

/** Every third case is answered wrongly and every fifth not at all, so that the figures tell answers apart. */
function answerTo({ id }: Asked): string {
  const number = Number(id.split("#")[1]);
  const path = number % 3 === 0 ? `src/Other${number}.java` : `src/File${number}.java`;
  return JSON.stringify({ classes: number % 5 === 0 ? [] : [{ path }] });
}

let puppets: Puppets;
const projects: Project[] = [];

beforeEach(async () => {
  puppets = await Puppets.start();
});
afterEach(async () => {
  await puppets.close();
  for (const one of projects.splice(0)) one.remove();
});

function killProject(cases = 24): Project {
  const made = project({ ...puppets.env });
  projects.push(made);
  givePuppet(made.folder);
  made.write("pipelines/kill.yaml", PIPELINE);
  made.write("pipelines/cases.jsonl", casesFile(cases));
  return made;
}

/** What `cache stats` says lies on the disk. */
function bytesOf(stats: { database_bytes: number; large_object_bytes: number; folders: Record<string, number> }): number {
  return [stats.database_bytes, stats.large_object_bytes, ...Object.values(stats.folders)].reduce((sum, bytes) => sum + bytes, 0);
}

/** The figures of a run whose answers all come at once. */
async function uninterrupted(): Promise<RunJson> {
  puppets.onAsk = (question) => question.answer(answerTo(question));
  const run = await killProject(CASES).run([FILE]);
  expect(puppets.asked.length).toBe(CASES);
  puppets.asked.length = 0;
  return run;
}

let runs = 0;

/** Runs until `answers` have been given in this run; with the last one goes the kill. */
async function killAfter(made: Project, answers: number): Promise<void> {
  const name = `run ${++runs}`;
  const running = made.start(RUN, { PUPPET_RUN: name });
  let given = 0;
  puppets.onAsk = (question) => {
    // One that an earlier, killed run started, and that comes late.
    if (question.run !== name) return question.drop();
    if (given >= answers) return;
    given += 1;
    question.answer(answerTo(question));
    if (given === answers) running.kill("SIGKILL");
  };
  const { signal } = await running.finished;
  expect(signal).toBe("SIGKILL");
  // Orphans of the killed process: they wait for a word that nobody needs any more.
  for (const question of puppets.alive) question.drop();
  await Promise.all(puppets.asked.map(({ gone }) => gone));
}

async function goOn(made: Project, reference: RunJson): Promise<void> {
  const name = `run ${++runs}`;
  made.env.PUPPET_RUN = name;
  puppets.onAsk = (question) => (question.run === name ? question.answer(answerTo(question)) : question.drop());
  const run = await made.run([FILE]);
  expect(figures(run)).toEqual(figures(reference));
  expect(run.counts.queries).toBe(puppets.asked.filter((question) => question.run === name).length);
  expect(run.counts.failed).toBe(0);
  expect(run.warnings).toEqual([]);
  expect((await made.bench(["cache", "verify"])).exit).toBe(0);
  const again = await made.run([FILE]);
  expect(again.counts).toMatchObject({ queries: 0, executed: 0 });
}

describe("SIGKILL while a backend is asked", () => {
  test.skipIf(EVERY_KILL)("a chain of kills on one cache repeats at most what was in flight at each", async () => {
    const reference = await uninterrupted();
    const made = killProject(CASES);
    for (const [index, total] of KILLS.entries()) {
      await killAfter(made, total - (KILLS[index - 1] ?? 0));
      const repeated = puppets.asked.length - new Set(puppets.asked.map(({ id }) => id)).size;
      expect(repeated).toBeLessThanOrEqual(index * AT_ONCE);
    }
    await goOn(made, reference);
    expect(new Set(puppets.asked.map(({ id }) => id)).size).toBe(CASES);
    expect(puppets.asked.length - CASES).toBeLessThanOrEqual(KILLS.length * AT_ONCE);
    // The killed runs are known as such, and say what to do.
    const status = await made.bench(["status"]);
    expect(status.stdout.match(/killed, resumable/g)?.length).toBe(KILLS.length);
  });

  test.runIf(EVERY_KILL)("after each of 50 answers, on a fresh cache each", { timeout: 3_600_000 }, async () => {
    const reference = await uninterrupted();
    for (let answers = 1; answers <= 50; answers++) {
      puppets.asked.length = 0;
      const made = killProject(CASES);
      await killAfter(made, answers);
      await goOn(made, reference);
      expect(puppets.asked.length - CASES, `killed after answer ${answers}`).toBeLessThanOrEqual(AT_ONCE);
      made.remove();
    }
  });

  test("an answer is on disk before its place is given to another question", async () => {
    const made = killProject();
    const running = made.start(RUN);
    // One answer at a time: the next only when another question shows that the place of the last one is free.
    for (let round = 0; round < 12; round++) {
      await puppets.whenAsked(AT_ONCE + round);
      const next = puppets.asked.find(({ answered }) => !answered);
      next?.answer(answerTo(next));
    }
    await puppets.whenAsked(AT_ONCE + 12);
    running.kill("SIGKILL");
    await running.finished;
    const paid = new Set(puppets.asked.filter(({ answered }) => answered).map(({ id }) => id));
    expect(paid.size).toBe(12);
    for (const question of puppets.alive) question.drop();

    made.env.PUPPET_RUN = "second";
    puppets.onAsk = (question) => question.answer(answerTo(question));
    await made.run([FILE]);
    const asked = puppets.asked.filter(({ run }) => run === "second").map(({ id }) => id);
    expect(asked.filter((id) => paid.has(id))).toEqual([]);
    expect(asked.length).toBe(24 - 12);
  });
});

describe("Ctrl-C", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("%s: exit 130, what to do, and nobody left behind", async (signal) => {
    const made = killProject();
    made.write("pipelines/kill.yaml", PIPELINE.replace('"{repeat}"', '"{repeat}","--stubborn"'));
    const running = made.start(["run", "pipelines/kill.yaml"]);
    const kept: string[] = [];
    puppets.onAsk = (question) => {
      if (kept.length >= 6) return;
      kept.push(question.id);
      question.answer(answerTo(question));
    };
    await puppets.whenAsked(6 + AT_ONCE);
    running.kill(signal);
    // Those at work never answer and do not listen to SIGTERM either: the run ends all the same.
    const done = await running.finished;
    expect(done.exit).toBe(130);
    expect(done.stderr).toContain("Interrupted, nothing is lost");
    expect(done.stderr).toContain("same command: bench run pipelines/kill.yaml");
    expect(done.stdout).toBe("");
    // Each of their connections closes: no orphan goes on working. Were one alive, this would wait for ever.
    await Promise.all(puppets.asked.map(({ gone }) => gone));
    expect((await made.bench(["status", "latest"])).stdout).toContain("interrupted, resumable");

    const before = puppets.asked.length;
    puppets.onAsk = (question) => question.answer(answerTo(question));
    const run = await made.run(["pipelines/kill.yaml"]);
    expect(run.counts.queries).toBe(24 - 6);
    expect(puppets.asked.slice(before).filter(({ id }) => kept.includes(id))).toEqual([]);
  });

  test("the second one ends it at once", async () => {
    const made = killProject();
    const running = made.start(["run", "pipelines/kill.yaml"]);
    await puppets.whenAsked(AT_ONCE);
    running.kill("SIGINT");
    running.kill("SIGINT");
    expect((await running.finished).exit).toBe(130);
    await Promise.all(puppets.asked.map(({ gone }) => gone));
  });
});

describe("two processes on one cache", () => {
  test("each question is asked once, and both come to the same figures", async () => {
    const made = killProject();
    const first = made.start(RUN);
    const second = made.start(RUN);
    puppets.onAsk = (question) => question.answer(answerTo(question));
    const ends = await Promise.all([first.finished, second.finished]);
    expect(ends.map(({ exit }) => exit)).toEqual([0, 0]);
    const [one, two] = ends.map(({ stdout }) => JSON.parse(stdout) as RunJson);
    expect(one?.summary).toEqual(two?.summary);
    expect(Object.keys(one?.summary ?? {})).toEqual(["puppet"]);
    expect(puppets.repeats()).toEqual({});
    expect(puppets.asked.length).toBe(24);
    expect((one?.counts.queries ?? 0) + (two?.counts.queries ?? 0)).toBe(24);
  });

  test("gc waits for no run and takes nothing from one: refused beside it, afterwards it keeps its answers and gives room back", async () => {
    const made = killProject();
    // What no run keeps any more, some of it large.
    made.write("pipelines/other.yaml", "name: other\nstages:\n  sources: { uses: checkout, with: { folder: ../big } }\n");
    for (let n = 0; n < 40; n++) made.write(`big/f${n}.txt`, randomBytes(20_000).toString("hex"));
    await made.run(["pipelines/other.yaml"]);
    rmSync(join(made.folder, "evaluation_results"), { recursive: true });
    const before = JSON.parse((await made.bench(["cache", "stats", "--json"])).stdout);
    const running = made.start(RUN);
    await puppets.whenAsked(AT_ONCE);
    const swept = await made.bench(["cache", "gc", "--json"]);
    expect([swept.exit, swept.stderr]).toEqual([1, expect.stringContaining(`process ${running.pid} is using this cache`)]);
    puppets.onAsk = (question) => question.answer(answerTo(question));
    for (const question of puppets.alive) if (!question.answered) question.answer(answerTo(question));
    const done = await running.finished;
    expect(done.exit).toBe(0);
    await made.bench(["cache", "gc"]);
    const again = await made.run([FILE]);
    expect([again.counts.queries, figures(again)]).toEqual([0, figures(JSON.parse(done.stdout) as RunJson)]);
    expect(puppets.repeats()).toEqual({});
    const after = JSON.parse((await made.bench(["cache", "stats", "--json"])).stdout);
    expect(bytesOf(after)).toBeLessThan(bytesOf(before) / 2);
    expect((await made.bench(["cache", "verify"])).exit).toBe(0);
  });

  test("one is halted in the middle: the other waits for what it had claimed, asks nothing twice, and both end when it goes on", async () => {
    const made = killProject();
    const first = made.start(RUN);
    await puppets.whenAsked(AT_ONCE);
    process.kill(first.pid, "SIGSTOP");
    const second = made.start(RUN, { PUPPET_RUN: "second" });
    puppets.onAsk = (question) => question.answer(answerTo(question));
    await second.whenSaid(`is being done by process ${first.pid}`);
    process.kill(first.pid, "SIGCONT");
    for (const question of puppets.alive) if (!question.answered) question.answer(answerTo(question));
    const ends = await Promise.all([first.finished, second.finished]);
    expect(ends.map(({ exit }) => exit)).toEqual([0, 0]);
    expect(puppets.repeats()).toEqual({});
  });

  test("one is killed: the other takes over what it had claimed, without waiting for it", async () => {
    const made = killProject();
    const first = made.start(RUN);
    await puppets.whenAsked(AT_ONCE);
    const second = made.start(RUN, { PUPPET_RUN: "second" });
    await second.whenSaid(`is being done by process ${first.pid}`);
    puppets.onAsk = (question) => question.answer(answerTo(question));
    first.kill("SIGKILL");
    await first.finished;
    // Still held: the claims of a dead process are no reason to wait, its orphans do not matter.
    const done = await second.finished;
    expect(done.exit).toBe(0);
    expect(puppets.asked.filter(({ run }) => run === "second").length).toBe(24);
    expect(JSON.parse(done.stdout).counts).toMatchObject({ queries: 24, failed: 0 });
  });
});

describe("SIGKILL while GitHub is asked", () => {
  const ISSUES = 110;
  const TOKEN = "a-token-of-this-test";
  const recording = smallRecording({
    issues: Array.from({ length: ISSUES }, (_, index) => ({
      number: index + 1,
      timeline: [named(1001 + index), { event: "closed", created_at: T(20), commit_id: sha(2001 + index) }],
    })),
    pulls: Array.from({ length: ISSUES }, (_, index) => ({ number: 1001 + index, body: `Fixes #${index + 1}` })),
  });
  const pipeline = (url: string) => `name: mine
stages:
  issues: { uses: fetch-issues, with: { repo: O/R, limit: 0, github_url: "${url}", api: rest } }
  links: { uses: resolve-timeline-prs, needs: issues, with: { github_url: "${url}", api: rest } }
  files: { uses: fetch-pr-files, needs: links, with: { github_url: "${url}", api: rest } }
  dataset: { uses: build-dataset, needs: [issues, links, files] }
`;
  /** Requests at once: four of the timelines and files, one of the list. */
  const OPEN = 5;

  function dataset(made: Project): unknown {
    const folder = join(made.folder, "mined_projects");
    const [file] = readdirSync(folder).filter((name) => !name.includes("__audit"));
    const { mined_at: _, ...content } = JSON.parse(readFileSync(join(folder, file ?? ""), "utf8"));
    return content;
  }

  test("the requests that are repeated are those that were open", async () => {
    let onRequest: (index: number) => void = () => {};
    const server = await GitHubServer.start(recording, {
      token: TOKEN,
      script: ({ index }) => {
        onRequest(index);
        return null;
      },
    });
    try {
      const mine = (name: string) => {
        const made = project({ GITHUB_TOKEN: TOKEN });
        projects.push(made);
        made.write(`pipelines/${name}.yaml`, pipeline(server.url));
        return made;
      };
      const whole = mine("mine");
      const reference = await whole.run(["pipelines/mine.yaml"]);
      const needed = server.requests.length;
      expect(reference.counts.requests).toBe(needed);
      expect(new Set(server.requests.map(({ path }) => path)).size).toBe(needed);
      expect(needed).toBeGreaterThan(2 * ISSUES);

      server.requests.length = 0;
      const made = mine("mine");
      const kills = [1, 2, 3, 10, 40, 41, 100, Math.floor(needed * 0.6), needed - 3];
      for (const total of kills) {
        const running = made.start(["run", "pipelines/mine.yaml"]);
        onRequest = (index) => {
          if (index + 1 === total) running.kill("SIGKILL");
        };
        // A kill point that the repeats of earlier kills have passed by lets the run end: then there is nothing to be killed.
        const { signal, exit } = await running.finished;
        expect(signal === "SIGKILL" || exit === 0).toBe(true);
      }
      onRequest = () => {};
      const run = await made.run(["pipelines/mine.yaml"]);
      expect(run.counts.failed).toBe(0);
      const distinct = new Set(server.requests.map(({ path }) => path)).size;
      expect(distinct).toBe(needed);
      expect(server.requests.length - distinct).toBeLessThanOrEqual(kills.length * OPEN);
      expect(dataset(made)).toEqual(dataset(whole));
      expect((await made.run(["pipelines/mine.yaml", "--offline"])).counts).toMatchObject({ requests: 0, executed: 0 });
      // The token is nowhere in what was written.
      for (const entry of readdirSync(made.folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        expect(readFileSync(join(entry.parentPath, entry.name)).includes(TOKEN), entry.name).toBe(false);
      }
      expect(existsSync(join(made.folder, "pipelines/mine.lock.json"))).toBe(true);
    } finally {
      await server.close();
    }
  });
});
