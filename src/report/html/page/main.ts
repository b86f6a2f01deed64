/** The page: its frame, and which view the address names. */
import { caseView } from "./case-detail.js";
import { casesView } from "./cases.js";
import { compareView } from "./compare-view.js";
import { h, outside } from "./dom.js";
import { overview } from "./overview.js";
import { runView } from "./run-view.js";
import { formatState, parseState, type State, type View } from "./state.js";
import { openStore, readData, type Store } from "./store.js";

const TABS: readonly (readonly [View, string])[] = [
  ["overview", "Overview"],
  ["cases", "Cases"],
  ["compare", "Compare"],
  ["run", "Run"],
];

const read = readData();
const main = h("main", { id: "main", tabindex: -1 });
const tabs = TABS.map(([view, name]) => h("a", { href: formatState(view) }, name));
let store: Promise<Store> | null = null;
let drawing = 0;

function frame(): void {
  const { data } = read;
  const made = data.generatedAt === null ? "" : data.generatedAt.slice(0, 16).replace("T", " ");
  document
    .getElementById("app")
    ?.append(
      h(
        "header",
        {},
        h(
          "div",
          { class: "title" },
          h("h1", {}, outside(data.dataset.url, data.title)),
          h("p", { class: "sub" }, made === "" ? "Benchmark report" : `Benchmark report, ${made} UTC`),
        ),
        h("nav", { "aria-label": "Views", class: "tabs" }, tabs),
        themeButton(),
      ),
      main,
    );
  // A fragment that names no view would be read as one.
  document.getElementById("skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
}

/** The system's choice until a person makes another; a page in a file has no place to remember it but its address. */
function themeButton(): HTMLElement {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = h("button", {
    type: "button",
    class: "quiet theme",
    on: {
      click: () => {
        root.dataset.theme = dark() ? "light" : "dark";
        name();
      },
    },
  });
  const name = () => button.replaceChildren(document.createTextNode(dark() ? "Light" : "Dark"));
  button.setAttribute("aria-label", "Switch between light and dark");
  name();
  return button;
}

async function drawn(state: State): Promise<HTMLElement> {
  const go = (view: View) => (params: Record<string, string>) => {
    location.hash = formatState(view, params);
  };
  switch (state.view) {
    case "overview":
      return overview(read.data, state, go("overview"));
    case "run":
      return runView(read.run);
    default: {
      store ??= openStore(read);
      const opened = await store;
      if (state.view === "case") return caseView(opened, state);
      if (state.view === "compare") return compareView(opened, state, go("compare"));
      return casesView(opened, state, (params) => history.replaceState(null, "", formatState("cases", params)));
    }
  }
}

async function draw(first: boolean): Promise<void> {
  const turn = ++drawing;
  const state = parseState(location.hash);
  const before = main.dataset.view;
  let view: HTMLElement;
  try {
    view = await drawn(state);
  } catch (error) {
    view = h(
      "div",
      {},
      h("h2", {}, "This view can't be shown"),
      h("p", { class: "error" }, error instanceof Error ? error.message : String(error)),
      h("p", {}, "The file may be cut short. `bench report RUN --format html` writes it again."),
    );
  }
  // Another address was chosen meanwhile.
  if (turn !== drawing) return;
  main.replaceChildren(view);
  main.dataset.view = state.view;
  const tab = state.view === "case" ? "cases" : state.view;
  for (const [index, [name]] of TABS.entries()) {
    if (name === tab) tabs[index]?.setAttribute("aria-current", "page");
    else tabs[index]?.removeAttribute("aria-current");
  }
  document.title = `${TABS.find(([name]) => name === tab)?.[1] ?? ""} · ${read.data.title}`;
  if (first) return;
  if (before !== state.view || state.view === "case") {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

frame();
addEventListener("hashchange", () => void draw(false));
void draw(true).then(() => {
  // What the other views need is made ready while the first one is read.
  setTimeout(() => {
    store ??= openStore(read);
  }, 50);
});
