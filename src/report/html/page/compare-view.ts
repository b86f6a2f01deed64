/** Two configurations side by side: the difference and what it rests on, the cases gained and lost, and the shape of both rankings. */
import type { PageData, PagePair } from "../page-data.js";
import { type Bubble, figure, intervals, lines, scatter } from "./charts.js";
import { type Child, choice, h } from "./dom.js";
import { changeOf, differenceOf, scoreOf } from "./filter.js";
import { plural, pValue, ratio, signed } from "./format.js";
import { scrolling } from "./overview.js";
import { formatState, type State } from "./state.js";
import type { Store } from "./store.js";

const NAMED = 20;
const MOST_BUBBLES = 2_000;

export function compareView(store: Store, { params }: State, go: (params: Record<string, string>) => void): HTMLElement {
  const { data } = store;
  const labels = data.cells.map(({ label }) => label);
  if (labels.length < 2) return h("div", {}, h("h2", {}, "Compare"), h("p", {}, "This run has one configuration only."));
  const systems = data.cells.flatMap(({ baseline }, index) => (baseline ? [] : [index]));
  const others = data.cells.flatMap(({ baseline }, index) => (baseline ? [index] : []));
  const usual = [...systems, ...others];
  const a = at(labels, params.a) ?? usual[0] ?? 0;
  const b = at(labels, params.b) ?? usual.find((index) => index !== a) ?? 1;
  const names = data.measures.map(({ name }) => name);
  const measure = at(names, params.measure) ?? 0;
  const [first, second, name] = [labels[a] ?? "", labels[b] ?? "", names[measure] ?? ""];
  const change = (changes: Record<string, string>) => go({ a: first, b: second, measure: name, ...changes });
  return h(
    "div",
    {},
    h("h2", {}, "Compare"),
    h(
      "div",
      { class: "controls" },
      choice(
        "First",
        labels.map((label) => [label, label]),
        first,
        (value) => change({ a: value }),
      ),
      choice(
        "Second",
        labels.map((label) => [label, label]),
        second,
        (value) => change({ b: value }),
      ),
      choice(
        "Measure",
        names.map((one) => [one, one]),
        name,
        (value) => change({ measure: value }),
      ),
      h("button", { type: "button", on: { click: () => change({ a: second, b: first }) } }, "Swap"),
    ),
    a === b
      ? h("p", { class: "note" }, "Choose two different configurations.")
      : [tested(data, first, second, name), changes(store, a, b, measure, name), shapes(store, a, b)],
  );
}

function at(names: readonly string[], wanted: string | undefined): number | null {
  const index = names.indexOf(wanted ?? "");
  return index === -1 ? null : index;
}

/** Rows of a pair as second minus first, whichever way round the comparison had them. */
function pairsOf(data: PageData, a: string, b: string) {
  return data.comparisons.flatMap((comparison) => {
    const pairs = comparison.pairs.flatMap((pair): PagePair[] => {
      if (pair.a === a && pair.b === b) return [pair];
      if (pair.a !== b || pair.b !== a) return [];
      const { values, wins, losses, lower, upper } = pair;
      return [
        {
          ...pair,
          a,
          b,
          values: [values[1], values[0]],
          difference: -pair.difference,
          lower: -upper,
          upper: -lower,
          wins: losses,
          losses: wins,
        },
      ];
    });
    return pairs.length === 0 ? [] : [{ comparison, pairs }];
  });
}

