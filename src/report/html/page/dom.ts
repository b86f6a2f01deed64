/**
 * Elements made by hand: text becomes text nodes, attributes come from a short list of kinds, and an address becomes a link only where it is
 * https. No string is ever parsed as markup, so hostile texts have nothing to break out of.
 */

export type Child = Node | string | number | null | undefined | readonly Child[];
type Listeners = { readonly [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
export interface Props {
  readonly class?: string;
  readonly on?: Listeners;
  readonly [attribute: string]: string | number | boolean | undefined | Listeners;
}

const SVG = "http://www.w3.org/2000/svg";

/** Characters that reorder, hide or fake text are shown as what they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const DECEIVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function shown(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(DECEIVING, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${code}⟩`;
  });
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined) continue;
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.append(child);
    else parent.append(document.createTextNode(shown(String(child))));
  }
}

/** Attributes that could run or fetch something are bugs, not data. */
function setAttributes(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (name === "on" || value === undefined || value === false) continue;
    if (/^on|^style$|^src$|^srcdoc$/i.test(name)) throw new Error(`attribute ${name}`);
    if (name === "href" && !/^#/.test(String(value)) && safeAddress(String(value)) === null) throw new Error("address");
    element.setAttribute(name, value === true ? "" : shown(String(value)));
  }
  for (const [name, listener] of Object.entries(props.on ?? {})) element.addEventListener(name, listener as EventListener);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, props);
  append(element, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  setAttributes(element, props);
  append(element, children);
  return element;
}

/** An https address as the browser reads it; null for any other. */
export function safeAddress(address: string): string | null {
  if (!/^https:\/\//i.test(address)) return null;
  try {
    const url = new URL(address);
    return url.protocol === "https:" && url.username === "" && url.password === "" ? url.href : null;
  } catch {
    return null;
  }
}

/** A link that leaves the page; text alone where the address is not https. */
export function outside(address: string | null, text: string): HTMLElement {
  const safe = address === null ? null : safeAddress(address);
  if (safe === null) return h("span", {}, text);
  return h("a", { href: safe, rel: "noopener noreferrer", target: "_blank" }, text);
}

/** `owner/repo#12` as a pull request of GitHub; null for what is none. */
export function pullRequest(change: string): string | null {
  const match = /^([A-Za-z0-9_.-]{1,100})\/([A-Za-z0-9_.-]{1,100})#([0-9]{1,9})$/.exec(change);
  return match === null ? null : `https://github.com/${match[1]}/${match[2]}/pull/${match[3]}`;
}

export function option(value: string, text: string, selected: boolean): HTMLOptionElement {
  return h("option", { value, selected }, text);
}

/** A labelled choice. */
export function choice(
  label: string,
  values: readonly (readonly [value: string, text: string])[],
  chosen: string,
  change: (value: string) => void,
): HTMLLabelElement {
  const select = h(
    "select",
    { on: { change: () => change(select.value) } },
    values.map(([value, text]) => option(value, text, value === chosen)),
  );
  return h("label", { class: "field" }, h("span", {}, label), select);
}

export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
