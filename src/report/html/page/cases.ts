/** All cases of one configuration: searched, filtered, sorted; each row leads to its case. */
import { choice, h, save } from "./dom.js";
import { changeOf, differenceOf, type Filter, filtered, scoreOf } from "./filter.js";
import { csvLine, grouped, plural, ratio, signed } from "./format.js";
import { formatState, type State } from "./state.js";
import type { Store } from "./store.js";
import { virtualList } from "./virtual.js";

type Params = Readonly<Record<string, string>>;

export function filterOf({ data }: Store, params: Params): Filter {
  const at = (label: string | undefined) => data.cells.findIndex((cell) => cell.label === label);
  return {
    q: params.q ?? "",
    cell: Math.max(0, at(params.backend)),
    other: at(params.vs),
    measure: Math.max(
      0,
      data.measures.findIndex(({ name }) => name === params.measure),
    ),
    ...{ outcome: params.outcome ?? "", stratum: params.stratum ?? "", targets: params.targets ?? "" },
    ...{ change: params.change ?? "", score: params.score ?? "", sort: params.sort ?? "worst" },
  };
}

/** `remember` writes the state into the address without drawing the view anew. */
export function casesView(store: Store, { params: given }: State, remember: (params: Params) => void): HTMLElement {
  const { data, table } = store;
  let params = given;
  let filter = filterOf(store, params);
  let found: readonly number[] = [];
  const count = h("p", { class: "count", role: "status" });
  const open = (at: number) => {
    const id = table.ids[found[at] ?? -1];
    if (id !== undefined) location.hash = formatState("case", { ...params, id });
  };
  const heads = ["Case", "Title", "Targets", "Outcome", "", ""].map((name, index) =>
    h("div", { role: "columnheader", class: `c${index}` }, name),
  );
  const list = virtualList("Cases", heads, (at) => row(found[at] ?? -1), open);

  function row(index: number): HTMLElement[] {
    const cell = table.cells[filter.cell];
    const counted = cell?.counted[index] === 1;
    const value = scoreOf(table, filter.cell, filter.measure, index);
    const difference = filter.other === -1 ? null : differenceOf(table, filter.cell, filter.other, filter.measure, index);
    const number = table.numbers[index];
    const outcome = table.outcomes[cell?.outcome[index] ?? -1] ?? "";
    const texts: (readonly (Node | string)[])[] = [
      [number == null ? (table.ids[index] ?? "") : `#${number}`],
      [table.titles[index] || (table.ids[index] ?? "")],
      [String(table.targets[index] ?? 0)],
      [h("span", { class: `outcome o-${outcome}` }, outcome)],
      [meter(value), h("span", { class: counted ? "value" : "value zero" }, counted ? ratio(value) : "not scored")],
      [difference === null ? "" : h("span", { class: `change ${changeOf(difference)}` }, signed(difference))],
    ];
    return texts.map((content, column) => h("div", { role: "gridcell", class: `c${column}` }, content));
  }

  function apply(changes: Params, active = 0): void {
    params = { ...params, ...changes };
    filter = filterOf(store, params);
    found = filtered(table, store.words, filter);
    const measure = data.measures[filter.measure]?.name ?? "";
    const head = list.element.querySelectorAll("[role=columnheader]");
    head[4]?.replaceChildren(document.createTextNode(measure));
    head[5]?.replaceChildren(document.createTextNode(filter.other === -1 ? "" : "Change"));
    list.element.classList.toggle("compared", filter.other !== -1);
    count.replaceChildren(
      document.createTextNode(
        found.length === table.ids.length
          ? plural(found.length, "case")
          : `${grouped(found.length)} of ${plural(table.ids.length, "case")}`,
      ),
    );
    list.show(found.length, active);
  }

  const change = (changes: Params) => {
    apply(changes);
    remember(params);
  };
  const search = h("input", {
    type: "search",
    value: filter.q,
    placeholder: "Number, id, words of the title",
    autocomplete: "off",
    spellcheck: "false",
    on: { input: () => change({ q: search.value }) },
  });
  const labels = data.cells.map(({ label }) => [label, label] as const);
  const strata = Object.keys(table.strata).flatMap((name) => {
    const values = [...new Set(table.strata[name])].filter((value) => value !== null).sort();
    return values.slice(0, 60).map((value) => [`${name}=${value}`, `${name}: ${value}`] as const);
  });
  const any = ["", "Any"] as const;
  const fields = [
    choice("Configuration", labels, data.cells[filter.cell]?.label ?? "", (backend) => change({ backend })),
    choice(
      "Measure",
      data.measures.map(({ name }) => [name, name]),
      data.measures[filter.measure]?.name ?? "",
      (measure) => change({ measure }),
    ),
    choice("Score", [any, ["zero", "0"], ["partial", "Between"], ["full", "1"]], filter.score, (score) => change({ score })),
    choice("Outcome", [any, ...[...table.outcomes].sort().map((name) => [name, name] as const)], filter.outcome, (outcome) =>
      change({ outcome }),
    ),
    choice("Targets", [any, ["0", "None"], ["1", "1"], ["2-4", "2 to 4"], ["5+", "5 or more"]], filter.targets, (targets) =>
      change({ targets }),
    ),
    ...(strata.length === 0 ? [] : [choice("Stratum", [any, ...strata], filter.stratum, (stratum) => change({ stratum }))]),
    choice("Against", [["", "None"], ...labels], data.cells[filter.other]?.label ?? "", (vs) =>
      change(vs === "" ? { vs, change: "" } : { vs }),
    ),
    choice("Change", [any, ["gained", "Gained"], ["lost", "Lost"], ["equal", "Equal"]], filter.change, (value) =>
      change({ change: value }),
    ),
    choice(
      "Sort",
      [
        ["worst", "Worst first"],
        ["best", "Best first"],
        ["dataset", "Data set"],
        ["targets", "Most targets"],
      ],
      filter.sort,
      (sort) => change({ sort }),
    ),
  ];
  const csv = () => {
    const names = data.measures.map(({ name }) => name);
    const lines = found.map((index) =>
      csvLine([
        table.ids[index] ?? "",
        table.titles[index] ?? "",
        table.targets[index] ?? 0,
        table.outcomes[table.cells[filter.cell]?.outcome[index] ?? -1] ?? "",
        ...names.map((_, m) => scoreOf(table, filter.cell, m, index)),
      ]),
    );
    save("cases.csv", "text/csv", [csvLine(["case", "title", "targets", "outcome", ...names]), ...lines].join(""));
  };
  const view = h(
    "div",
    { class: "cases" },
    h("h2", {}, "Cases"),
    h(
      "form",
      { class: "filters", role: "search", "aria-label": "Filter the cases", on: { submit: (event) => event.preventDefault() } },
      h("label", { class: "field wide" }, h("span", {}, "Search"), search),
      fields,
    ),
    h(
      "div",
      { class: "countline" },
      count,
      h("a", { class: "quiet", href: formatState("cases", { backend: params.backend }) }, "Clear filters"),
      h("button", { type: "button", class: "quiet", on: { click: csv } }, "Save as CSV"),
    ),
    list.element,
  );
  // The height is known only once it is in the document.
  requestAnimationFrame(() => {
    const id = params.at;
    const start = filtered(table, store.words, filter);
    const at = id === undefined ? 0 : start.findIndex((index) => table.ids[index] === id);
    apply({}, Math.max(0, at));
  });
  return view;
}

function meter(value: number | null): HTMLElement {
  const fill = h("i", {});
  fill.style.width = `${Math.max(0, Math.min(1, value ?? 0)) * 100}%`;
  return h("span", { class: "meter", "aria-hidden": "true" }, fill);
}
