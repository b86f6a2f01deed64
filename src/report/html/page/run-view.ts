/** The course of the run: its graph, when what was worked on, what came from the cache, and what it waited for. */
import type { RunFacts, RunNode } from "../page-data.js";
import { canvas, clip, figure, ticks } from "./charts.js";
import { type Child, h, s } from "./dom.js";
import { grouped, plural, seconds } from "./format.js";
import { scrolling } from "./overview.js";

const MOST_BARS = 120;

export function runView(run: RunFacts | null): HTMLElement {
  if (run === null) {
    return h(
      "div",
      {},
      h("h2", {}, "Run"),
      h(
        "p",
        { class: "note" },
        "This page holds no course of a run: it was made of reports alone. `bench report RUN --format html` adds it where the run's folder is there.",
      ),
    );
  }
  const counts = Object.entries(run.counts).filter(([, n]) => n > 0);
  const executed = run.nodes.reduce((sum, node) => sum + node.executed, 0);
  const cached = run.nodes.reduce((sum, node) => sum + node.cached, 0);
  const pair = (term: string, value: Child) => [h("dt", {}, term), h("dd", {}, value)];
  return h(
    "div",
    {},
    h("h2", {}, "Run"),
    h(
      "dl",
      { class: "row-facts" },
      pair("Run", h("code", {}, run.id)),
      pair("Command", h("code", {}, run.command)),
      pair("State", run.state),
      pair("Began", run.startedAt),
      pair("Took", seconds(run.length / 1000)),
      pair("Executed", grouped(executed)),
      pair("From the cache", grouped(cached)),
      counts.map(([name, n]) => pair(`${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`, grouped(n))),
      run.retries === 0 ? null : pair("Attempts repeated", grouped(run.retries)),
    ),
    h("section", {}, h("h3", {}, "Stages"), graph(run)),
    h("section", {}, h("h3", {}, "Timeline"), timeline(run)),
    run.waits.length === 0
      ? null
      : h(
          "section",
          {},
          h("h3", {}, "Limits waited for"),
          h(
            "ul",
            { class: "notes" },
            run.waits
              .slice(0, 50)
              .map(({ resource, from, to, why }) =>
                h(
                  "li",
                  {},
                  `${resource}, after ${seconds(from / 1000)}: ${to === null ? "until the end" : seconds((to - from) / 1000)}. ${why}`,
                ),
              ),
          ),
        ),
    run.warnings.length === 0
      ? null
      : h(
          "section",
          {},
          h("h3", {}, "Warnings"),
          h(
            "ul",
            { class: "notes" },
            run.warnings.slice(0, 100).map((text) => h("li", {}, text)),
          ),
        ),
    h("section", {}, h("h3", {}, "All stages"), table(run)),
  );
}

interface Stage {
  readonly name: string;
  readonly uses: string;
  readonly nodes: readonly RunNode[];
  readonly needs: readonly string[];
}

/** Cells of a matrix are one box: eight backends would be twenty-four. */
function stagesOf({ nodes }: RunFacts): Stage[] {
  const byName = new Map<string, RunNode[]>();
  for (const node of nodes) byName.set(node.name, [...(byName.get(node.name) ?? []), node]);
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  return [...byName].map(([name, own]) => ({
    name,
    uses: own[0]?.uses ?? "",
    nodes: own,
    needs: [...new Set(own.flatMap(({ needs }) => needs.flatMap((id) => names.get(id) ?? [])))].filter((need) => need !== name),
  }));
}

