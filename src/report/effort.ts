/**
 * What answering took: time, tokens, money, and which models really answered. Times are those of real executions: an answer keeps the time of
 * the call that gave it, and one from the cache adds none. What is unknown is said to be, and never counted as 0.
 */
import type { ScoredCase } from "../scoring/contract.js";
import { quantileOfSorted } from "../statistics/quantile.js";
import { markdownTable, markdownText } from "./escape.js";
import { plural } from "./numbers.js";

interface Total {
  readonly total: number;
  /** Answers that say it. */
  readonly answers: number;
}

export interface Effort {
  /** Answers that were given, whatever came of them. */
  readonly answers: number;
  /** Seconds of the answers that say how long they took. */
  readonly latency: {
    readonly answers: number;
    readonly mean: number;
    readonly median: number;
    readonly p95: number;
    readonly max: number;
  } | null;
  readonly input_tokens: Total | null;
  readonly output_tokens: Total | null;
  readonly reasoning_tokens: Total | null;
  readonly cost_usd: Total | null;
  /** Values that the answers themselves tell, each with the number of answers: a benchmark of one model must have one value each. */
  readonly circumstances: {
    readonly served_models: Readonly<Record<string, number>>;
    readonly revisions: Readonly<Record<string, number>>;
    readonly server_versions: Readonly<Record<string, number>>;
    readonly fingerprints: Readonly<Record<string, number>>;
    readonly price_dates: Readonly<Record<string, number>>;
  };
}

export function effortOf(cases: readonly ScoredCase[]): Effort {
  const given = cases.filter(({ status }) => status !== "unasked" && status !== "skipped");
  const seconds = given.flatMap(({ seconds: taken }) => taken ?? []).sort((a, b) => a - b);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const total = (member: string): Total | null => {
    const known = given.flatMap(({ usage }) => usage?.[member] ?? []);
    return known.length === 0 ? null : { total: sum(known), answers: known.length };
  };
  const told = (of: (details: ScoredCase["details"]) => unknown): Record<string, number> => {
    const counts = new Map<string, number>();
    for (const { details } of given) {
      const value = of(details);
      if (typeof value === "string" && value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
  };
  return {
    answers: given.length,
    latency:
      seconds.length === 0
        ? null
        : {
            answers: seconds.length,
            mean: sum(seconds) / seconds.length,
            median: quantileOfSorted(seconds, 0.5),
            p95: quantileOfSorted(seconds, 0.95),
            max: seconds.at(-1) ?? 0,
          },
    input_tokens: total("input_tokens"),
    output_tokens: total("output_tokens"),
    reasoning_tokens: total("reasoning_tokens"),
    cost_usd: total("cost_usd"),
    circumstances: {
      served_models: told(({ served_model }) => served_model),
      revisions: told(({ revision }) => revision),
      server_versions: told(({ server_version }) => server_version),
      fingerprints: told(({ system_fingerprint }) => system_fingerprint),
      price_dates: told(({ price }) => (typeof price === "object" && price !== null && "as_of" in price ? price.as_of : null)),
    },
  };
}

/** Section of the report; empty where no answer says anything of it. `rows`: names, escaped, with their cases. */
export function effortSection(rows: readonly { readonly name: string; readonly cases: readonly ScoredCase[] }[]): string {
  const efforts = rows.map(({ name, cases }) => ({ name, effort: effortOf(cases) }));
  const telling = efforts.filter(
    ({ effort }) => effort.latency !== null || effort.input_tokens !== null || effort.cost_usd !== null,
  );
  if (telling.length === 0) return "";
  const table = telling.map(({ name, effort }) => {
    const { answers, latency, input_tokens, output_tokens, reasoning_tokens, cost_usd } = effort;
    const times = latency === null ? ["-", "-"] : [duration(latency.median), duration(latency.p95)];
    return [
      name,
      String(answers),
      ...times,
      amount(input_tokens, answers, whole),
      amount(output_tokens, answers, whole),
      amount(reasoning_tokens, answers, whole),
      amount(cost_usd, answers, dollars),
      cost_usd === null ? "unknown" : dollars(cost_usd.total / cost_usd.answers),
    ];
  });
  const header = ["backend", "answers", "median s", "p95 s", "tokens in", "tokens out", "of them thinking", "cost", "per answer"];
  const dates = [...new Set(telling.flatMap(({ effort }) => Object.keys(effort.circumstances.price_dates)))].sort();
  const notes = [
    "Seconds are those of the call that gave the answer, retrieval included; a repeated run that finds the answer in the cache adds none. Failed attempts before it are not in them.",
    ...(dates.length === 0
      ? []
      : [`Costs are by list prices known as of ${dates.map((date) => markdownText(date)).join(", ")}.`]),
    ...telling.flatMap(({ name, effort }) => several(name, effort)),
  ];
  return ["## Cost and latency", markdownTable(header, table), notes.join("\n\n")].join("\n\n");
}

/** Answers of one cell that several models or revisions gave are no figure of one system. */
function several(name: string, { circumstances }: Effort): string[] {
  const words = { served_models: "models", revisions: "revisions of the model" } as const;
  return (Object.keys(words) as (keyof typeof words)[]).flatMap((what) => {
    const values = Object.entries(circumstances[what]);
    if (values.length < 2) return [];
    const shown = values.map(([value, n]) => `${markdownText(value)} (${plural(n, "answer")})`).join(", ");
    return [
      `**${name} was answered by several ${words[what]}**: ${shown}. Its figures mix them; ask again (\`--force\`) to have one.`,
    ];
  });
}

/** A total, and over how many answers where some do not say. */
function amount(total: Total | null, answers: number, shown: (value: number) => string): string {
  if (total === null) return "unknown";
  return total.answers === answers ? shown(total.total) : `${shown(total.total)} (${plural(total.answers, "answer")})`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function dollars(value: number): string {
  return `$${value.toFixed(value < 1 ? 4 : 2)}`;
}

function duration(seconds: number): string {
  return seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(1);
}
