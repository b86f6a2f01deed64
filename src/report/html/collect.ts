/** A run's cells as the data of its page. It computes nothing that the scores don't hold but means over depths (`curves.ts`). */
import { parseMeasures } from "../../measures/registry.js";
import type { Comparison } from "../../scoring/compare.js";
import type { ScoredCase } from "../../scoring/contract.js";
import type { ViewSummary } from "../../scoring/summary-schema.js";
import { scoresOfRepeats } from "../../scoring/view-scores.js";
import { viewsOf } from "../../scoring/views.js";
import { cautions, methodLines, noiseLines } from "../comparison.js";
import { effortOf } from "../effort.js";
import type { Cell, ReportFacts } from "../json.js";
import { percent, plural } from "../numbers.js";
import { curveOf } from "./curves.js";
import { blocksOf, type CutTexts } from "./details.js";
import type { CaseDetail, CaseTable, CellColumns, Figure, PageCell, PageComparison, PageData } from "./page-data.js";

/** Cases per block of details: a block is inflated when one of its cases is looked at. */
const BLOCK = 50;
const BASELINES: ReadonlySet<string> = new Set(["random", "popularity", "oracle", "empty"]);

export interface PageParts {
  readonly data: PageData;
  readonly table: CaseTable;
  readonly blocks: readonly (readonly CaseDetail[])[];
}

export function pageParts(
  cells: readonly Cell[],
  facts: ReportFacts,
  compared: { readonly comparisons: readonly Comparison[]; readonly note: string | null },
): PageParts {
  const names = [...new Set(cells.flatMap(({ summary }) => summary.measure_order))];
  const byId = cells.map(({ cases }) => casesById(cases));
  const ids = [
    ...new Set(cells.flatMap(({ meta }) => meta.order).concat(cells.flatMap(({ cases }) => cases.map(({ id }) => id)))),
  ];
  const { blocks, cut } = blocksOf(ids, byId, BLOCK);
  return {
    data: pageData(cells, names, facts, compared, ids.length, cut),
    table: tableOf(cells, names, ids, byId),
    blocks,
  };
}

function casesById(cases: readonly ScoredCase[]): ReadonlyMap<string, readonly ScoredCase[]> {
  const groups = new Map<string, ScoredCase[]>();
  for (const one of cases) {
    const group = groups.get(one.id);
    if (group === undefined) groups.set(one.id, [one]);
    else group.push(one);
  }
  return groups;
}

function pageData(
  cells: readonly Cell[],
  names: readonly string[],
  facts: ReportFacts,
  { comparisons, note }: { readonly comparisons: readonly Comparison[]; readonly note: string | null },
  cases: number,
  cut: CutTexts,
): PageData {
  const dataset = cells[0]?.meta.dataset;
  const corpus = cells[0]?.meta.corpus ?? null;
  const parsed = parseMeasures(names);
  const definitions = new Map((parsed.ok ? parsed.value : []).map(({ name, definition }) => [name, definition]));
  return {
    version: 1,
    title: dataset?.project_name ?? "report",
    generatedAt: facts.generatedAt,
    versions: facts.versions ?? null,
    dataset: {
      name: dataset?.project_name ?? "",
      url: dataset?.url ?? null,
      digest: dataset?.digest ?? "",
      facts: [
        [
          "Cases",
          dataset === undefined || dataset.selected === dataset.cases ? String(cases) : `${dataset.selected} of ${dataset.cases}`,
        ],
        ...(dataset?.scanned == null ? [] : [["Issues looked at", String(dataset.scanned)] as const]),
        ...(dataset?.links == null ? [] : [["Links", dataset.links] as const]),
        ...(dataset?.extensions == null ? [] : [["Extensions", dataset.extensions.join(", ")] as const]),
      ],
      notes: dataset?.notes ?? [],
      audit: (dataset?.audit ?? []).map(({ rule, removed, what }) => ({ rule, removed, what })),
    },
    corpus:
      corpus === null
        ? null
        : `${corpus.source}${corpus.trees > 1 ? `, ${plural(corpus.trees, "tree")}` : ""}, ${plural(corpus.files, "file")}`,
    measures: names.map((name) => ({ name, definition: definitions.get(name) ?? "" })),
    cells: cells.map((cell) => pageCell(cell, names)),
    comparisons: comparisons.map(pageComparison),
    compareNote: note,
    cases,
    block: BLOCK,
    cut,
  };
}

function figuresOf(measures: ViewSummary["measures"], names: readonly string[]): (Figure | null)[] {
  return names.map((name) => {
    const one = Object.hasOwn(measures, name) ? measures[name] : undefined;
    return one === undefined ? null : [one.value, one.lower, one.upper, one.n];
  });
}

