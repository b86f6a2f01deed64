/**
 * A list of any length with as many rows in the document as fit the screen. A grid for a screen reader: it says how many rows there are and
 * which one is active; arrow keys, Page Up and Down, Home and End move, Enter opens.
 */
import { h } from "./dom.js";

export const ROW = 40;
const SPARE = 8;

export interface VirtualList {
  readonly element: HTMLElement;
  readonly show: (count: number, active: number) => void;
}

/** `row` gives the cells of a row; `open` is called for the row that is chosen. */
export function virtualList(
  label: string,
  head: readonly HTMLElement[],
  row: (at: number) => readonly HTMLElement[],
  open: (at: number) => void,
): VirtualList {
  const body = h("div", { class: "rows", role: "rowgroup" });
  const before = h("div", { "aria-hidden": "true" });
  const after = h("div", { "aria-hidden": "true" });
  const header = h(
    "div",
    { role: "rowgroup", class: "gridhead" },
    h("div", { role: "row", "aria-rowindex": 1, class: "row" }, head),
  );
  const element = h(
    "div",
    { class: "grid", role: "grid", tabindex: 0, "aria-label": label, "aria-readonly": "true" },
    header,
    before,
    body,
    after,
  );
  let count = 0;
  let active = 0;
  let drawn = "";

  const draw = (force: boolean) => {
    const shown = Math.ceil((element.clientHeight || 600) / ROW);
    const from = Math.max(0, Math.min(count - 1, Math.floor(element.scrollTop / ROW)) - SPARE);
    const to = Math.min(count, from + shown + 2 * SPARE);
    const key = `${from}-${to}`;
    if (force || key !== drawn) {
      drawn = key;
      before.style.height = `${from * ROW}px`;
      after.style.height = `${Math.max(0, count - to) * ROW}px`;
      body.replaceChildren(
        ...Array.from({ length: Math.max(0, to - from) }, (_, i) =>
          h(
            "div",
            {
              role: "row",
              id: `row-${from + i}`,
              "aria-rowindex": from + i + 2,
              class: "row",
              on: { click: () => open(from + i) },
            },
            row(from + i),
          ),
        ),
      );
    }
    for (const one of body.children) one.setAttribute("aria-selected", String(one.id === `row-${active}`));
    if (count > 0 && active >= from && active < to) element.setAttribute("aria-activedescendant", `row-${active}`);
    else element.removeAttribute("aria-activedescendant");
  };

  const move = (to: number) => {
    active = Math.max(0, Math.min(count - 1, to));
    const visible = element.clientHeight - ROW;
    if (active * ROW < element.scrollTop) element.scrollTop = active * ROW;
    else if ((active + 1) * ROW > element.scrollTop + visible) element.scrollTop = (active + 1) * ROW - visible;
    draw(false);
  };

  element.addEventListener("scroll", () => draw(false), { passive: true });
  element.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(element.clientHeight / ROW) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -count,
      End: count,
    };
    if (event.key === "Enter" && count > 0) open(active);
    else if (Object.hasOwn(steps, event.key)) move(active + (steps[event.key] ?? 0));
    else return;
    event.preventDefault();
  });

  const show = (rows: number, at: number) => {
    count = rows;
    active = Math.max(0, Math.min(rows - 1, at));
    element.setAttribute("aria-rowcount", String(rows + 1));
    element.scrollTop = Math.max(0, (active - 3) * ROW);
    draw(true);
  };
  return { element, show };
}
