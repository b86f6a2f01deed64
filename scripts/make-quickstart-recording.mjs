// Makes pipelines/quickstart/cordova-android.json, the quick start's recording, from the collected facts (first argument: their file).
//
// Development only; the result is committed. What the facts say of a link decides in which of GitHub's ways the recording words it:
// a closing keyword stands in the pull request's text, a commit trailer shows as the close event's commit, a cross reference as
// an event, and an inferred link, which GitHub never showed, lies beside the REST data.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [, , from] = process.argv;
if (from === undefined) {
  console.error("usage: node scripts/make-quickstart-recording.mjs FACTS.json");
  process.exit(2);
}
const facts = JSON.parse(readFileSync(from, "utf8"));
const { repository } = facts;
const FIRST_MADE_UP = 100001;

let next = FIRST_MADE_UP;
const issues = facts.issues.map((issue) => ({ ...issue, number: issue.number ?? next++ }));
const pulls = new Map(facts.pulls.map((pull) => [pull.number, { ...pull, words: [] }]));

const curated = [];
const recordedIssues = issues.map((issue) => {
  const timeline = [];
  let commit = null;
  for (const { number, link } of issue.linked_prs) {
    const pull = pulls.get(number);
    if (pull === undefined) throw new Error(`issue ${issue.number} links pull request ${number}, which is not among the facts`);
    if (link === "inferred") {
      const note = issue.note === undefined ? "" : ` (${issue.note})`;
      curated.push({ issue: issue.number, pull: `${repository}#${number}`, why: `same topic${note}` });
      continue;
    }
    if (link === "commit_trailer") {
      commit = { sha: pull.merge_commit_sha, at: pull.merged_at };
      continue;
    }
    if (link === "closing_keyword") pull.words.push(`Closes #${issue.number}`);
    timeline.push({
      event: "cross-referenced",
      created_at: later(issue.created_at, pull.merged_at),
      source: { repository, number },
    });
  }
  if (issue.closed_at !== null) {
    timeline.push({
      event: "closed",
      created_at: issue.closed_at,
      ...(commit === null ? {} : { commit_id: commit.sha }),
      state_reason: issue.state_reason,
    });
  }
  timeline.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  return {
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    state_reason: issue.state_reason,
    labels: issue.labels,
    created_at: issue.created_at,
    closed_at: issue.closed_at,
    timeline,
  };
});

const recordedPulls = [...pulls.values()].map((pull) => {
  const reverts = pull.reverts === undefined ? [] : [`Reverts ${repository}#${numberIn(pull.reverts)}`];
  const body = [...pull.words, ...reverts].join("\n");
  const reverter = pull.reverted_by === undefined ? null : pulls.get(numberIn(pull.reverted_by));
  return {
    number: pull.number,
    title: pull.title,
    body: body === "" ? null : body,
    state: "closed",
    created_at: null,
    closed_at: pull.merged_at,
    merged_at: pull.merged_at,
    merge_commit_sha: pull.merge_commit_sha,
    base: { ref: "master", sha: pull.base_sha },
    ...(reverter == null
      ? {}
      : {
          timeline: [
            { event: "cross-referenced", created_at: reverter.merged_at, source: { repository, number: reverter.number } },
          ],
        }),
    files: pull.files.map(({ filename, status, previous_filename, additions, deletions }) => ({
      filename,
      status,
      ...(previous_filename === undefined ? {} : { previous_filename }),
      additions,
      deletions,
    })),
  };
});

const recording = {
  format: "bench-github-recording",
  version: 1,
  // An assumed closing date may lie behind the last commit.
  recorded_at: recordedIssues.map(({ closed_at }) => closed_at ?? "").reduce(laterText, facts.history.head_committed_at),
  notes: [
    "The issue texts, labels of issues without a real number, and titles of pull requests are worded by the makers of this recording; pull request numbers, commits, merge dates and changed files are real.",
    "Dates of issues are inferred: no source shows when an issue was closed.",
  ],
  repository: { full_name: repository, default_branch: "master" },
  made_up: { numbers: issues.filter(({ number_is_real }) => !number_is_real).map(({ number }) => number) },
  issues: recordedIssues,
  pulls: recordedPulls,
  curated_links: curated,
};

const target = join(resolve(dirname(fileURLToPath(import.meta.url)), ".."), "pipelines", "quickstart", "cordova-android.json");
writeFileSync(target, diffable(recording));

function numberIn(value) {
  return typeof value === "number" ? value : Number(String(value).replace(/^.*#/, ""));
}

function laterText(a, b) {
  return b !== "" && Date.parse(b) > Date.parse(a) ? b : a;
}

function later(a, b) {
  return Date.parse(a) > Date.parse(b) ? a : b;
}

/** One line per member of the top, and one per element of its lists; files of a pull request one a line too. */
function diffable(value) {
  const members = Object.entries(value).map(([name, member]) => {
    if (!Array.isArray(member) || member.length === 0 || typeof member[0] !== "object")
      return `${JSON.stringify(name)}: ${JSON.stringify(member)}`;
    return `${JSON.stringify(name)}: [\n${member.map((element) => record(element)).join(",\n")}\n]`;
  });
  return `{\n${members.join(",\n")}\n}\n`;
}

function record(element) {
  if (!Array.isArray(element.files) || element.files.length < 2) return JSON.stringify(element);
  const { files, ...rest } = element;
  return `${JSON.stringify(rest).slice(0, -1)},"files":[\n${files.map((file) => JSON.stringify(file)).join(",\n")}\n]}`;
}
