/** The first thing that is seen: figures with their intervals, the baselines beside them, and what they rest on. */
import type { Figure, PageCell, PageData } from "../page-data.js";
import { figure, intervals, spark } from "./charts.js";
import { type Child, choice, h, outside, save } from "./dom.js";
import { csvLine, grouped, plural, ratio, seconds } from "./format.js";
import { formatState, type State } from "./state.js";

const FAILED = ["timed_out", "rate_limited", "failed", "skipped", "unasked"];
const OUTCOMES = ["answered", "abstained", "refused", "unparsable", "failed"] as const;

export function overview(data: PageData, { params }: State, go: (params: Record<string, string>) => void): HTMLElement {
  const names = data.measures.map(({ name }) => name);
  const chosen = Math.max(0, names.indexOf(params.measure ?? ""));
  const measure = data.measures[chosen];
  return h(
    "div",
    {},
    h(
      "section",
      { class: "lead", "aria-labelledby": "headline" },
      h("h2", { id: "headline" }, "Headline"),
      h("p", { class: "sub" }, summaryLine(data)),
      h(
        "div",
        { class: "controls" },
        choice(
          "Measure",
          names.map((name) => [name, name]),
          measure?.name ?? "",
          (value) => go({ ...params, measure: value }),
        ),
        h("p", { class: "definition" }, measure?.definition ?? ""),
      ),
      headline(data, chosen),
    ),
    h("section", { "aria-labelledby": "figures" }, h("h2", { id: "figures" }, "All measures"), figuresTable(data)),
    h("section", { "aria-labelledby": "outcomes" }, h("h2", { id: "outcomes" }, "Outcomes"), outcomesTable(data)),
    effort(data),
    strata(data, chosen),
    facts(data),
  );
}

function summaryLine(data: PageData): string {
  const first = data.cells[0];
  const scored = new Set(data.cells.map(({ n }) => n));
  const of = scored.size === 1 ? `${plural(first?.n ?? 0, "case")} scored` : `${plural(data.cases, "case")}`;
  const rules = [...new Set(data.cells.map((cell) => cell.rules))];
  return `${of}, ${plural(data.cells.length, "configuration")}, rules ${rules.join(", ")}. ${first?.interval == null ? "No intervals were made." : `Intervals: ${first.interval}.`}`;
}

function headline(data: PageData, chosen: number): HTMLElement {
  const name = data.measures[chosen]?.name ?? "";
  const rows = data.cells.map((cell) => {
    const [value = null, lower = null, upper = null] = cell.figures[chosen] ?? [];
    const range = lower === null || upper === null ? "" : `   ${ratio(lower)}–${ratio(upper)}`;
    return {
      label: cell.label,
      ...{ value, lower, upper },
      faint: cell.baseline,
      text: `${ratio(value)}${range}`,
      href: formatState("cases", { backend: cell.label, measure: name }),
      mark: cell.expected?.[chosen] ?? null,
    };
  });
  const marked = rows.some(({ mark }) => mark !== null);
  const hollow = data.cells.some(({ baseline }) => baseline);
  const highest = Math.max(0, ...rows.map(({ value, upper }) => Math.max(value ?? 0, upper ?? 0)));
  return figure(
    `${name} by configuration`,
    intervals(rows, [0, Math.max(1, highest)]),
    [["configuration", name, "lower", "upper"], ...rows.map(({ label, value, lower, upper }) => [label, value, lower, upper])],
    `${hollow ? "Hollow: baselines. " : ""}${marked ? "Upright stroke: the closed-form expectation of a random ranking. " : ""}A name leads to its cases, the worst first. No largest number is set apart: see Compare for what stands.`,
  );
}

