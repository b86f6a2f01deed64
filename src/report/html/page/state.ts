/** What is looked at, as the fragment of the address: `#/cases?backend=bm25&q=camera`. A view can be linked to, and Back goes back. */

export const VIEWS = ["overview", "cases", "case", "compare", "run"] as const;
export type View = (typeof VIEWS)[number];
export interface State {
  readonly view: View;
  readonly params: Readonly<Record<string, string>>;
}

export function parseState(fragment: string): State {
  const text = fragment.replace(/^#\/?/, "");
  const mark = text.indexOf("?");
  const name = mark === -1 ? text : text.slice(0, mark);
  const params: Record<string, string> = Object.create(null);
  for (const [key, value] of new URLSearchParams(mark === -1 ? "" : text.slice(mark + 1))) params[key] = value;
  return { view: VIEWS.find((view) => view === name) ?? "overview", params };
}

/** Empty values are left out, so that the same view has one address. */
export function formatState(view: View, params: Readonly<Record<string, string | undefined>> = {}): string {
  const search = new URLSearchParams();
  for (const key of Object.keys(params).sort()) {
    const value = params[key];
    if (value !== undefined && value !== "") search.set(key, value);
  }
  const text = search.toString();
  return `#/${view}${text === "" ? "" : `?${text}`}`;
}
