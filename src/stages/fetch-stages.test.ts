/** The three fetch stages together, on recordings served to the real Octokit. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { fromAssembled } from "../../test/rigs/assembled-recording.js";
import { driveStage } from "../../test/rigs/drive-stage.js";
import { type StageToolsRig, stageToolsRig } from "../../test/rigs/stage-tools.js";
import type { FilesItem, IssueItem, IssuesMeta, LinksItem } from "../github/schema.js";
import { selectLinks } from "../github/select.js";
import { fetchIssues } from "./fetch-issues.js";
import { fetchPrFiles } from "./fetch-pr-files.js";
import { resolveTimelinePrs } from "./resolve-timeline-prs.js";

const root = resolve(import.meta.dirname, "../..");
const quickstart = join(root, "pipelines/quickstart/cordova-android.json");
const shared = resolve(root, "../shared/data");

async function mine(
  config: { repo: string; recording: string; limit?: number },
  links: unknown,
  tools: StageToolsRig = stageToolsRig(),
) {
  const { recording } = config;
  const issues = await driveStage(fetchIssues, config, tools);
  const resolved = await driveStage(resolveTimelinePrs, { links, recording }, tools, issues.output);
  const files = await driveStage(fetchPrFiles, { recording }, tools, resolved.output);
  return {
    tools,
    issues: issues.items.map(({ value }) => value as IssueItem),
    meta: issues.output.meta as unknown as IssuesMeta,
    links: resolved.items.map(({ value }) => value as LinksItem),
    files: new Map(files.items.map(({ id, value }) => [id, value as FilesItem])),
    outcomes: [...issues.outcomes, ...resolved.outcomes, ...files.outcomes],
  };
}

/** The Java files of npm cordova-android@8.0.0, which the quick start searches. */
const corpus = new Set(readFileSync(join(root, "test/data/cordova-android-8.0.0-java.txt"), "utf8").trim().split("\n"));
const isCorpusPath = (path: string) => corpus.has(path);

describe("the quick start's recording", () => {
  test("gives closed issues, says which numbers are made up, and needs no token", async () => {
    const { issues, meta, tools } = await mine({ repo: "apache/cordova-android", recording: quickstart, limit: 0 }, "closing");
    expect(issues).toHaveLength(63);
    expect(issues.every(({ state }) => state === "closed")).toBe(true);
    expect(meta.made_up_numbers).toHaveLength(29);
    expect(meta.made_up_numbers[0]).toMatch(/^apache\/cordova-android#1000\d\d$/);
    expect(issues.filter(({ number_is_real }) => !number_is_real)).toHaveLength(29);
    expect(tools.warnings).toEqual([]);
  });

  test("words keywords, close commits, mentions and curated links so that each is found as what it is", async () => {
    const { issues, links, files, outcomes } = await mine({ repo: "apache/cordova-android", recording: quickstart, limit: 0 }, [
      "closing",
      "curated",
    ]);
    expect(outcomes.every(([, outcome]) => outcome.type === "done")).toBe(true);
    const facts = new Map(issues.map((issue) => [issue.id, issue]));
    const grades: Record<string, number> = {};
    const cases = new Set<string>();
    const byKeyword = new Set<string>();
    for (const item of links) {
      const selected = selectLinks(item, { closed_at: facts.get(item.id)?.closed_at ?? null }, ["closing", "curated"]).links;
      for (const link of selected) {
        grades[link.selected_as] = (grades[link.selected_as] ?? 0) + 1;
        const paths = (files.get(link.pull)?.files ?? [])
          .filter(({ status }) => status !== "added")
          .map((file) => file.previous_path ?? file.path);
        if (!paths.some(isCorpusPath)) continue;
        cases.add(item.id);
        if (link.selected_as === "keyword") byKeyword.add(item.id);
        expect(link.base_sha).toMatch(/^[0-9a-f]{40}$/);
      }
    }
    expect(grades).toEqual({ keyword: 23, commit: 3, curated: 35 });
    expect(corpus.size).toBe(39);
    expect(cases.size).toBe(55);
    expect(byKeyword.size).toBe(21);
  });
});

/** The recording that lies beside the project in some places; its texts are not ours to commit. */
const jsonJava = join(shared, "github/json-java.json");

describe.skipIf(!existsSync(jsonJava))("JSON-java, by the original's rule", () => {
  const folder = mkdtempSync(join(tmpdir(), "bench-json-java-"));
  const path = join(folder, "recording.json");

  test("keeps the same 71 issues with the same links and files, in at most 270 requests", async () => {
    writeFileSync(path, JSON.stringify(fromAssembled(JSON.parse(readFileSync(jsonJava, "utf8")))));
    const { issues, links, files, tools } = await mine({ repo: "stleary/JSON-java", recording: path, limit: 0 }, "mentions");
    expect(issues).toHaveLength(155);
    const closed = new Map(issues.map((issue) => [issue.id, issue.closed_at]));
    const mined = new Map(
      links.flatMap((item) => {
        const { links: selected } = selectLinks(item, { closed_at: closed.get(item.id) ?? null }, "mentions");
        return selected.length === 0
          ? []
          : [[item.issue.number, selected.map(({ pull }) => [pull, files.get(pull)?.files.map((file) => file.path)])] as const];
      }),
    );
    const [name] = readdirSync(join(shared, "mined")).filter((file) => file.startsWith("stleary"));
    const original = JSON.parse(readFileSync(join(shared, "mined", name ?? ""), "utf8"));
    for (const issue of original.issues) {
      const pulls = issue.linked_merged_pull_requests.map(
        (pull: { repository: string; number: number; impacted_files: string[] }) => [
          `${pull.repository}#${pull.number}`,
          pull.impacted_files,
        ],
      );
      expect([issue.number, mined.get(issue.number)]).toEqual([issue.number, pulls]);
      mined.delete(issue.number);
    }
    expect(original.issues).toHaveLength(71);
    expect([...mined.keys()].sort((a, b) => a - b)).toEqual([361, 410, 438, 650]);
    expect(tools.counts.requests).toBeLessThanOrEqual(270);
  });
});