function figuresTable(data: PageData): HTMLElement {
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "Configuration"),
    data.measures.map(({ name, definition }) => h("th", { scope: "col", class: "number", title: definition }, name)),
  );
  const rows = data.cells.map((cell) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        h("a", { href: formatState("cases", { backend: cell.label }) }, cell.label),
        cell.baseline ? h("span", { class: "tag" }, "baseline") : null,
      ),
      data.measures.map((_, index) => h("td", { class: "number" }, figureCell(cell.figures[index] ?? null, cell.baseline))),
    ),
  );
  const csv = () =>
    [
      csvLine(["configuration", ...data.measures.flatMap(({ name }) => [name, `${name} lower`, `${name} upper`])]),
      ...data.cells.map((cell) =>
        csvLine([
          cell.label,
          ...data.measures.flatMap((_, i) => [
            cell.figures[i]?.[0] ?? null,
            cell.figures[i]?.[1] ?? null,
            cell.figures[i]?.[2] ?? null,
          ]),
        ]),
      ),
    ].join("");
  return h(
    "div",
    {},
    scrolling("All measures", h("table", { class: "figures" }, h("thead", {}, head), h("tbody", {}, rows))),
    h(
      "p",
      { class: "after" },
      h("button", { type: "button", class: "quiet", on: { click: () => save("figures.csv", "text/csv", csv()) } }, "Save as CSV"),
    ),
  );
}

function figureCell(figures: Figure | null, faint: boolean): Child {
  if (figures === null) return "–";
  const [value, lower, upper] = figures;
  const range = lower === null || upper === null ? null : h("span", { class: "range" }, `${ratio(lower)}–${ratio(upper)}`);
  return [
    h("span", { class: "value" }, ratio(value)),
    range,
    value !== null && value <= 1 ? spark(value, lower, upper, faint) : null,
  ];
}

function outcomesTable(data: PageData): HTMLElement {
  const counts = (cell: PageCell) =>
    OUTCOMES.map((name) =>
      name === "failed" ? FAILED.reduce((sum, one) => sum + (cell.outcomes[one] ?? 0), 0) : (cell.outcomes[name] ?? 0),
    );
  const rows = data.cells.map((cell) => {
    const numbers = counts(cell);
    const total = numbers.reduce((sum, n) => sum + n, 0) || 1;
    const bar = h(
      "span",
      { class: "bar", "aria-hidden": "true" },
      numbers.map((n, index) => (n === 0 ? null : sized(h("i", { class: `o-${OUTCOMES[index]}` }), n / total))),
    );
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, cell.label),
      h("td", {}, bar),
      numbers.map((n) => h("td", { class: n === 0 ? "number zero" : "number" }, grouped(n))),
    );
  });
  return scrolling(
    "Outcomes",
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Configuration"),
          h("th", { scope: "col" }, "Share"),
          OUTCOMES.map((name) =>
            h("th", { scope: "col", class: "number" }, h("span", { class: `key o-${name}`, "aria-hidden": "true" }), name),
          ),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );
}

function sized(element: HTMLElement, share: number): HTMLElement {
  element.style.width = `${(share * 100).toFixed(2)}%`;
  return element;
}