function tested(data: PageData, a: string, b: string, name: string): Child {
  const found = pairsOf(data, a, b);
  const note = data.compareNote === null ? null : h("p", { class: "note" }, data.compareNote);
  if (found.length === 0)
    return h(
      "section",
      {},
      h("h3", {}, "Difference"),
      note ?? h("p", { class: "note" }, "No comparison of these two is in this report."),
    );
  return found.map(({ comparison, pairs }) => {
    const one = pairs.find((pair) => pair.measure === name);
    const span = Math.max(
      0.05,
      ...pairs.flatMap(({ lower, upper, difference }) => [Math.abs(lower), Math.abs(upper), Math.abs(difference)]),
    );
    const limit = Math.min(1, Math.ceil(span * 10) / 10) || 1;
    const rows = pairs.map((pair) => ({
      label: pair.measure,
      value: pair.difference,
      lower: pair.lower,
      upper: pair.upper,
      faint: !pair.stands,
      text: `${signed(pair.difference)}   p ${pValue(pair.pHolm)}`,
    }));
    return h(
      "section",
      {},
      h("h3", {}, "Difference"),
      one === undefined ? h("p", { class: "verdict" }, `${name} was not tested.`) : verdict(one),
      figure(
        `${b} minus ${a}`,
        intervals(rows, [-Math.max(limit, span), Math.max(limit, span)], 0),
        [
          ["measure", a, b, "difference", "lower", "upper", "p", "p (Holm)"],
          ...pairs.map((pair) => [pair.measure, ...pair.values, pair.difference, pair.lower, pair.upper, pair.p, pair.pHolm]),
        ],
        "Filled: the difference stands after Holm's adjustment. Hollow: it does not. p: adjusted.",
      ),
      pairTable(pairs, a, b),
      h(
        "ul",
        { class: "notes" },
        [...(one?.cautions ?? []), ...comparison.method, ...comparison.notes].map((text) => h("li", {}, text)),
      ),
      note,
    );
  });
}

function verdict(pair: PagePair): HTMLElement {
  const { a, b, measure, difference, lower, upper, pHolm, stands } = pair;
  const what = difference === 0 ? `${b} and ${a} are equal` : `${b} is ${difference > 0 ? "higher" : "lower"} than ${a}`;
  return h(
    "p",
    { class: "verdict" },
    `${measure}: ${what} by `,
    h("b", {}, signed(difference)),
    ` (95 % interval ${signed(lower)} to ${signed(upper)}, p ${pValue(pHolm)} after Holm). `,
    h("strong", {}, stands ? "The difference stands." : "The difference does not stand."),
  );
}

function pairTable(pairs: readonly PagePair[], a: string, b: string): HTMLElement {
  const head = ["Measure", a, b, "Difference", "95 % interval", "p", "p (Holm)", "Won", "Tied", "Lost", "McNemar p"].map(
    (text, i) => h("th", { scope: "col", class: i === 0 ? "" : "number" }, text),
  );
  const rows = pairs.map((pair) => {
    const cells = [
      ratio(pair.values[0]),
      ratio(pair.values[1]),
      signed(pair.difference),
      `${signed(pair.lower)} to ${signed(pair.upper)}`,
      pValue(pair.p),
      pValue(pair.pHolm),
      pair.wins,
      pair.ties,
      pair.losses,
      pair.mcnemar === null ? "–" : pValue(pair.mcnemar),
    ];
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, pair.measure),
      cells.map((text) => h("td", { class: "number" }, text)),
    );
  });
  return scrolling("Differences", h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)));
}

