/** The built command line, killed with SIGKILL: the same command goes on, and nothing answered is asked again. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { fromAssembled } from "./rigs/assembled-recording.js";
import { project as emptyProject, filesBelow, type Project } from "./rigs/cli.js";
import { GitHubServer } from "./rigs/github-server.js";
import { withoutTime } from "./rigs/mine-rig.js";
import { syntheticRecording } from "./rigs/synthetic-recording.js";

const TOKEN = "ghp_thisMustNeverBeSeen1234567890";
/** What the fetch stages have under way at once, at most. */
const IN_FLIGHT = 4;
const projects: Project[] = [];
const servers: GitHubServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
afterAll(() => {
  for (const project of projects) project.remove();
});

function newProject(): Project {
  const project = emptyProject();
  projects.push(project);
  return project;
}

function minedText(project: Project): string {
  const mined = filesBelow(join(project.folder, "mined_projects")).filter((path) => !path.includes("__audit"));
  expect(mined).toHaveLength(1);
  return withoutTime(project.read(join("mined_projects", mined[0] ?? "")));
}

test.each(["rest", "graphql"])("killed at the first request, at late ones, and between (%s)", async (api) => {
  // GraphQL asks for many things at once, so that it takes more of them to be killed between.
  const recording = syntheticRecording(11, api === "rest" ? 10 : 60);
  let victim: { kill: (signal: NodeJS.Signals) => void } | null = null;
  let killAt = -1;
  const server = await GitHubServer.start(recording, {
    token: TOKEN,
    script: ({ index }) => {
      if (index === killAt) victim?.kill("SIGKILL");
      return null;
    },
  });
  servers.push(server);
  const command = ["mine", "O/R", "--github-url", server.url, "--links", "closing", "--json", "--api", api];
  const env = { GITHUB_TOKEN: TOKEN };
  const whole = newProject();
  expect((await whole.bench(command, env)).exit).toBe(0);
  const total = server.requests.length;
  expect(total).toBeGreaterThan(api === "rest" ? 20 : 7);
  // Not each one: starting two processes takes longer than all that they do here.
  // Of GraphQL only places that each run reaches: what is ready at the same moment goes together, so that another run may need fewer requests.
  const late = api === "rest" ? [Math.floor((total * 4) / 5), total - 2] : [];
  const places = new Set([0, 1, Math.floor(total / 3), Math.floor(total / 2), ...late]);
  for (const at of places) {
    server.requests.length = 0;
    const project = newProject();
    const running = project.start(command, env);
    [victim, killAt] = [running, at];
    expect((await running.finished).signal).toBe("SIGKILL");
    [victim, killAt] = [null, -1];
    const second = await project.bench(command, env);
    expect(second).toMatchObject({ exit: 0 });
    expect(minedText(project)).toBe(minedText(whole));
    // What goes together in one GraphQL request may be put together otherwise the second time.
    expect(server.requests.length).toBeLessThanOrEqual(total + (api === "rest" ? IN_FLIGHT : 2 * IN_FLIGHT));
    for (const path of filesBelow(project.folder))
      expect([path, readFileSync(join(project.folder, path)).includes(TOKEN)]).toEqual([path, false]);
  }
});

const root = resolve(import.meta.dirname, "..");
const assembled = resolve(root, "../shared/data/github/json-java.json");
const minedFolder = resolve(root, "../shared/data/mined");

interface OriginalIssue {
  number: number;
  linked_merged_pull_requests: { repository: string; number: number; impacted_files: string[]; impacted_files_count: number }[];
}

