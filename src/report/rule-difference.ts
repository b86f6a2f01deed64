/** What a change of rules changed, for people: a table of figures, then the cases gained and lost with the prediction that decided. */
import { visible } from "../base/diagnostics.js";
import type { CaseDifference, Decision, PredictionChange, RuleDifference } from "../scoring/rule-difference.js";
import { markdownTable, markdownText } from "./escape.js";
import { percent, plural, ratio } from "./numbers.js";

export interface DifferenceText {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  readonly difference: RuleDifference;
  readonly bootstrap: { readonly samples: number; readonly seed: number; readonly level: number };
}

/** Cases of each sort that a terminal shows; the files have all. */
const SHOWN = 20;
const SHOWN_PREDICTIONS = 5;

/** For the terminal; ends with a line break. */
export function renderDifference(given: DifferenceText): string {
  const { label, before, after, difference, bootstrap } = given;
  const rows = Object.entries(difference.measures).map(([name, one]) => [
    name,
    ratio(one.before),
    ratio(one.after),
    signed(one.difference),
    interval(one.ci95),
    gainedAndLost(one),
  ]);
  const header = ["", visible(before), visible(after), "difference", percent(bootstrap.level), "cases"];
  const lines = [`${visible(label)}: ${plural(difference.n, "case")}, rules ${visible(before)} -> ${visible(after)}`];
  lines.push(...aligned([header, ...rows]));
  lines.push(...notCompared(difference));
  for (const [change, title] of SORTS) {
    const cases = difference.cases.filter((one) => one.change === change);
    if (cases.length === 0) continue;
    lines.push("", `${title} (${cases.length}):`);
    for (const one of cases.slice(0, SHOWN)) lines.push(...caseLines(one));
    if (cases.length > SHOWN) lines.push(`  ... and ${cases.length - SHOWN} more`);
  }
  if (difference.cases.length === 0) lines.push("", "No case is decided otherwise.");
  return `${lines.join("\n")}\n`;
}

const SORTS = [
  ["gained", "Gained: F1 rose"],
  ["lost", "Lost: F1 fell"],
  ["other", "Decided otherwise, same F1"],
] as const;

function caseLines(one: CaseDifference): string[] {
  const lines = [`  ${visible(one.id)}  F1 ${ratio(one.f1.before)} -> ${ratio(one.f1.after)}`];
  for (const text of factsOf(one)) lines.push(`      ${visible(text)}`);
  return lines;
}

/** Sentences on a case, unescaped. */
function factsOf(one: CaseDifference, most = SHOWN_PREDICTIONS): string[] {
  const facts: string[] = [];
  if (one.outcome !== null) facts.push(`read as ${one.outcome.before.join(", ")} -> ${one.outcome.after.join(", ")}`);
  if (one.targets.removed.length > 0) facts.push(`no longer a target: ${some(one.targets.removed, most)}`);
  if (one.targets.added.length > 0) facts.push(`now a target: ${some(one.targets.added, most)}`);
  for (const change of one.predictions.slice(0, most)) facts.push(sentence(change));
  if (one.predictions.length > most) facts.push(`... and ${plural(one.predictions.length - most, "prediction")} more`);
  return facts;
}

function some(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ");
}

/** `"Cart": no file -> hits src/Cart.java (simple-name)`. */
function sentence({ raw, repeat, before, after }: PredictionChange): string {
  const which = repeat === 0 ? "" : ` (answer ${repeat + 1})`;
  return `"${raw.length > 160 ? `${raw.slice(0, 159)}…` : raw}"${which}: ${decided(before)} -> ${decided(after)}`;
}

function decided(decision: Decision | null): string {
  if (decision === null) return "not in the list";
  if (decision.target !== null) return `hits ${decision.target} (${decision.rung ?? "?"})`;
  if (decision.ambiguous) return "several files bear the name";
  return decision.path === null ? "no file" : `misses with ${decision.path} (${decision.rung ?? "?"})`;
}

function gainedAndLost({ gained, lost }: { readonly gained: readonly string[]; readonly lost: readonly string[] }): string {
  return gained.length + lost.length === 0 ? "" : `+${gained.length} -${lost.length}`;
}

function notCompared({ only_before, only_after }: RuleDifference): string[] {
  const lines: string[] = [];
  if (only_before.length > 0) lines.push(`Counted only before, not compared: ${some(only_before.map(visible), 5)}`);
  if (only_after.length > 0) lines.push(`Counted only now, not compared: ${some(only_after.map(visible), 5)}`);
  return lines;
}

function signed(value: number | null): string {
  if (value === null) return "-";
  const text = value.toFixed(3);
  return value > 0 && text !== "0.000" ? `+${text}` : text === "-0.000" ? "0.000" : text;
}

function interval({ lower, upper }: { readonly lower: number | null; readonly upper: number | null }): string {
  return lower === null || upper === null ? "" : `${signed(lower)} to ${signed(upper)}`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart((widths[column] ?? 0) + 2)))
      .join("")
      .trimEnd(),
  );
}

/** `difference.md`: every case, everything that strangers wrote escaped. */
export function markdownDifference(cells: readonly DifferenceText[], facts: { readonly run: string }): string {
  const sections = cells.map((given) => {
    const { label, before, after, difference, bootstrap } = given;
    const rows = Object.entries(difference.measures).map(([name, one]) => [
      markdownText(name),
      ratio(one.before),
      ratio(one.after),
      signed(one.difference),
      interval(one.ci95),
      gainedAndLost(one),
    ]);
    const parts = [
      `## ${markdownText(label)}`,
      `${plural(difference.n, "case")} that both rule sets count. Intervals (${percent(bootstrap.level)}): ${bootstrap.samples} paired resamples of the cases, seed ${bootstrap.seed}.`,
      markdownTable(["measure", markdownText(before), markdownText(after), "difference", "interval", "cases"], rows),
    ];
    for (const [ids, what] of [
      [difference.only_before, "Counted only before"],
      [difference.only_after, "Counted only now"],
    ] as const) {
      if (ids.length > 0) parts.push(`${what}, not compared: ${ids.map((id) => markdownText(id)).join(", ")}.`);
    }
    for (const [change, title] of SORTS) {
      const cases = difference.cases.filter((one) => one.change === change);
      if (cases.length === 0) continue;
      const lines = cases.flatMap((one) => [
        `- ${markdownText(one.id)} ${markdownText(one.title)}: F1 ${ratio(one.f1.before)} to ${ratio(one.f1.after)}`,
        ...factsOf(one, Number.POSITIVE_INFINITY).map((text) => `  - ${markdownText(text, 400)}`),
      ]);
      parts.push(`### ${title} (${cases.length})`, lines.join("\n"));
    }
    return parts.join("\n\n");
  });
  const intro = `The same answers, read and matched by other rules. Nothing was asked again.`;
  return `${[`# What the rules changed: ${markdownText(facts.run)}`, intro, ...sections].join("\n\n")}\n`;
}
