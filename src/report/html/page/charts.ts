/**
 * The few pictures that the page needs, as SVG made by hand: intervals, scatter, lines. Colours and fonts are the page's (classes), so that
 * they follow light and dark; a saved picture gets them as attributes.
 */
import { h, type Props, s, save, shown } from "./dom.js";
import { csvLine } from "./format.js";

export type Table = readonly (readonly (string | number | null)[])[];

/** A picture with its title, buttons to keep it, and its numbers for who can't see it. */
export function figure(title: string, svg: SVGSVGElement, data: Table, note = ""): HTMLElement {
  const stem =
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 60) || "picture";
  // What holds links is no single picture to a screen reader.
  svg.setAttribute("role", svg.querySelector("a") === null ? "img" : "group");
  svg.setAttribute("aria-label", shown(`${title}. The numbers can be saved as CSV.`));
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("span", { class: "caption" }, title),
      h(
        "span",
        { class: "keep" },
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            "aria-label": `Save as SVG: ${title}`,
            on: { click: () => save(`${stem}.svg`, "image/svg+xml", standalone(svg)) },
          },
          "SVG",
        ),
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            "aria-label": `Save as CSV: ${title}`,
            on: { click: () => save(`${stem}.csv`, "text/csv", data.map(csvLine).join("")) },
          },
          "CSV",
        ),
      ),
    ),
    // Scrolled within itself on a narrow screen, hence reached by keyboard.
    h("div", { class: "picture", tabindex: 0, role: "group", "aria-label": title }, svg),
    note === "" ? null : h("p", { class: "note" }, note),
  );
}

const KEPT = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "fill-opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];

function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [from, to] = [
    [svg, ...svg.querySelectorAll("*")],
    [copy, ...copy.querySelectorAll("*")],
  ];
  for (const [index, element] of from.entries()) {
    const style = getComputedStyle(element);
    for (const name of KEPT) to[index]?.setAttribute(name, style.getPropertyValue(name));
    to[index]?.removeAttribute("class");
  }
  // Links lead into the page, which a saved picture is no part of.
  for (const link of copy.querySelectorAll("a")) link.removeAttribute("href");
  return new XMLSerializer().serializeToString(copy);
}

export function canvas(width: number, height: number, props: Props = {}): SVGSVGElement {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, ...props });
}

export interface Interval {
  readonly label: string;
  readonly value: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
  /** Drawn hollow: a baseline, or a difference that does not stand. */
  readonly faint?: boolean;
  readonly text: string;
  readonly href?: string;
  /** A small mark, such as a closed-form expectation. */
  readonly mark?: number | null;
}

