/** One case: what was asked, what should have been named, and what each configuration answered, prediction by prediction. */
import type { CaseDetail, PageAnswer, PageCell } from "../page-data.js";
import { filterOf } from "./cases.js";
import { type Child, h, outside, pullRequest } from "./dom.js";
import { filtered, scoreOf } from "./filter.js";
import { grouped, plural, ratio, seconds } from "./format.js";
import { formatState, type State } from "./state.js";
import type { Store } from "./store.js";

const SHOWN = 25;

export async function caseView(store: Store, { params }: State): Promise<HTMLElement> {
  const { data, table } = store;
  const id = params.id ?? "";
  const index = store.positions.get(id);
  const back = (text: string) => h("a", { href: formatState("cases", { ...without(params), at: id }) }, text);
  if (index === undefined)
    return h("div", {}, h("h2", {}, "No such case"), h("p", {}, `This report has no case ${id}. `, back("All cases")));
  const detail = await store.detail(index);
  if (detail === null) return h("div", {}, h("h2", {}, "No such case"), h("p", {}, back("All cases")));
  const filter = filterOf(store, params);
  const list = filtered(table, store.words, filter);
  const at = list.indexOf(index);
  const step = (to: number, text: string): Child => {
    const other = at === -1 ? undefined : table.ids[list[to] ?? -1];
    return other === undefined ? null : h("a", { href: formatState("case", { ...params, id: other }) }, text);
  };
  const number = table.numbers[index];
  const order = [filter.cell, ...data.cells.keys()].filter((cell, i, all) => all.indexOf(cell) === i);
  const strata = Object.entries(table.strata).flatMap(([name, values]) =>
    values[index] == null ? [] : [`${name}: ${values[index]}`],
  );
  return h(
    "article",
    { class: "case" },
    h(
      "nav",
      { class: "steps", "aria-label": "Cases" },
      back("← Cases"),
      h("span", { class: "spring" }, at === -1 ? "" : `${grouped(at + 1)} of ${grouped(list.length)}`),
      step(at - 1, "Previous"),
      step(at + 1, "Next"),
    ),
    h("h2", {}, number == null ? null : [h("span", { class: "number" }, `#${number}`), " "], table.titles[index] || id),
    h(
      "p",
      { class: "sub" },
      outside(table.urls[index] ?? null, id),
      strata.map((text) => [" · ", text]),
      detail.changes.map((change) => [" · ", outside(pullRequest(change), change)]),
    ),
    overviewOf(store, detail, index, order),
    h("section", {}, h("h3", {}, "Targets"), targets(detail)),
    prompts(detail),
    order.map((cell, i) => cellSection(data.cells[cell] as PageCell, detail, cell, i === 0)),
  );
}

function without({ id: _, ...params }: State["params"]): State["params"] {
  return params;
}

/** Which configuration found which target, and where in its list. */
function overviewOf({ data, table }: Store, detail: CaseDetail, index: number, order: readonly number[]): HTMLElement {
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "Configuration"),
    h("th", { scope: "col" }, "Outcome"),
    h("th", { scope: "col" }, "Targets found, at rank"),
    data.measures.map(({ name }) => h("th", { scope: "col", class: "number" }, name)),
  );
  const rows = order.map((cell) => {
    const answer = detail.cells[cell]?.[0];
    const ranks = detail.targets.flatMap((target) => {
      const rank = (answer?.predictions ?? []).findIndex((prediction) => prediction[4] === target);
      return rank === -1 ? [] : [`${name(target)} ${rank + 1}`];
    });
    const outcome = table.outcomes[table.cells[cell]?.outcome[index] ?? -1] ?? "unasked";
    const found =
      answer?.draws == null ? (ranks.length === 0 ? "none" : ranks.join(", ")) : `mean over ${plural(answer.draws, "draw")}`;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, data.cells[cell]?.label ?? ""),
      h("td", {}, h("span", { class: `outcome o-${outcome}` }, outcome)),
      h("td", { class: ranks.length === 0 ? "zero" : "" }, found),
      data.measures.map((_, measure) => h("td", { class: "number" }, ratio(scoreOf(table, cell, measure, index)))),
    );
  });
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": "All configurations" },
    h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
  );
}