function effort(data: PageData): Child {
  if (data.cells.every(({ seconds: time, cost }) => time === null && cost === null)) return null;
  const known = (value: number | null, show: (value: number) => string) =>
    h("td", { class: value === null ? "number zero" : "number" }, value === null ? "–" : show(value));
  const rows = data.cells.map((cell) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, cell.label),
      known(cell.seconds?.median ?? null, seconds),
      known(cell.seconds?.p95 ?? null, seconds),
      known(cell.seconds?.total ?? null, seconds),
      known(cell.tokens.input, grouped),
      known(cell.tokens.output, grouped),
      known(cell.cost?.total ?? null, (usd) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`),
    ),
  );
  const head = ["Median", "95th percentile", "Total", "Input tokens", "Output tokens", "Cost"].map((name) =>
    h("th", { scope: "col", class: "number" }, name),
  );
  return h(
    "section",
    { "aria-labelledby": "effort" },
    h("h2", { id: "effort" }, "Time and cost"),
    scrolling(
      "Time and cost",
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Configuration"), head)), h("tbody", {}, rows)),
    ),
    h("p", { class: "note" }, "Times are those of real executions, never of answers from the cache. A dash: unknown, not zero."),
  );
}

function strata(data: PageData, chosen: number): Child {
  const names = [...new Set(data.cells.flatMap((cell) => Object.keys(cell.strata)))].sort();
  const tables = names.flatMap((name) => {
    const values = [...new Set(data.cells.flatMap((cell) => Object.keys(cell.strata[name] ?? {})))];
    // One value says what the headline said.
    if (values.length < 2 || values.length > 12) return [];
    const n = (value: string) => Math.max(0, ...data.cells.map((cell) => cell.strata[name]?.[value]?.[chosen]?.[3] ?? 0));
    const head = values.map((value) =>
      h(
        "th",
        { scope: "col", class: "number" },
        h("a", { href: formatState("cases", { stratum: `${name}=${value}` }) }, value),
        h("span", { class: "range" }, plural(n(value), "case")),
      ),
    );
    const rows = data.cells.map((cell) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, cell.label),
        values.map((value) =>
          h("td", { class: "number" }, figureCell(cell.strata[name]?.[value]?.[chosen] ?? null, cell.baseline)),
        ),
      ),
    );
    return [
      h("h3", {}, name),
      scrolling(
        `Stratum ${name}`,
        h(
          "table",
          { class: "figures" },
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Configuration"), head)),
          h("tbody", {}, rows),
        ),
      ),
    ];
  });
  return tables.length === 0
    ? null
    : h(
        "section",
        { "aria-labelledby": "strata" },
        h("h2", { id: "strata" }, `Strata: ${data.measures[chosen]?.name ?? ""}`),
        tables,
      );
}

function facts(data: PageData): HTMLElement {
  const { dataset } = data;
  const warnings = grouping(data.cells);
  const pair = (term: string, ...value: Child[]) => [h("dt", {}, term), h("dd", {}, ...value)];
  return h(
    "section",
    { class: "columns", "aria-label": "Data set and provenance" },
    h(
      "div",
      {},
      h("h2", {}, "Data set"),
      h(
        "dl",
        {},
        pair("Name", outside(dataset.url, dataset.name)),
        dataset.facts.map(([term, value]) => pair(term, value)),
        data.corpus === null ? null : pair("Corpus", data.corpus),
      ),
      dataset.notes.length === 0
        ? null
        : h(
            "ul",
            { class: "notes" },
            dataset.notes.map((note) => h("li", {}, note)),
          ),
      dataset.audit.length === 0
        ? null
        : h(
            "details",
            {},
            h("summary", {}, "What the rules removed"),
            h(
              "ul",
              {},
              dataset.audit.map(({ removed, what, rule }) => h("li", {}, `${grouped(removed)} ${what} (${rule})`)),
            ),
          ),
    ),
    h(
      "div",
      {},
      h("h2", {}, "Warnings"),
      warnings.length === 0
        ? h("p", { class: "sub" }, "None.")
        : h(
            "ul",
            { class: "notes" },
            warnings.map(([text, names]) => h("li", {}, names === "" ? text : `${names}: ${text}`)),
          ),
      h("h2", {}, "Provenance"),
      h(
        "dl",
        {},
        data.generatedAt === null ? null : pair("Made", data.generatedAt),
        Object.entries(data.versions ?? {}).map(([name, version]) => pair(name, version)),
        dataset.digest === "" ? null : pair("Data set", h("code", {}, dataset.digest)),
        [...new Map(data.cells.map((cell) => [cell.rulesDigest, cell.rules]))].map(([digest, name]) =>
          pair(`Rules ${name}`, h("code", {}, digest)),
        ),
      ),
      h(
        "details",
        {},
        h("summary", {}, "Identities of the configurations"),
        h(
          "dl",
          {},
          data.cells.map((cell) => pair(cell.label, h("code", {}, cell.identity === "" ? "none declared" : cell.identity))),
        ),
      ),
    ),
  );
}

/** The same warning of several configurations is said once. */
function grouping(cells: readonly PageCell[]): (readonly [text: string, names: string])[] {
  const by = new Map<string, string[]>();
  for (const cell of cells) for (const text of cell.warnings) by.set(text, [...(by.get(text) ?? []), cell.label]);
  return [...by].map(([text, names]) => [text, names.length === cells.length ? "" : names.join(", ")]);
}

/** Wide tables scroll within themselves, also by keyboard. */
export function scrolling(name: string, table: HTMLElement): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, table);
}
