/**
 * What a report page holds, as data: the agreement between the program that writes the file (`collect.ts`) and the script inside it
 * (`page/`). Types only, so that both sides, which are compiled for different worlds, can import it.
 *
 * The parts are apart because of their sizes: the overview is read at once, the table of cases is inflated when the page starts, and
 * what an answer said only when somebody looks at its case.
 */

/** [value, lower, upper, n]; null = there is none. */
export type Figure = readonly [value: number | null, lower: number | null, upper: number | null, n: number];

export interface PageMeasure {
  readonly name: string;
  readonly definition: string;
}

export interface PageCell {
  readonly label: string;
  readonly backend: string;
  readonly kind: string | null;
  readonly rules: string;
  /** Random, popularity, oracle, empty: what a system must be seen beside. */
  readonly baseline: boolean;
  readonly n: number;
  readonly repeats: number;
  /** One per measure of the page; null where the cell was not scored by it. */
  readonly figures: readonly (Figure | null)[];
  readonly expected: readonly (number | null)[] | null;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly matched: Readonly<Record<string, number>>;
  /** By stratum, value, then per measure. */
  readonly strata: Readonly<Record<string, Readonly<Record<string, readonly (Figure | null)[]>>>>;
  readonly seconds: { readonly median: number; readonly p95: number; readonly total: number; readonly answers: number } | null;
  readonly tokens: { readonly input: number | null; readonly output: number | null };
  readonly cost: { readonly total: number; readonly answers: number } | null;
  /** Macro means at each depth from 1 on; null where a cell has no one ranking per case. */
  readonly curve: { readonly recall: readonly number[]; readonly precision: readonly number[] } | null;
  readonly identity: string;
  readonly rulesDigest: string;
  readonly warnings: readonly string[];
  readonly interval: string | null;
}

export interface PagePair {
  readonly measure: string;
  readonly a: string;
  readonly b: string;
  readonly values: readonly [number, number];
  readonly difference: number;
  readonly lower: number;
  readonly upper: number;
  readonly p: number;
  readonly pHolm: number;
  readonly stands: boolean;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  readonly mcnemar: number | null;
  readonly cautions: readonly string[];
}

export interface PageComparison {
  readonly n: number;
  readonly measures: readonly string[];
  readonly pairs: readonly PagePair[];
  readonly method: readonly string[];
  readonly notes: readonly string[];
}

export interface PageData {
  readonly version: 1;
  readonly title: string;
  readonly generatedAt: string | null;
  readonly versions: Readonly<Record<string, string>> | null;
  readonly dataset: {
    readonly name: string;
    readonly url: string | null;
    readonly digest: string;
    readonly facts: readonly (readonly [string, string])[];
    readonly notes: readonly string[];
    readonly audit: readonly { readonly rule: string; readonly removed: number; readonly what: string }[];
  };
  readonly corpus: string | null;
  readonly measures: readonly PageMeasure[];
  readonly cells: readonly PageCell[];
  readonly comparisons: readonly PageComparison[];
  /** Why there is no comparison, or not of every measure. */
  readonly compareNote: string | null;
  readonly cases: number;
  /** Cases per block of details. */
  readonly block: number;
  /** Characters of an answer or prompt that were kept at most, and how many texts were cut. */
  readonly cut: { readonly limit: number; readonly texts: number };
}

/** Column by column: ten thousand small objects would take longer to read than the rest of the page. */
export interface CaseTable {
  readonly ids: readonly string[];
  readonly numbers: readonly (number | null)[];
  readonly titles: readonly string[];
  readonly urls: readonly (string | null)[];
  readonly targets: readonly number[];
  readonly strata: Readonly<Record<string, readonly (string | null)[]>>;
  /** Words that `outcome` of a cell names by position. */
  readonly outcomes: readonly string[];
  readonly cells: readonly CellColumns[];
}

export interface CellColumns {
  /** Position in `outcomes`; -1: the cell has no such case. */
  readonly outcome: readonly number[];
  /** 1 = in the headline. */
  readonly counted: readonly (0 | 1)[];
  /** Per measure of the page; null = undefined or not scored. Empty for a measure that has no value of a case. */
  readonly values: readonly (readonly (number | null)[])[];
}

/** [raw, path, read by, rung, target, ambiguous] */
export type PagePrediction = readonly [
  raw: string,
  path: string | null,
  readBy: string,
  rung: string | null,
  target: string | null,
  ambiguous: 0 | 1,
];

export interface PageAnswer {
  readonly repeat: number;
  readonly status: string;
  readonly outcome: string;
  readonly why: string | null;
  readonly error: string | null;
  readonly finish: string | null;
  readonly excluded: string | null;
  readonly seconds: number | null;
  readonly usage: Readonly<Record<string, number | null>> | null;
  readonly predictions: readonly PagePrediction[];
  /** All of them, also those that the page leaves out. */
  readonly predicted: number;
  readonly draws: number | null;
  readonly text: string;
  /** Characters of the whole text. */
  readonly length: number;
  /** Position in the case's prompts; null = not stored. */
  readonly prompt: number | null;
}

export interface CaseDetail {
  readonly targets: readonly string[];
  readonly grades: readonly number[] | null;
  readonly absent: readonly string[];
  readonly repository: string | null;
  readonly changes: readonly string[];
  readonly prompts: readonly { readonly text: string; readonly length: number }[];
  /** Per cell, the answers to this case. */
  readonly cells: readonly (readonly PageAnswer[])[];
}

export interface RunNode {
  readonly id: string;
  readonly name: string;
  readonly uses: string;
  readonly needs: readonly string[];
  readonly state: string;
  readonly items: number;
  readonly executed: number;
  readonly cached: number;
  readonly failed: number;
  /** Milliseconds after the run began, of the first and the last work; null where nothing was executed. */
  readonly from: number | null;
  readonly to: number | null;
}

export interface RunFacts {
  readonly id: string;
  readonly pipeline: string;
  readonly command: string;
  readonly state: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly nodes: readonly RunNode[];
  readonly waits: readonly {
    readonly resource: string;
    readonly from: number;
    readonly to: number | null;
    readonly why: string;
  }[];
  readonly retries: number;
  readonly warnings: readonly string[];
  /** Milliseconds from the first to the last event. */
  readonly length: number;
}