function pageCell({ label, meta, cases, summary }: Cell, names: readonly string[]): PageCell {
  const effort = effortOf(cases);
  const { expectation, bootstrap } = summary;
  return {
    label,
    backend: meta.backend,
    kind: meta.kind,
    rules: meta.rules.name,
    baseline: meta.kind !== null && BASELINES.has(meta.kind),
    n: summary.n,
    repeats: summary.repeats,
    figures: figuresOf(summary.measures, names),
    expected: expectation === null ? null : names.map((name) => expectation[name] ?? null),
    outcomes: summary.outcomes,
    matched: summary.matched_by,
    strata: Object.fromEntries(
      Object.entries(summary.strata).map(([name, values]) => [
        name,
        Object.fromEntries(Object.entries(values).map(([value, view]) => [value, figuresOf(view.measures, names)])),
      ]),
    ),
    seconds:
      effort.latency === null
        ? null
        : {
            median: effort.latency.median,
            p95: effort.latency.p95,
            total: effort.latency.mean * effort.latency.answers,
            answers: effort.latency.answers,
          },
    tokens: { input: effort.input_tokens?.total ?? null, output: effort.output_tokens?.total ?? null },
    cost: effort.cost_usd,
    curve: curveOf(cases, meta),
    identity: meta.identity == null ? "" : JSON.stringify(meta.identity),
    rulesDigest: meta.rules.digest,
    warnings: [
      ...meta.warnings,
      ...meta.left_out.map(
        ({ what, count, examples }) =>
          `Left out: ${count} ${what}${examples.length > 0 ? ` (${examples.slice(0, 5).join(", ")})` : ""}`,
      ),
    ],
    interval:
      bootstrap === null
        ? null
        : `${percent(bootstrap.level)}, ${bootstrap.method} bootstrap, ${plural(bootstrap.samples, "resample")} of the ${bootstrap.cluster === undefined ? "cases" : `clusters (${bootstrap.cluster})`}, seed ${bootstrap.seed}`,
  };
}

function pageComparison(comparison: Comparison): PageComparison {
  const { measure_order, measures, settings } = comparison;
  return {
    n: comparison.n,
    measures: measure_order,
    method: methodLines(comparison),
    notes: [...noiseLines(comparison), ...comparison.notes],
    pairs: measure_order.flatMap((measure) =>
      (measures[measure] ?? []).map((row) => ({
        measure,
        a: row.run_a,
        b: row.run_b,
        values: [row.a, row.b] as const,
        difference: row.difference,
        lower: row.ci95.lower,
        upper: row.ci95.upper,
        p: row.randomisation.p,
        pHolm: row.p_holm,
        stands: row.stands,
        wins: row.wins,
        ties: row.ties,
        losses: row.losses,
        mcnemar: row.mcnemar?.p ?? null,
        cautions: cautions(measure, row, settings.alpha),
      })),
    ),
  };
}

function tableOf(
  cells: readonly Cell[],
  names: readonly string[],
  ids: readonly string[],
  byId: readonly ReadonlyMap<string, readonly ScoredCase[]>[],
): CaseTable {
  const firsts = ids.map((id) => byId.map((cases) => cases.get(id)?.[0]).find((one) => one !== undefined));
  const strata = [...new Set(firsts.flatMap((one) => Object.keys(one?.strata ?? {})))].sort();
  const outcomes: string[] = [];
  const outcomeAt = (outcome: string): number => {
    const known = outcomes.indexOf(outcome);
    return known === -1 ? outcomes.push(outcome) - 1 : known;
  };
  const columns = cells.map(({ meta, cases }, cell): CellColumns => {
    const headline = new Set((viewsOf(cases, meta)[0]?.rows ?? []).map(({ id }) => id));
    const groups = ids.map((id) => byId[cell]?.get(id) ?? []);
    const scores = groups.map((group) => (group.length === 0 ? null : scoresOfRepeats(group)));
    return {
      outcome: groups.map((group) => outcomeOf(group, outcomeAt)),
      counted: ids.map((id) => (headline.has(id) ? 1 : 0)),
      values: names.map((name) =>
        scores.some((one) => one !== null && Object.hasOwn(one.measures, name))
          ? scores.map((one) => short(one?.measures[name]))
          : [],
      ),
    };
  });
  return {
    ids,
    numbers: firsts.map((one) => one?.number ?? null),
    titles: firsts.map((one) => one?.title ?? ""),
    urls: firsts.map((one) => one?.url ?? null),
    targets: firsts.map((one) => one?.targets.length ?? 0),
    strata: Object.fromEntries(strata.map((name) => [name, firsts.map((one) => one?.strata[name] ?? null)])),
    outcomes,
    cells: columns,
  };
}

/** Of a case that was asked several times, the outcome that they share, or `mixed`. */
function outcomeOf(group: readonly ScoredCase[], at: (outcome: string) => number): number {
  const [first, ...others] = group;
  if (first === undefined) return -1;
  return at(others.every(({ outcome }) => outcome === first.outcome) ? first.outcome : "mixed");
}

/** Four digits: the page shows three, and ten thousand times sixteen would double the file. */
function short(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value.toFixed(4));
}
