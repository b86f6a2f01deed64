/** The YAML text of a rule set: places of mistakes, and the small values that its members are made of. */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import type { Diagnostic } from "../base/diagnostics.js";
import { nearest } from "../base/nearest.js";
import { yamlProblem } from "../base/yaml-guard.js";

/** Of a text that is no YAML: the first few say it. */
const MOST_ERRORS = 20;

export class RulesDocument {
  readonly found: Diagnostic[] = [];
  readonly root: Node | null;
  readonly #file: string;
  readonly #lines: readonly string[];
  readonly #counter = new LineCounter();

  constructor(text: string, file: string) {
    this.#file = file;
    this.#lines = text.split(/\r?\n/);
    const unfit = yamlProblem(text);
    if (unfit !== null) {
      this.#counter.addNewLine(0);
      for (let at = text.indexOf("\n"); at !== -1 && at < unfit.offset; at = text.indexOf("\n", at + 1))
        this.#counter.addNewLine(at + 1);
      this.report(unfit.offset, unfit.message);
      this.root = null;
      return;
    }
    const document = parseDocument(text, {
      lineCounter: this.#counter,
      uniqueKeys: true,
      prettyErrors: false,
      logLevel: "silent",
    });
    for (const problem of document.errors.slice(0, MOST_ERRORS)) {
      this.report(problem.pos[0], `not valid YAML: ${problem.message.split("\n")[0] ?? problem.code}`);
    }
    this.root = document.contents;
  }

  report(offset: number | undefined, message: string, suggestion?: string, length = 1): void {
    const place = offset === undefined ? undefined : this.#counter.linePos(offset);
    const sourceLine = place === undefined ? undefined : this.#lines[place.line - 1];
    this.found.push({
      severity: "error",
      file: this.#file,
      ...(place === undefined ? {} : { line: place.line, column: place.col, length }),
      ...(sourceLine === undefined ? {} : { sourceLine }),
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }

  /** A list of names, each once; blanks and underscores are dashes, or the other way round where the known names have underscores. */
  names<T extends string>(node: Node | null, member: string, known: readonly T[], what: string): T[] {
    const names: T[] = [];
    if (!isSeq(node)) {
      this.report(offsetOf(node), `\`${member}\` must be a list`, `${member}: [${known.slice(0, 2).join(", ")}]`);
      return names;
    }
    for (const item of node.items) {
      const given = isScalar(item) ? String(item.value) : "";
      const name = find(given, known);
      if (name === undefined) this.#unknown(item, given, known, what);
      else if (names.includes(name)) {
        this.report(offsetOf(item), `${what} \`${given}\` is listed twice`, `list each ${what} once`, given.length);
      } else names.push(name);
    }
    return names;
  }

  /** `{ name: on | off }`. */
  switches<T extends string>(node: YAMLMap, known: readonly T[], what: string): Map<T, boolean> {
    const switches = new Map<T, boolean>();
    for (const pair of node.items) {
      const given = isScalar(pair.key) ? String(pair.key.value) : "";
      const name = find(given, known);
      if (name === undefined) this.#unknown(pair.key, given, known, what);
      else {
        const value = this.onOff((pair.value as Node | null) ?? (pair.key as Node), given);
        if (value !== undefined) switches.set(name, value);
      }
    }
    return switches;
  }

  /** YAML 1.2 reads `on` and `off` as texts; both they and true and false are meant by people. */
  onOff(node: Node | null, member: string): boolean | undefined {
    const value = isScalar(node) ? node.value : undefined;
    if (value === true || value === "on" || value === "yes") return true;
    if (value === false || value === "off" || value === "no") return false;
    const given = isScalar(node) ? String(node.value) : isMap(node) ? "a mapping" : "a list";
    this.report(offsetOf(node), `\`${member}\` is on or off, not \`${given}\``, `${member}: off`, Math.max(1, given.length));
    return undefined;
  }

  #unknown(node: unknown, given: string, known: readonly string[], what: string): void {
    const near = nearest(given, known);
    const hint = near === undefined ? `one of: ${known.join(", ")}` : `did you mean \`${near}\`?`;
    this.report(offsetOf(node), `unknown ${what} \`${given}\``, hint, Math.max(1, given.length));
  }
}

function find<T extends string>(given: string, known: readonly T[]): T | undefined {
  const plain = (text: string) =>
    text
      .trim()
      .toLowerCase()
      .replace(/[\s_-]+/g, "-");
  return known.find((one) => plain(one) === plain(given));
}

export function offsetOf(node: unknown): number | undefined {
  const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0];
}
