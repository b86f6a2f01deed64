/**
 * What GraphRAG's command line printed, turned into its answer. Pure.
 *
 * Three habits, by version: until 2.3 log lines come first and the answer follows `SUCCESS: Local Search Response:`; 2.4 and 2.5 log to
 * standard output, so that the answer is one log record among others; since 2.6 the answer alone is printed. The text itself tells which
 * one it is, so a version that was not recognised is still read right.
 */

export interface GraphragOutput {
  readonly answer: string;
  /** Log lines were taken away: the whole output is worth keeping beside the answer. */
  readonly cleaned: boolean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes are the subject
const ANSI = /\u001b\[[0-9;?]{0,32}[A-Za-z]/g;
const MARK = /^SUCCESS: (?:Global|Local|DRIFT|Drift|Basic) Search Response:[ \t]?/gm;
const LOGGED = / - INFO - graphrag\.cli\.query - (?:Global|Local|DRIFT|Drift|Basic) Search Response:[ \t]?\r?\n/g;
const NEXT_RECORD = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{1,6} - [A-Z]{4,8} - /m;

export function readGraphragOutput(stdout: string): GraphragOutput {
  const text = stdout.replace(ANSI, "");
  const mark = last(text.matchAll(MARK));
  if (mark !== undefined) return { answer: text.slice(mark.index + mark[0].length).trim(), cleaned: true };
  const logged = last(text.matchAll(LOGGED));
  if (logged !== undefined) {
    const rest = text.slice(logged.index + logged[0].length);
    const end = NEXT_RECORD.exec(rest)?.index;
    return { answer: rest.slice(0, end).trim(), cleaned: true };
  }
  return { answer: text.trim(), cleaned: text !== stdout };
}

function last<T>(values: Iterable<T>): T | undefined {
  let found: T | undefined;
  for (const value of values) found = value;
  return found;
}

export interface Citation {
  /** `Sources`, `Reports`, `Entities`, ... as the answer spelt it. */
  readonly dataset: string;
  /** Row numbers of that table (`human_readable_id`), or whatever else stood there; at most 5 by the prompt's rule, which models break. */
  readonly ids: readonly string[];
  /** `+more` stood at the end. */
  readonly more: boolean;
}

const BRACKET = /\[Data: ([^[\]\n]{1,2000})\]/g;
const GROUP = /([A-Za-z][A-Za-z _-]{0,60}) \(([^()]{1,1000})\)/g;
const MOST_CITATIONS = 1000;

/**
 * `[Data: Sources (15, 16); Reports (1, +more)]`: which rows of the index the model says that it used. Kept as facts about the answer; they
 * are numbers and never files. Equal data sets are joined, in the order of their first appearance.
 */
export function citationsOf(answer: string): Citation[] {
  const found = new Map<string, { ids: Set<string>; more: boolean }>();
  let count = 0;
  for (const [, inside = ""] of answer.matchAll(BRACKET)) {
    for (const [, dataset = "", list = ""] of inside.matchAll(GROUP)) {
      const entry = found.get(dataset) ?? { ids: new Set<string>(), more: false };
      found.set(dataset, entry);
      for (const id of list.split(",").map((part) => part.trim())) {
        if (id === "+more") entry.more = true;
        else if (id !== "" && count < MOST_CITATIONS) {
          entry.ids.add(id);
          count += 1;
        }
      }
    }
  }
  return [...found].map(([dataset, { ids, more }]) => ({ dataset, ids: [...ids], more }));
}

/** GraphRAG's own sentence for "nothing in the index helps"; it also comes when every call behind a global search failed. */
export function isNoDataAnswer(answer: string): boolean {
  return answer.trim() === "I am sorry but I am unable to answer this question given the provided data.";
}
