/**
 * A data set from TREC's two files: topics (the questions) and qrels (the truth).
 *
 * Topics come as the old mark-up of TREC (`<top>` with tags that nobody closes), as XML (`<topic number="1">`), or as lines of id, tab and
 * text. Documents of the qrels are paths; those with a grade of 1 or more are targets, with that grade. What was judged as not relevant
 * is no target; how many there are is said.
 */
import { visible } from "../base/diagnostics.js";
import { err, ok, type Result } from "../base/result.js";
import { decodeTrecId, parseQrels, type Qrels } from "../base/trec.js";
import { targetAt } from "./named-records.js";
import { Collected, plainPath, type ReadResult } from "./records.js";
import { type BadRecord, type Case, DATASET_SCHEMA_VERSION, type DatasetHeader } from "./schema.js";

interface Topic {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

/** `name`: what the set is called. The error is a sentence that says which of the two files is meant. */
export function readTrecDataset(topicsText: string, qrelsText: string, name: string): Result<ReadResult, string> {
  const qrels = parseQrels(qrelsText);
  if (!qrels.ok)
    return err(`the qrels can't be read: ${qrels.error.map(({ line, what }) => `line ${line}: ${what}`).join("; ")}`);
  const topics = readTopics(topicsText.startsWith("\ufeff") ? topicsText.slice(1) : topicsText);
  if (topics.length === 0)
    return err("the file holds no topic: expected <top> with <num> and <title>, <topic number=...>, or lines of id, tab, text");
  const judged = byTopic(qrels.value);
  const collected = new Collected();
  let nonrelevant = 0;
  let unjudged = 0;
  for (const [index, topic] of topics.entries()) {
    const grades = [...(judged.get(topic.id) ?? [])];
    if (grades.length === 0) unjudged++;
    nonrelevant += grades.filter(([, grade]) => grade < 1).length;
    collected.add({ record: index + 1 }, caseOf(topic, grades));
  }
  const ids = new Set(topics.map(({ id }) => id));
  const strangers = [...judged.keys()].filter((id) => !ids.has(id));
  const bad: BadRecord[] = strangers.map((id, index) => ({
    record: topics.length + index + 1,
    what: `the qrels judge ${visible(id).slice(0, 100)}, which is no topic`,
  }));
  const notes = [
    ...(nonrelevant === 0 ? [] : [`${nonrelevant} documents are judged as not relevant: no targets`]),
    ...(unjudged === 0 ? [] : [`${unjudged} of ${topics.length} topics are not judged: they have no target`]),
  ];
  const header: DatasetHeader = {
    ...{ schema_version: DATASET_SCHEMA_VERSION, project_name: name, url: null, scanned: topics.length, links: null },
    ...{ extensions: null, notes, audit: [] },
  };
  return ok({ dataset: { header, cases: collected.cases }, bad: [...collected.bad, ...bad], notes });
}

function byTopic(qrels: Qrels): ReadonlyMap<string, ReadonlyMap<string, number>> {
  return new Map([...qrels].map(([id, grades]) => [decodeTrecId(id), grades]));
}

function caseOf({ id, title, body }: Topic, grades: readonly (readonly [string, number])[]): Case {
  const targets = grades
    .filter(([, grade]) => grade >= 1)
    .map(([document, grade]) => ({ path: plainPath(decodeTrecId(document)), grade }))
    .filter(({ path }) => path !== "")
    .map(({ path, grade }) => targetAt(path, null, grade, null));
  const number = /^\d{1,15}$/.test(id) ? Number(id) : null;
  return {
    ...{ id, repository: null, number, number_is_real: true, title, body, url: null, created_at: null, closed_at: null },
    ...{ state_reason: null, labels: [], base_commit: null, links: [], best_grade: "curated", strata: { links: "curated" } },
    targets: targets.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
  };
}

function readTopics(text: string): Topic[] {
  if (/<topic\s/i.test(text)) return pieces(text, "<topic").flatMap(xmlTopic);
  if (/<top>/i.test(text)) return pieces(text, "<top>").flatMap(oldTopic);
  return text.split("\n").flatMap((line) => {
    const tab = line.indexOf("\t");
    const id = decodeTrecId(line.slice(0, Math.max(0, tab)).trim());
    const words = line.slice(tab + 1).trim();
    return tab === -1 || id === "" || words === "" ? [] : [{ id, title: words, body: "" }];
  });
}

/** What follows each occurrence of the tag, up to the next one. `<topic` is not `<topics`. */
function pieces(text: string, tag: string): string[] {
  const lower = text.toLowerCase();
  const starts: number[] = [];
  for (let at = lower.indexOf(tag); at !== -1; at = lower.indexOf(tag, at + 1)) {
    if (tag.endsWith(">") || /[\s>]/.test(lower[at + tag.length] ?? "")) starts.push(at + tag.length);
  }
  return starts.map((start, index) => text.slice(start, (starts[index + 1] ?? text.length + tag.length) - tag.length));
}

/** Text of each tag: up to the next tag, whether that closes it or not. */
function fields(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const marks = [...text.matchAll(/<(\/?)([a-z]{1,20})>/gi)];
  for (const [index, mark] of marks.entries()) {
    const name = (mark[2] ?? "").toLowerCase();
    const content = text.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? text.length);
    if (mark[1] === "" && !found.has(name)) found.set(name, unescaped(content.replace(/\s+/g, " ").trim()));
  }
  return found;
}

function oldTopic(text: string): Topic[] {
  const tags = fields(text);
  const said = (name: string, label: RegExp) => (tags.get(name) ?? "").replace(label, "").trim();
  const id = decodeTrecId(said("num", /^Number\s?:/i));
  const title = said("title", /^Topic\s?:/i);
  const description = said("desc", /^Description\s?:/i);
  const body = [description, said("narr", /^Narrative\s?:/i)].filter((part) => part !== "").join("\n\n");
  if (id === "" || (title === "" && body === "")) return [];
  return [{ id, title: title === "" ? description : title, body: title === "" ? "" : body }];
}

function xmlTopic(text: string): Topic[] {
  const head = text.slice(0, Math.max(0, text.indexOf(">")));
  const id = /\b(?:number|id|qid)\s{0,5}=\s{0,5}["']([^"']{1,200})["']/i.exec(head)?.[1]?.trim() ?? "";
  const tags = fields(text.slice(head.length + 1));
  const title = tags.get("query") ?? tags.get("title") ?? tags.get("question") ?? "";
  const rest = ["question", "description", "desc", "summary", "narrative", "narr"].map((name) => tags.get(name) ?? "");
  const body = [...new Set(rest)].filter((part) => part !== "" && part !== title).join("\n\n");
  // The whole element may be the question.
  const bare = unescaped(
    text
      .slice(head.length + 1, text.indexOf("<", head.length + 1))
      .replace(/\s+/g, " ")
      .trim(),
  );
  if (id === "" || (title === "" && bare === "")) return [];
  return [{ id: decodeTrecId(id), title: title === "" ? bare : title, body }];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