function graph(run: RunFacts): HTMLElement {
  const stages = stagesOf(run).slice(0, 60);
  const level = new Map<string, number>();
  // Stages stand in an order in which needs come first.
  for (const { name, needs } of stages) level.set(name, Math.max(0, ...needs.map((need) => (level.get(need) ?? -1) + 1)));
  const [boxWidth, boxHeight, gapX, gapY] = [138, 56, 34, 16];
  const inLevel = new Map<number, number>();
  const place = new Map<string, { x: number; y: number }>();
  for (const { name } of stages) {
    const column = level.get(name) ?? 0;
    const row = inLevel.get(column) ?? 0;
    inLevel.set(column, row + 1);
    place.set(name, { x: 1 + column * (boxWidth + gapX), y: 1 + row * (boxHeight + gapY) });
  }
  const width = Math.max(...[...place.values()].map(({ x }) => x), 0) + boxWidth + 2;
  const height = Math.max(...[...place.values()].map(({ y }) => y), 0) + boxHeight + 2;
  const svg = canvas(width, height, { class: "chart graph" });
  for (const { name, needs } of stages) {
    const to = place.get(name);
    for (const need of needs) {
      const from = place.get(need);
      if (from === undefined || to === undefined) continue;
      const [x1, y1, x2, y2] = [from.x + boxWidth, from.y + boxHeight / 2, to.x, to.y + boxHeight / 2];
      svg.append(s("path", { class: "edge", d: `M${x1} ${y1}C${x1 + gapX / 2} ${y1} ${x2 - gapX / 2} ${y2} ${x2} ${y2}` }));
    }
  }
  for (const { name, nodes } of stages) {
    const { x, y } = place.get(name) ?? { x: 0, y: 0 };
    const [executed, cached, failed] = [sum(nodes, "executed"), sum(nodes, "cached"), sum(nodes, "failed")];
    const bad = nodes.some(({ state }) => !["done", "cached"].includes(state));
    const title = clip(nodes.length > 1 ? `${name} ×${nodes.length}` : name, 18);
    svg.append(
      s(
        "g",
        {},
        s("rect", {
          class: bad ? "box bad" : executed === 0 ? "box cached" : "box",
          x,
          y,
          width: boxWidth,
          height: boxHeight,
          rx: 6,
        }),
        s("text", { class: "strong", x: x + 12, y: y + 22 }, title),
        s(
          "text",
          { class: "tick", x: x + 12, y: y + 42 },
          clip(
            failed > 0
              ? `${grouped(failed)} failed`
              : executed === 0
                ? `${grouped(cached)} cached`
                : `${grouped(executed)} done${cached > 0 ? `, ${grouped(cached)} cached` : ""}`,
            20,
          ),
        ),
      ),
    );
  }
  return figure(
    "Graph of the stages",
    svg,
    [
      ["stage", "kind", "needs", "executed", "cached", "failed"],
      ...stages.map(({ name, uses, needs, nodes }) => [
        name,
        uses,
        needs.join(" "),
        sum(nodes, "executed"),
        sum(nodes, "cached"),
        sum(nodes, "failed"),
      ]),
    ],
    "Dashed: everything came from the cache.",
  );
}

function sum(nodes: readonly RunNode[], member: "executed" | "cached" | "failed"): number {
  return nodes.reduce((total, node) => total + node[member], 0);
}

function timeline(run: RunFacts): Child {
  const worked = run.nodes.filter(({ from }) => from !== null);
  if (worked.length === 0) return h("p", { class: "note" }, "Nothing was executed: everything came from the cache.");
  const bars = worked.slice(0, MOST_BARS);
  const [width, left, right, step, top] = [1060, 230, 76, 20, 8];
  const height = top + bars.length * step + 28;
  const long = Math.max(run.length, 1);
  const x = (time: number) => left + (time / long) * (width - left - right);
  const svg = canvas(width, height, { class: "chart broad" });
  for (const tick of ticks([0, long / 1000])) {
    svg.append(
      s("line", { class: "grid", x1: x(tick * 1000), x2: x(tick * 1000), y1: top, y2: height - 24 }),
      s("text", { class: "tick", x: x(tick * 1000), y: height - 8, "text-anchor": "middle" }, tick === 0 ? "0" : seconds(tick)),
    );
  }
  for (const { from, to } of run.waits)
    svg.append(
      s("rect", { class: "wait", x: x(from), y: top, width: Math.max(1, x(to ?? long) - x(from)), height: height - top - 24 }),
    );
  for (const [index, node] of bars.entries()) {
    const y = top + index * step;
    const [from, to] = [node.from ?? 0, node.to ?? 0];
    const length = Math.max(2, x(to) - x(from));
    svg.append(
      s("text", { class: "label", x: left - 12, y: y + 14, "text-anchor": "end" }, clip(node.id, 28)),
      s(
        "rect",
        { class: node.failed > 0 ? "span bad" : "span", x: x(from), y: y + 4, width: length, height: step - 8, rx: 2 },
        s("title", {}, `${node.id}: ${plural(node.executed, "unit")} in ${seconds((to - from) / 1000)}`),
      ),
      s("text", { class: "tick", x: x(from) + length + 6, y: y + 14 }, seconds((to - from) / 1000)),
    );
  }
  const note = [
    worked.length > bars.length ? `${worked.length - bars.length} further stages are in the table. ` : "",
    run.waits.length > 0 ? "Shaded: waiting for a limit. " : "",
    "From the first to the last piece of work; stages that wait for the same thing overlap.",
  ].join("");
  return figure("Timeline", svg, [["stage", "from (ms)", "to (ms)"], ...worked.map(({ id, from, to }) => [id, from, to])], note);
}

function table(run: RunFacts): HTMLElement {
  const head = ["Stage", "Kind", "State", "Items", "Executed", "Cached", "Failed", "Worked"].map((text, i) =>
    h("th", { scope: "col", class: i < 3 ? "" : "number" }, text),
  );
  const rows = run.nodes.slice(0, 400).map((node) => {
    const numbers = [node.items, node.executed, node.cached, node.failed].map((n) =>
      h("td", { class: n === 0 ? "number zero" : "number" }, grouped(n)),
    );
    const time = node.from === null || node.to === null ? "–" : seconds((node.to - node.from) / 1000);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, node.id),
      h("td", {}, node.uses),
      h("td", {}, node.state),
      numbers,
      h("td", { class: "number" }, time),
    );
  });
  return scrolling("All stages", h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)));
}
