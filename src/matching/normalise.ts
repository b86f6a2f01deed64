/**
 * From a spelling to the paths that it may mean, most literal first.
 *
 * A spelling is first taken as it stands (separators, `./`, Unicode form apart); what could be part of a real name (`a/`, a line
 * suffix, percent signs, a leading root) is taken off only in later forms, so a folder that is really called `a` is found.
 */
import { splitLocation } from "../answers/tokens.js";
import { NORMALISATIONS, type Normalisation, type PathMapping, type RuleSet } from "./contract.js";

const ALL: ReadonlySet<Normalisation> = new Set(NORMALISATIONS);

/** ASCII segments, none of which begins with a dot, one slash between two: there is nothing to undo. */
const PLAIN = /^\/?(?:[\w$-][\w.$-]*\/)*[\w$-][\w.$-]*$/;

/**
 * `/` separators, NFC, no `.` segments, no doubled or trailing separators; `..` removes its parent. Keeps a leading `/`. What `on` does not
 * name stays as it is.
 */
export function normalisePath(text: string, on: ReadonlySet<Normalisation> = ALL): string {
  // Nearly all paths are plain already, and this is asked several times for each.
  if (PLAIN.test(text)) return text;
  // Unicode forms are told apart by no one.
  const composed = text.trim().normalize("NFC");
  const slashed = on.has("separators") ? composed.replaceAll("\\", "/") : composed;
  if (!on.has("dot-segments")) return slashed;
  const absolute = slashed.startsWith("/");
  const segments: string[] = [];
  for (const segment of slashed.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === ".." && segments.length > 0 && segments.at(-1) !== "..") segments.pop();
    else if (segment !== "..") segments.push(segment);
  }
  return (absolute ? "/" : "") + segments.join("/");
}

export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || path.startsWith("~/") || /^[A-Za-z]:(?:\/|$)/.test(path);
}

/** What `pathForms` reads of a rule set. */
export type PathRules = Pick<RuleSet, "normalise" | "paths">;

/** Forms of one spelling in the order in which they are looked up; absolute ones stay so if no root is theirs. `roots` are normalised. */
export function pathForms(spelling: string, roots: readonly string[], { normalise: on, paths }: PathRules): readonly string[] {
  const forms: string[] = [];
  const add = (form: string): void => {
    if (form !== "" && form !== "/" && !forms.includes(form)) forms.push(form);
  };
  const plain = fileUrl(spelling);
  const located = splitLocation(plain).path;
  for (const text of located === plain ? [plain] : [plain, located]) {
    const path = normalisePath(text, on);
    if (on.has("corpus-roots")) add(belowRoot(path, roots) ?? "");
    add(path);
    // "/src/A.java" means the root of the repository as often as that of the disk.
    if (path.startsWith("/") && on.has("leading-slash")) add(path.slice(1));
  }
  if (on.has("git-prefixes")) for (const form of [...forms]) if (/^[ab]\//.test(form)) add(form.slice(2));
  if (on.has("percent-encoding")) {
    for (const form of [...forms]) {
      if (!/%[0-9A-Fa-f]{2}/.test(form)) continue;
      try {
        add(normalisePath(decodeURIComponent(form), on));
      } catch {
        // No percent-encoding after all.
      }
    }
  }
  if (paths.length > 0) for (const form of [...forms]) add(mappedPath(form, paths) ?? "");
  return forms;
}

/**
 * What lies below a root, or null. A root that is not absolute (`trees/<digest>`) is one wherever it stands: a tree's copy has that name
 * in every cache, so an answer that was given on another machine is read like one that was given here.
 */
function belowRoot(path: string, roots: readonly string[]): string | null {
  for (const root of roots) {
    if (root === "") continue;
    if (path.startsWith(`${root}/`)) return path.slice(root.length + 1);
    if (isAbsolute(root)) continue;
    const at = path.indexOf(`/${root}/`);
    if (at !== -1) return path.slice(at + root.length + 2);
  }
  return null;
}

/** The path by the first mapping that fits, or null if none does. */
export function mappedPath(path: string, mappings: readonly PathMapping[]): string | null {
  for (const { from, to } of mappings) {
    const fits = from === "" || from.endsWith("/") ? path.startsWith(from) : path === from;
    // A prefix for everything must not be put before a path of the disk.
    if (fits && !(from === "" && isAbsolute(path))) return to + path.slice(from.length);
  }
  return null;
}

function fileUrl(text: string): string {
  const trimmed = text.trim();
  if (!/^file:/i.test(trimmed)) return trimmed;
  const path = trimmed.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, "").replace(/^\/(?=[A-Za-z]:)/, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Does the spelling name a file by path (a separator or an extension of this corpus), rather than a class or module? */
export function looksLikePath(spelling: string, extensions: ReadonlySet<string>): boolean {
  const path = splitLocation(spelling).path;
  if (/[\\/]/.test(path)) return true;
  const dot = path.lastIndexOf(".");
  return dot >= 0 && extensions.has(path.slice(dot + 1)) && !/[#$]|::/.test(path);
}

/** Segments of a qualified name: `org.json.JSONObject$Inner#get(int)` -> org, json, JSONObject, Inner, get; null if it is none. */
export function nameSegments(spelling: string, extensions: ReadonlySet<string>): readonly string[] | null {
  let text = spelling
    .trim()
    .normalize("NFC")
    .replace(/\([^()]*\)$/, "")
    .replace(/<[^<>]*>$/, "");
  if (text === "" || text.length > 1024 || /[\s\\]/.test(text)) return null;
  // `org.json.JSONObject.java`, and JVM names: `org/json/JSONObject`.
  const last = text.slice(text.lastIndexOf(".") + 1);
  const slashed = text.includes("/");
  if (!slashed && extensions.has(last) && text.includes(".") && text.indexOf(".") !== text.lastIndexOf("."))
    text = text.slice(0, -last.length - 1);
  if (slashed && text.includes(".")) return null;
  const segments = text.split(/::|[.#$/]/);
  return segments.every((segment) => /^[\p{L}_~][\p{L}\p{N}_-]*$/u.test(segment)) ? segments : null;
}

/**
 * Does the name go on inside a class (`Cart$Line`, `Cart.Line`)? Told by a second segment that begins with a capital and is no constant
 * (`Cart.MAX_ITEMS` is a member).
 */
export function namesInnerClass(segments: readonly string[]): boolean {
  const outer = segments.findIndex((segment) => /^\p{Lu}/u.test(segment));
  return outer !== -1 && segments.slice(outer + 1).some((segment) => /^\p{Lu}/u.test(segment) && /\p{Ll}/u.test(segment));
}