function changes(store: Store, a: number, b: number, measure: number, name: string): Child {
  const { table, data } = store;
  const [first, second] = [data.cells[a]?.label ?? "", data.cells[b]?.label ?? ""];
  const by = { gained: [] as [number, number][], lost: [] as [number, number][], equal: [] as [number, number][] };
  const bubbles = new Map<string, { x: number; y: number; n: number; kind: Bubble["kind"] }>();
  for (let index = 0; index < table.ids.length; index++) {
    const difference = differenceOf(table, a, b, measure, index);
    if (difference === null) continue;
    const kind = changeOf(difference);
    by[kind].push([index, difference]);
    const [x, y] = [Math.min(1, scoreOf(table, a, measure, index) ?? 0), Math.min(1, scoreOf(table, b, measure, index) ?? 0)];
    // Far more places than that can't be told apart: they then share a coarser one.
    const digits = bubbles.size < MOST_BUBBLES ? 3 : 1;
    const key = `${x.toFixed(digits)} ${y.toFixed(digits)}`;
    const known = bubbles.get(key);
    if (known === undefined) bubbles.set(key, { x: Number(x.toFixed(digits)), y: Number(y.toFixed(digits)), n: 1, kind });
    else known.n += 1;
  }
  const total = by.gained.length + by.lost.length + by.equal.length;
  if (total === 0)
    return h(
      "section",
      {},
      h("h3", {}, "Cases"),
      h("p", { class: "note" }, `${name} has no value of a single case: it pools counts over all of them.`),
    );
  const listed = (kind: "gained" | "lost", title: string) => {
    const cases = by[kind].sort(([, x], [, y]) => Math.abs(y) - Math.abs(x));
    const link = (changed: Record<string, string>) => ({ backend: first, vs: second, measure: name, change: kind, ...changed });
    return h(
      "div",
      {},
      h("h3", {}, title, " ", h("span", { class: "tag" }, cases.length)),
      h(
        "ol",
        { class: "changes" },
        cases
          .slice(0, NAMED)
          .map(([index, difference]) =>
            h(
              "li",
              {},
              h("span", { class: `change ${kind}` }, signed(difference)),
              h(
                "a",
                { href: formatState("case", link({ id: table.ids[index] ?? "" })) },
                `${table.numbers[index] == null ? (table.ids[index] ?? "") : `#${table.numbers[index]}`} ${table.titles[index] ?? ""}`,
              ),
            ),
          ),
      ),
      cases.length > 0
        ? h(
            "p",
            {},
            h(
              "a",
              { href: formatState("cases", link({})) },
              cases.length > NAMED ? `All ${cases.length} as a list` : "As a list",
            ),
          )
        : h("p", { class: "sub" }, "None."),
    );
  };
  return h(
    "section",
    {},
    h("h3", { class: "hidden" }, "Cases"),
    h(
      "div",
      { class: "three" },
      figure(
        `${name} of each case`,
        scatter([...bubbles.values()], first, second),
        [[first, second, "cases"], ...[...bubbles.values()].map(({ x, y, n }) => [x, y, n])],
        `${plural(total, "case")}; above the line ${second} is better. Area: cases at the same place.`,
      ),
      listed("gained", `${second} gains`),
      listed("lost", `${second} loses`),
    ),
  );
}

function shapes({ data }: Store, a: number, b: number): Child {
  const cells = [a, b].flatMap((index) => data.cells[index] ?? []);
  const curves = cells.flatMap(({ label, curve }) => (curve === null ? [] : [{ label, ...curve }]));
  if (curves.length === 0) return h("p", { class: "note" }, "Neither has one ranking per case, so there is no curve.");
  const depth = curves[0]?.recall.length ?? 20;
  const recall = curves.map(({ label, recall: values }) => ({
    name: label,
    points: values.map((value, i) => [i + 1, value] as const),
  }));
  const both = curves.map(({ label, recall: r, precision: p }) => ({
    name: label,
    points: r.map((value, i) => [value, p[i] ?? 0] as const),
  }));
  const missing = cells.length > curves.length ? " A baseline that draws at random has no one ranking." : "";
  const highest = Math.max(0.1, ...both.flatMap(({ points }) => points.map(([, y]) => y)));
  const square = { x: [0, 1], y: [0, Math.min(1, Math.ceil(highest * 10) / 10)], nameX: "Recall", nameY: "Precision" } as const;
  return h(
    "section",
    { class: "two" },
    figure(
      "Recall at k",
      lines(recall, { x: [1, depth], y: [0, 1], nameX: "k", nameY: "Recall" }),
      [
        ["k", ...recall.map(({ name }) => name)],
        ...Array.from({ length: depth }, (_, i) => [i + 1, ...curves.map((curve) => curve.recall[i] ?? null)]),
      ],
      `Mean over the scored cases.${missing}`,
    ),
    figure(
      "Precision and recall at k",
      lines(both, square),
      [
        ["k", ...curves.flatMap(({ label }) => [`${label} recall`, `${label} precision`])],
        ...Array.from({ length: depth }, (_, i) => [
          i + 1,
          ...curves.flatMap((curve) => [curve.recall[i] ?? null, curve.precision[i] ?? null]),
        ]),
      ],
      `From k = 1 (left) to k = ${depth}.`,
    ),
  );
}
