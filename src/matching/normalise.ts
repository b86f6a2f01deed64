/**
 * From a spelling to the paths that it may mean, most literal first.
 *
 * A spelling is first taken as it stands (separators, `./`, Unicode form apart); what could be part of a real name (`a/`, a line
 * suffix, percent signs, a leading root) is taken off only in later forms, so a folder that is really called `a` is found.
 */
import { splitLocation } from "../answers/tokens.js";

/** `/` separators, NFC, no `.` segments, no doubled or trailing separators; `..` removes its parent. Keeps a leading `/`. */
export function normalisePath(text: string): string {
  const slashed = text.trim().normalize("NFC").replaceAll("\\", "/");
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

/** Forms of one spelling in the order in which they are looked up; absolute ones stay so if no root is theirs. */
export function pathForms(spelling: string, roots: readonly string[]): readonly string[] {
  const forms: string[] = [];
  const add = (form: string): void => {
    if (form !== "" && form !== "/" && !forms.includes(form)) forms.push(form);
  };
  const plain = fileUrl(spelling);
  const located = splitLocation(plain).path;
  for (const text of located === plain ? [plain] : [plain, located]) {
    const path = normalisePath(text);
    const below = roots.map(normalisePath).find((root) => root !== "" && path.startsWith(`${root}/`));
    if (below !== undefined) add(path.slice(normalisePath(below).length + 1));
    add(path);
    // "/src/A.java" means the root of the repository as often as that of the disk.
    if (path.startsWith("/")) add(path.slice(1));
  }
  for (const form of [...forms]) if (/^[ab]\//.test(form)) add(form.slice(2));
  for (const form of [...forms]) {
    if (!/%[0-9A-Fa-f]{2}/.test(form)) continue;
    try {
      add(normalisePath(decodeURIComponent(form)));
    } catch {
      // No percent-encoding after all.
    }
  }
  return forms;
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