describe.skipIf(!existsSync(assembled))("JSON-java as the original mined it", () => {
  test("by its rule: the same issues, links and files, in at most 270 requests; by default: clean", async () => {
    const recording = fromAssembled(JSON.parse(readFileSync(assembled, "utf8")));
    const server = await GitHubServer.start(recording, { token: TOKEN });
    servers.push(server);
    const project = newProject();
    const args = ["mine", "stleary/JSON-java", "--issue-limit", "0", "--github-url", server.url, "--json", "--api", "rest"];
    const { stdout, exit } = await project.bench([...args, "--links", "mentions"], { GITHUB_TOKEN: TOKEN });
    expect(exit).toBe(0);
    const { repositories, counts } = JSON.parse(stdout);
    expect(repositories[0]).toMatchObject({ scanned: 155, state: "done" });
    expect(counts.requests).toBeLessThanOrEqual(270);
    expect(server.requests).toHaveLength(counts.requests);

    const [name] = readdirSync(minedFolder).filter((file) => file.startsWith("stleary"));
    const original: { issues: OriginalIssue[] } = JSON.parse(readFileSync(join(minedFolder, name ?? ""), "utf8"));
    const mined: { issues: OriginalIssue[] } = JSON.parse(readFileSync(join(project.folder, repositories[0].file), "utf8"));
    const facts = ({ number, linked_merged_pull_requests: pulls }: OriginalIssue) => ({
      number,
      pulls: pulls.map(({ repository, number: pull, impacted_files, impacted_files_count }) => ({
        ...{ repository, pull, impacted_files, impacted_files_count },
      })),
    });
    const ours = new Map(mined.issues.map((issue) => [issue.number, facts(issue)]));
    for (const issue of original.issues) expect(ours.get(issue.number)).toEqual(facts(issue));
    expect(original.issues).toHaveLength(71);
    const more = [...ours.keys()].filter((number) => !original.issues.some((issue) => issue.number === number));
    expect(more.sort((a, b) => a - b)).toEqual([361, 410, 438, 650]);

    const clean = await project.bench(args, { GITHUB_TOKEN: TOKEN });
    const file = JSON.parse(readFileSync(join(project.folder, JSON.parse(clean.stdout).repositories[0].file), "utf8"));
    expect(file.issues.length).toBeGreaterThan(0);
    for (const issue of file.issues) {
      for (const pull of issue.linked_merged_pull_requests) {
        expect(pull.repository).toBe("stleary/json-java");
        expect(Date.parse(pull.merged_at)).toBeLessThanOrEqual(Date.parse(issue.closed_at) + 1000);
        expect(["platform", "keyword", "commit"]).toContain(pull.link.grade);
      }
    }
  });
});

/**
 * Reads a mined file as the original's evaluators do: the members that they take, of the types that they demand (`None` only where they
 * test for it). In Python, because what `json` makes of a file is what counts.
 */
const READER = `
import json, sys
data = json.load(open(sys.argv[1], encoding="utf-8"))
assert isinstance(data, dict) and isinstance(data["issues"], list)
assert isinstance(data["project_name"], str) and isinstance(data["github_url"], str) and isinstance(data["mined_at"], str)
assert isinstance(data["total_closed_issues_scanned"], int) and data["total_relevant_issues"] == len(data["issues"])
numbers = []
for issue in data["issues"]:
    assert isinstance(issue["number"], int) and isinstance(issue["title"], str) and isinstance(issue["url"], str)
    assert issue["description_message"] is None or isinstance(issue["description_message"], str)
    assert isinstance(issue["created_at"], str) and isinstance(issue["closed_at"], str)
    numbers.append(issue["number"])
    pulls = issue["linked_merged_pull_requests"]
    assert issue["linked_merged_pull_request_urls"] == [pull["url"] for pull in pulls]
    for pull in pulls:
        assert isinstance(pull["number"], int) and isinstance(pull["title"], str) and pull["repository"].count("/") == 1
        assert pull["merged_at"].endswith("Z") and all(isinstance(path, str) for path in pull["impacted_files"])
        assert pull["impacted_files_count"] == len(pull["impacted_files"])
    assert pulls == sorted(pulls, key=lambda pull: (pull["merged_at"], pull["repository"], pull["number"]))
assert numbers == sorted(numbers)
expected = {path for issue in data["issues"] for pull in issue["linked_merged_pull_requests"] for path in pull["impacted_files"] if path.lower().endswith(".java")}
print(len(numbers), len(expected))
`;

test("Python reads the mined file as the original's evaluators do", async (context) => {
  const { spawnSync } = await import("node:child_process");
  if (spawnSync("python3", ["--version"]).status !== 0) return context.skip();
  const project = newProject();
  writeFileSync(join(project.folder, "r.json"), JSON.stringify(syntheticRecording(5, 40)));
  const args = ["mine", "O/R", "--recording", "r.json", "--links", "mentions", "--json"];
  const { repositories } = JSON.parse((await project.bench(args)).stdout);
  const folder = mkdtempSync(join(tmpdir(), "bench-reader-"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "reader.py"), READER);
  const read = spawnSync("python3", [join(folder, "reader.py"), join(project.folder, repositories[0].file)], {
    encoding: "utf8",
  });
  expect(read.stderr).toBe("");
  expect(Number(read.stdout.split(" ")[0])).toBe(repositories[0].kept);
  expect(repositories[0].kept).toBeGreaterThan(10);
});