/** Dot and whisker, one row each; `domain` is what the axis spans, `zero` a line that intervals are read against. */
export function intervals(
  rows: readonly Interval[],
  domain: readonly [number, number],
  zero: number | null = null,
): SVGSVGElement {
  const [width, left, right, step, top] = [1060, 220, 200, 30, 12];
  const height = top + rows.length * step + 32;
  const bottom = height - 26;
  const span = domain[1] - domain[0] || 1;
  const x = (value: number) => left + ((value - domain[0]) / span) * (width - left - right);
  const svg = canvas(width, height, { class: "chart broad" });
  for (const tick of ticks(domain)) {
    svg.append(
      s("line", { class: tick === zero ? "axis" : "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }),
      s("text", { class: "tick", x: x(tick), y: height - 8, "text-anchor": "middle" }, tickText(tick, domain)),
    );
  }
  for (const [index, row] of rows.entries()) {
    const y = top + index * step + step / 2;
    const label = s(
      "text",
      { class: row.href === undefined ? "label" : "label link", x: left - 16, y: y + 4, "text-anchor": "end" },
      clip(row.label, 28),
    );
    label.append(s("title", {}, row.label));
    svg.append(row.href === undefined ? label : s("a", { href: row.href }, label));
    if (row.lower !== null && row.upper !== null) {
      svg.append(
        s("line", { class: row.faint === true ? "whisker faint" : "whisker", x1: x(row.lower), x2: x(row.upper), y1: y, y2: y }),
        s("line", { class: row.faint === true ? "cap faint" : "cap", x1: x(row.lower), x2: x(row.lower), y1: y - 4, y2: y + 4 }),
        s("line", { class: row.faint === true ? "cap faint" : "cap", x1: x(row.upper), x2: x(row.upper), y1: y - 4, y2: y + 4 }),
      );
    }
    if (row.mark != null) svg.append(s("line", { class: "mark", x1: x(row.mark), x2: x(row.mark), y1: y - 9, y2: y + 9 }));
    if (row.value !== null)
      svg.append(s("circle", { class: row.faint === true ? "dot faint" : "dot", cx: x(row.value), cy: y, r: 5 }));
    svg.append(s("text", { class: "figure", x: width - right + 18, y: y + 4 }, row.text));
  }
  return svg;
}

/** A whisker without words, to stand below a number in a table. */
export function spark(value: number | null, lower: number | null, upper: number | null, faint: boolean): SVGSVGElement {
  const x = (at: number) => 3 + at * 66;
  const svg = canvas(72, 10, { class: "spark", "aria-hidden": "true" });
  svg.append(s("line", { class: "grid", x1: x(0), x2: x(1), y1: 5, y2: 5 }));
  if (lower !== null && upper !== null)
    svg.append(s("line", { class: faint ? "whisker faint" : "whisker", x1: x(lower), x2: x(upper), y1: 5, y2: 5 }));
  if (value !== null) svg.append(s("circle", { class: faint ? "dot faint" : "dot", cx: x(value), cy: 5, r: 3 }));
  return svg;
}

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
}

/** Lines over a common square; named at the right, in the order of their last values so that names don't cross. */
export function lines(
  all: readonly Line[],
  axes: {
    readonly x: readonly [number, number];
    readonly y: readonly [number, number];
    readonly nameX: string;
    readonly nameY: string;
  },
): SVGSVGElement {
  const [width, height, left, right, top, bottom] = [510, 300, 50, 118, 14, 44];
  const x = (value: number) => left + ((value - axes.x[0]) / (axes.x[1] - axes.x[0] || 1)) * (width - left - right);
  const y = (value: number) => height - bottom - ((value - axes.y[0]) / (axes.y[1] - axes.y[0] || 1)) * (height - top - bottom);
  const svg = canvas(width, height, { class: "chart" });
  for (const tick of ticks(axes.y)) {
    svg.append(
      s("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      s("text", { class: "tick", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick, axes.y)),
    );
  }
  for (const tick of ticks(axes.x))
    svg.append(
      s("text", { class: "tick", x: x(tick), y: height - bottom + 18, "text-anchor": "middle" }, tickText(tick, axes.x)),
    );
  svg.append(
    s("text", { class: "tick", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, axes.nameX),
    s(
      "text",
      {
        class: "tick",
        x: 12,
        y: (top + height - bottom) / 2,
        transform: `rotate(-90 12 ${(top + height - bottom) / 2})`,
        "text-anchor": "middle",
      },
      axes.nameY,
    ),
  );
  const ends = all.map((line, index) => ({ index, at: y(line.points.at(-1)?.[1] ?? 0) })).sort((a, b) => a.at - b.at);
  let lowest = Number.NEGATIVE_INFINITY;
  for (const { index, at } of ends) {
    const line = all[index] as Line;
    lowest = Math.max(at + 4, lowest + 15);
    svg.append(
      s("path", {
        class: `line series-${index % 6}`,
        d: line.points.map(([px, py], i) => `${i === 0 ? "M" : "L"}${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join(""),
      }),
      ...line.points.map(([px, py]) =>
        s("circle", { class: `point series-${index % 6}`, cx: x(px).toFixed(1), cy: y(py).toFixed(1), r: 2.2 }),
      ),
      s("text", { class: `name series-${index % 6}`, x: width - right + 8, y: lowest }, clip(line.name, 17)),
    );
  }
  return svg;
}

export interface Bubble {
  readonly x: number;
  readonly y: number;
  readonly n: number;
  readonly kind: "gained" | "lost" | "equal";
}

/** Cases at their two scores; those at the same place are one circle whose area is their number. */
export function scatter(bubbles: readonly Bubble[], nameX: string, nameY: string): SVGSVGElement {
  const [size, left, bottom, top] = [380, 50, 44, 14];
  const inner = size - left - 24;
  const height = top + inner + bottom;
  const x = (value: number) => left + value * inner;
  const y = (value: number) => top + (1 - value) * inner;
  const svg = canvas(size, height, { class: "chart" });
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(
      s("line", { class: "grid", x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }),
      s("line", { class: "grid", x1: x(tick), x2: x(tick), y1: y(0), y2: y(1) }),
      s("text", { class: "tick", x: left - 10, y: y(tick) + 4, "text-anchor": "end" }, String(tick)),
      s("text", { class: "tick", x: x(tick), y: y(0) + 18, "text-anchor": "middle" }, String(tick)),
    );
  }
  svg.append(
    s("line", { class: "axis dashed", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    s("text", { class: "tick", x: x(0.5), y: height - 6, "text-anchor": "middle" }, clip(nameX, 40)),
    s(
      "text",
      { class: "tick", x: 12, y: y(0.5), transform: `rotate(-90 12 ${y(0.5)})`, "text-anchor": "middle" },
      clip(nameY, 40),
    ),
  );
  const most = Math.max(1, ...bubbles.map(({ n }) => n));
  for (const { x: bx, y: by, n, kind } of [...bubbles].sort((a, b) => b.n - a.n)) {
    svg.append(
      s(
        "circle",
        {
          class: `bubble ${kind}`,
          cx: x(bx).toFixed(1),
          cy: y(by).toFixed(1),
          r: (3 + 13 * Math.sqrt(n / most) * (most > 1 ? 1 : 0.1)).toFixed(1),
        },
        s("title", {}, `${n} at ${bx.toFixed(3)}, ${by.toFixed(3)}`),
      ),
    );
  }
  return svg;
}

/** Round steps within a domain, six at most. */
export function ticks([from, to]: readonly [number, number]): number[] {
  const span = to - from;
  if (!(span > 0)) return [from];
  const rough = span / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough - 1e-12) ?? 10) * power;
  const found: number[] = [];
  for (let tick = Math.ceil(from / step - 1e-9) * step; tick <= to + step * 1e-9; tick += step)
    found.push(Number(tick.toFixed(10)));
  return found;
}

function tickText(tick: number, [from, to]: readonly [number, number]): string {
  const span = to - from;
  return (tick === 0 ? 0 : tick).toFixed(span >= 5 ? 0 : span > 0.5 ? 1 : 2).replace("-", "−");
}

export function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
