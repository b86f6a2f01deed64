/**
 * Sets single values in a TOML file and leaves every other byte as it was.
 *
 * For tools that take their settings from a file only: a matrix over one of them would need a file per variant, and the files would drift
 * apart. It is a text edit and no parser: it must know tables, keys and strings of several lines (a prompt may hold `[search]`), and it
 * refuses what it can't replace for sure (a value of several lines, a table written inline) instead of writing a file that means something else.
 */
import { err, ok, type Result } from "../base/result.js";

export type TomlValue = string | number | boolean;

/** `search.hybrid.enabled`: tables, then the key. */
export const TOML_PATH = /^[A-Za-z0-9_-]{1,100}(?:\.[A-Za-z0-9_-]{1,100}){0,8}$/;

interface Assignment {
  readonly line: number;
  /** Up to and with the `=`. */
  readonly left: string;
  /** From the first character of the value. */
  readonly right: string;
  readonly whole: boolean;
}

interface Layout {
  /** By full path. */
  readonly assignments: ReadonlyMap<string, Assignment>;
  /** Line of each table's header. */
  readonly tables: ReadonlyMap<string, number>;
}

/** The file's text with these values. A table that is not there is added at the end. Error: a sentence. */
export function withTomlSettings(text: string, settings: Readonly<Record<string, TomlValue>>): Result<string, string> {
  let lines = text.split("\n");
  for (const [path, value] of Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const edited = withSetting(lines, path, rendered(value));
    if (!edited.ok) return edited;
    lines = edited.value;
  }
  return ok(lines.join("\n"));
}

function rendered(value: TomlValue): string {
  if (typeof value !== "string") return String(value);
  // JSON's escapes are TOML's; only DEL must be escaped there and need not be here.
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

function withSetting(lines: readonly string[], path: string, value: string): Result<string[], string> {
  const { assignments, tables } = layoutOf(lines);
  const present = assignments.get(path);
  if (present !== undefined) {
    if (!present.whole) return err(`\`${path}\` has a value of several lines, which can't be replaced here`);
    return ok(
      lines.map((line, index) => (index === present.line ? `${present.left} ${value}${commentOf(present.right)}` : line)),
    );
  }
  for (const [other, { right }] of assignments) {
    if (path.startsWith(`${other}.`)) {
      return err(
        `\`${other}\` is ${right.trim().startsWith("{") ? "a table in one line" : "a value"}, so \`${path}\` can't be set`,
      );
    }
    if (other.startsWith(`${path}.`)) return err(`\`${path}\` is a table, not a value`);
  }
  if (tables.has(path)) return err(`\`${path}\` is a table, not a value`);
  const dot = path.lastIndexOf(".");
  const [table, key] = [dot === -1 ? "" : path.slice(0, dot), path.slice(dot + 1)];
  if (table === "") return ok([`${key} = ${value}`, ...lines]);
  const header = tables.get(table);
  if (header !== undefined) return ok([...lines.slice(0, header + 1), `${key} = ${value}`, ...lines.slice(header + 1)]);
  const end = lines.at(-1) === "" ? lines.slice(0, -1) : [...lines];
  return ok([...end, `[${table}]`, `${key} = ${value}`, ""]);
}

function layoutOf(lines: readonly string[]): Layout {
  const assignments = new Map<string, Assignment>();
  const tables = new Map<string, number>();
  let table: string | null = "";
  let open: '"""' | "'''" | null = null;
  let brackets = 0;
  for (const [index, line] of lines.entries()) {
    if (open !== null || brackets > 0) {
      ({ open, brackets } = scan(line, open, brackets));
      continue;
    }
    const trimmed = line.trim();
    if (trimmed.startsWith("[")) {
      table = tableOf(trimmed);
      if (table !== null && !tables.has(table)) tables.set(table, index);
      continue;
    }
    const equals = line.indexOf("=");
    const key = line.slice(0, Math.max(0, equals)).trim();
    if (!/^[\w.\t -]{1,300}$/.test(key)) continue;
    const [left, right] = [line.slice(0, equals + 1), line.slice(equals + 1).trim()];
    ({ open, brackets } = scan(right, null, 0));
    const whole = open === null && brackets === 0;
    if (table !== null) {
      const path = plainPath(table === "" ? key : `${table}.${key}`);
      assignments.set(path, { line: index, left, right, whole });
    }
  }
  return { assignments, tables };
}

/** The name in a table's header; null for a list of tables and for a quoted name: no path can mean them. */
function tableOf(header: string): string | null {
  const end = header.indexOf("]");
  const after = header.slice(end + 1).trim();
  const name = header.slice(1, end);
  return end === -1 || /["'[]/.test(name) || (after !== "" && !after.startsWith("#")) ? null : plainPath(name);
}

function plainPath(text: string): string {
  return text
    .split(".")
    .map((part) => part.trim())
    .join(".");
}

/** What is still open at the end of a line: a string of several lines, brackets. */
function scan(text: string, within: '"""' | "'''" | null, depth: number): { open: '"""' | "'''" | null; brackets: number } {
  let open = within;
  let brackets = depth;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (open !== null) {
      if (character === "\\" && open === '"""') at++;
      else if (text.startsWith(open, at)) {
        at += 2;
        open = null;
      }
    } else if (character === "#") break;
    else if (text.startsWith('"""', at) || text.startsWith("'''", at)) {
      open = character === '"' ? '"""' : "'''";
      at += 2;
    } else if (character === '"' || character === "'") at = endOfString(text, at);
    else if (character === "[" || character === "{") brackets++;
    else if (character === "]" || character === "}") brackets--;
  }
  return { open, brackets: Math.max(0, brackets) };
}

/** Index of the closing quote, or the end. */
function endOfString(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\" && quote === '"') at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

/** ` # ...` after a value, kept. */
function commentOf(right: string): string {
  for (let at = 0; at < right.length; at++) {
    if (right[at] === '"' || right[at] === "'") at = endOfString(right, at);
    else if (right[at] === "#") return ` ${right.slice(at)}`;
  }
  return "";
}
