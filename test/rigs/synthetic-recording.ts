/**
 * Recordings of invented repositories, made by a seed: every kind of link, unmerged, foreign, late and reverted changes, renames, comments.
 * Whatever a test asks of them must hold for every seed.
 */
import { randomStream } from "../../src/base/random.js";
import type { Recording } from "../../src/github/recording.js";
import { closedEvent, named, sha, smallRecording, T } from "./small-recording.js";

type Facts = Record<string, unknown>;

export function syntheticRecording(seed: number, issueCount: number): Recording {
  const random = randomStream(["synthetic recording", seed]);
  const one = <V>(values: readonly V[]): V => values[random.below(values.length)] as V;
  const issues: Facts[] = [];
  const pulls: Facts[] = [];
  const foreign: Facts[] = [];
  for (let number = 1; number <= issueCount; number++) {
    const change = 1000 + number;
    const timeline: Facts[] = [];
    const comments: Facts[] = [];
    let body: string | null = one([null, "", `Text of issue ${number}.\n\n    Fixes #${(number % issueCount) + 1}\n`]);
    let commit: string | undefined;
    const files = Array.from({ length: 1 + random.below(4) }, (_, i) => file(one, change, i));
    const pull: Facts = { number: change, files };
    switch (one(["keyword", "keyword", "commit", "mention", "comment", "unmerged", "late", "foreign", "reverted", "none"])) {
      case "keyword":
        pull.body = one([`Fixes #${number}`, `This resolves O/R#${number}.`, `Closes: #${number}\n`]);
        timeline.push(named(change));
        break;
      case "commit":
        commit = sha(1000 + change);
        break;
      case "mention":
        timeline.push(named(change));
        break;
      case "comment":
        comments.push({ user: "someone", created_at: T(9), body: `see https://github.com/O/R/pull/${change}` });
        break;
      case "unmerged":
        Object.assign(pull, { merged_at: null, body: `Fixes #${number}` });
        timeline.push(named(change));
        break;
      case "late":
        Object.assign(pull, { merged_at: T(25), body: `Fixes #${number}` });
        timeline.push(named(change, T(24)));
        break;
      case "foreign":
        foreign.push({ repository: "other/place", number: change, body: `fixes #${number}`, files });
        timeline.push(named(change, T(10), "other/place"));
        break;
      case "reverted":
        pull.body = `Fixes #${number}`;
        pull.timeline = [named(change + 5000, T(12))];
        timeline.push(named(change));
        pulls.push({
          number: change + 5000,
          merged_at: T(12),
          title: `Revert "change ${change}"`,
          body: `Reverts O/R#${change}`,
        });
        break;
      default:
        body = `${body ?? ""} nothing came of it`;
    }
    pulls.push(pull);
    timeline.push(closedEvent(T(20), commit === undefined ? {} : { commit_id: commit }));
    const reason = one(["completed", "completed", "completed", "not_planned"]);
    issues.push({ number, body, comments, timeline, state_reason: reason, labels: one([[], ["bug"], ["bug", "help wanted"]]) });
  }
  return smallRecording({ issues, pulls, foreign_pulls: foreign });
}

function file(one: <V>(values: readonly V[]) => V, change: number, index: number): Facts {
  const filename = `${one(["src/main/java/a", "src/test/java/a", "docs"])}/File${change}_${index}.${one(["java", "java", "md"])}`;
  const status = one(["modified", "modified", "added", "removed", "renamed"]);
  return {
    filename,
    status,
    additions: 3,
    deletions: 1,
    ...(status === "renamed" ? { previous_filename: `old/${index}.java` } : {}),
  };
}