function name(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function targets({ targets: paths, grades, absent }: CaseDetail): Child {
  if (paths.length + absent.length === 0) return h("p", { class: "sub" }, "This case has no target: it is shown, not scored.");
  return h(
    "ul",
    { class: "paths" },
    paths
      .slice(0, 200)
      .map((path, i) =>
        h("li", {}, h("code", {}, path), grades === null ? null : h("span", { class: "tag" }, `grade ${grades[i] ?? 1}`)),
      ),
    absent
      .slice(0, 200)
      .map((path) => h("li", { class: "zero" }, h("code", {}, path), h("span", { class: "tag" }, "not in the corpus"))),
    paths.length > 200 || absent.length > 200 ? h("li", {}, "and more: see the JSON report") : null,
  );
}

function prompts({ prompts: texts }: CaseDetail): Child {
  if (texts.length === 0)
    return h(
      "section",
      {},
      h("h3", {}, "Question"),
      h("p", { class: "sub" }, "The question's text is not stored in these scores."),
    );
  return h(
    "section",
    {},
    h("h3", {}, texts.length === 1 ? "Question, as it was asked" : "Questions, as they were asked"),
    texts.map(({ text, length }) => textBlock(text, length)),
  );
}

function textBlock(text: string, length: number): Child {
  return [
    h("pre", { tabindex: 0, dir: "auto", role: "group", "aria-label": "Text" }, text === "" ? "(empty)" : text),
    length > text.length
      ? h(
          "p",
          { class: "note" },
          `Cut here after ${grouped(text.length)} of ${grouped(length)} characters; the JSON report has all of it.`,
        )
      : null,
  ];
}

function cellSection(cell: PageCell, detail: CaseDetail, position: number, open: boolean): HTMLElement {
  const answers = detail.cells[position] ?? [];
  const body =
    answers.length === 0
      ? h("p", { class: "sub" }, "There is no answer.")
      : answers.map((answer) => answerPart(answer, answers.length > 1, detail));
  return h(
    "details",
    { class: "cell", open },
    h(
      "summary",
      {},
      h("h3", {}, cell.label),
      h(
        "span",
        { class: "sub" },
        answers[0] === undefined
          ? ""
          : answers[0].draws !== null
            ? plural(answers[0].draws, "draw")
            : plural(answers[0].predicted, "prediction"),
      ),
    ),
    body,
  );
}

function answerPart(answer: PageAnswer, several: boolean, detail: CaseDetail): Child {
  const facts = [
    answer.outcome,
    answer.status === "completed" ? null : `status ${answer.status}`,
    answer.seconds === null ? null : seconds(answer.seconds),
    answer.finish === null ? null : `finish reason ${answer.finish}`,
    ...Object.entries(answer.usage ?? {}).flatMap(([what, value]) =>
      value === null ? [] : [`${what.replaceAll("_", " ")} ${what === "cost_usd" ? value.toFixed(4) : grouped(value)}`],
    ),
    detail.prompts.length > 1 && answer.prompt !== null ? `question ${answer.prompt + 1}` : null,
    answer.excluded === null ? null : `left out of the figures: ${answer.excluded}`,
  ].filter((fact) => fact !== null);
  return h(
    "div",
    {},
    several ? h("h4", {}, `Answer ${answer.repeat + 1}`) : null,
    h("p", { class: "sub" }, facts.join(" · ")),
    answer.why === null ? null : h("p", {}, answer.why),
    answer.error === null ? null : h("p", { class: "error" }, answer.error),
    predictions(answer, detail),
    h(
      "details",
      {},
      h("summary", {}, `Raw answer, ${plural(answer.length, "character")}`),
      textBlock(answer.text, answer.length),
    ),
  );
}

function predictions({ predictions: all, predicted, draws }: PageAnswer, detail: CaseDetail): Child {
  if (draws !== null)
    return h(
      "p",
      { class: "note" },
      `Drawn ${grouped(draws)} times at random: there is no one list; its figures are means over the draws.`,
    );
  if (all.length === 0) return null;
  const found = new Set(all.map((prediction) => prediction[4]));
  const missed = detail.targets.filter((target) => !found.has(target));
  const row = ([raw, path, readBy, rung, target, ambiguous]: (typeof all)[number], rank: number) =>
    h(
      "tr",
      { class: target === null ? "" : "hit" },
      h("td", { class: "number" }, rank + 1),
      h(
        "td",
        {},
        h("code", {}, raw),
        path !== null && path !== raw ? h("span", { class: "resolved" }, "→ ", h("code", {}, path)) : null,
      ),
      h(
        "td",
        {},
        target !== null ? "hit" : ambiguous === 1 ? "several files bear the name" : path === null ? "no file" : "no target",
      ),
      h("td", {}, rung ?? "–"),
      h("td", {}, readBy),
    );
  const body = h("tbody", {}, all.slice(0, SHOWN).map(row));
  const more =
    all.length <= SHOWN
      ? null
      : h(
          "button",
          {
            type: "button",
            class: "quiet",
            on: {
              click: () => {
                body.append(...all.slice(SHOWN).map((one, i) => row(one, SHOWN + i)));
                more?.remove();
              },
            },
          },
          `Show ${all.length - SHOWN} more`,
        );
  return h(
    "div",
    {},
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": "Predictions" },
      h(
        "table",
        { class: "predictions" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col", class: "number" }, "Rank"),
            ["Prediction", "Decision", "Matched by", "Read by"].map((text) => h("th", { scope: "col" }, text)),
          ),
        ),
        body,
      ),
    ),
    more,
    predicted > all.length
      ? h("p", { class: "note" }, `${grouped(predicted - all.length)} predictions further down are not in this page.`)
      : null,
    missed.length === 0
      ? null
      : h(
          "p",
          { class: "missed" },
          predicted > all.length ? "Not among these: " : "Missed: ",
          missed.slice(0, 20).map((path, i) => [i === 0 ? null : ", ", h("code", {}, path)]),
          missed.length > 20 ? ` and ${missed.length - 20} more` : null,
        ),
  );
}
