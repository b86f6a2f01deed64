/** What a stage writes must stay inside the project. Decided on the text alone, by the rules of every platform at once. */
import { join, normalize } from "node:path/posix";
import type { Json } from "../base/json.js";

/**
 * The path with `.` and `..` worked out, `/` separated, or null if it lies outside `root`. `folder` and `root` are absolute.
 * A backslash separates too: on Windows it does, and elsewhere such a name is more likely a slip than meant.
 */
export function insideProject(path: string, folder: string, root: string): string | null {
  if (path.includes("\u0000")) return null;
  const slashed = path.replaceAll("\\", "/");
  const drive = /^[A-Za-z]:/.test(slashed);
  // `C:name` is relative to whatever folder drive C is in: nobody can say where that is.
  if (drive && slashed[2] !== "/") return null;
  const absolute = drive || slashed.startsWith("/");
  const resolved = plain(absolute ? slashed : join(plain(folder), slashed));
  const base = plain(root);
  // Windows compares without letter case; only a project on a drive is there.
  const same = /^[A-Za-z]:/.test(base) ? (text: string): string => text.toLowerCase() : (text: string): string => text;
  const inside = same(resolved) === same(base) || same(resolved).startsWith(base.endsWith("/") ? same(base) : `${same(base)}/`);
  return inside ? resolved : null;
}

function plain(path: string): string {
  const normal = normalize(path.replaceAll("\\", "/"));
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

/** Paths of text at a member such as `out` or `files.table`; a list gives one for each text in it. */
export function pathsAt(config: Json, name: string): { readonly path: readonly (string | number)[]; readonly text: string }[] {
  const steps = name.split(".");
  let value: Json | undefined = config;
  for (const step of steps) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    value = Object.hasOwn(value, step) ? (value as { readonly [name: string]: Json })[step] : undefined;
  }
  if (typeof value === "string") return [{ path: steps, text: value }];
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: Json, index) => (typeof item === "string" ? [{ path: [...steps, index], text: item }] : []));
}
