/**
 * Rule sets: which rungs may match a prediction with a file, and a person's own as YAML.
 *
 * ```yaml
 * name: by-suffix
 * extends: strict          # optional: strict or lenient
 * rungs: [path, suffix]    # optional with extends; in the order in which they are tried
 * ```
 */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { Diagnostic } from "../base/diagnostics.js";
import type { Json } from "../base/json.js";
import { nearest } from "../base/nearest.js";
import { err, ok, type Result } from "../base/result.js";
import type { MatchRung, RuleSet } from "./contract.js";

type Rung = Exclude<MatchRung, "seed">;

/** In order of trust; `matchEntries` tries them in the order of the rule set. */
const LADDER: readonly Rung[] = ["path", "suffix", "qualified-name", "simple-name", "letter-case"];

export const builtInRules: Record<"strict" | "lenient" | "seed", RuleSet> = {
  strict: { name: "strict", version: 1, rungs: ["path"], engine: "ladder" },
  lenient: { name: "lenient", version: 1, rungs: LADDER, engine: "ladder" },
  seed: { name: "seed", version: 1, rungs: [], engine: "seed" },
};

/** What a cache key has to name of a rule set: everything that changes a decision, and the name that results carry. */
export function rulesDigestParts(rules: RuleSet): Json {
  return { name: rules.name, version: rules.version, engine: rules.engine, rungs: [...rules.rungs] };
}

const MEMBERS = ["name", "extends", "rungs"] as const;

/** Reads a rule set from YAML; every mistake with its place. `file` is shown in them. */
export function parseRules(text: string, file: string): Result<RuleSet, Diagnostic[]> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true });
  const lines = text.split(/\r?\n/);
  const found: Diagnostic[] = [];
  const report = (offset: number | undefined, message: string, suggestion?: string, length = 1): void => {
    const place = offset === undefined ? undefined : counter.linePos(offset);
    const sourceLine = place === undefined ? undefined : lines[place.line - 1];
    found.push({
      severity: "error",
      file,
      ...(place === undefined ? {} : { line: place.line, column: place.col, length }),
      ...(sourceLine === undefined ? {} : { sourceLine }),
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  };
  for (const problem of document.errors)
    report(problem.pos[0], `not valid YAML: ${problem.message.split("\n")[0] ?? problem.code}`);
  if (found.length > 0) return err(found);
  const root = document.contents;
  if (!isMap(root)) {
    report(
      root === null ? undefined : offsetOf(root),
      "a rule set is a mapping with `name` and `rungs`",
      "name: my-rules\nrungs: [path, suffix]",
    );
    return err(found);
  }
  let name: string | null = null;
  let base: RuleSet | null = null;
  let rungs: Rung[] | null = null;
  for (const pair of root.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : "";
    const at = offsetOf(pair.key);
    const value = pair.value as Node | null;
    const valueAt = value === null ? at : offsetOf(value);
    if (key === "name") {
      if (isScalar(value) && typeof value.value === "string" && value.value.trim() !== "") name = value.value.trim();
      else report(valueAt, "`name` must be a text", "name: my-rules");
    } else if (key === "extends") {
      const given = isScalar(value) ? String(value.value) : "";
      if (given === "strict" || given === "lenient") base = builtInRules[given];
      else if (given === "seed")
        report(valueAt, "`seed` has a parser and a matcher of its own and can't be extended", "extends: lenient", given.length);
      else report(valueAt, `unknown rule set \`${given}\``, didYouMean(given, ["strict", "lenient"]), Math.max(1, given.length));
    } else if (key === "rungs") {
      rungs = readRungs(value, valueAt, report);
    } else {
      report(at, `unknown member \`${key}\``, didYouMean(key, MEMBERS), Math.max(1, key.length));
    }
  }
  if (name === null && !root.has("name")) report(offsetOf(root), "`name` is missing", "name: my-rules");
  if (name !== null && Object.hasOwn(builtInRules, name)) {
    report(offsetOf(root.get("name", true)), `\`${name}\` is the name of a built-in rule set`, "choose another name");
  }
  if (rungs === null && base === null && !root.has("rungs") && !root.has("extends")) {
    report(offsetOf(root), "`rungs` is missing: which rungs may match?", `rungs: [${LADDER.join(", ")}]`);
  }
  if (found.length > 0 || name === null) return err(found);
  return ok({ name, version: base?.version ?? 1, rungs: rungs ?? base?.rungs ?? [], engine: "ladder" });
}

function readRungs(
  value: Node | null,
  at: number | undefined,
  report: (offset: number | undefined, message: string, suggestion?: string, length?: number) => void,
): Rung[] {
  const rungs: Rung[] = [];
  if (!isSeq(value) || value.items.length === 0) {
    report(at, "`rungs` must be a list of at least one rung", `rungs: [${LADDER.join(", ")}]`);
    return rungs;
  }
  for (const item of value.items) {
    const given = isScalar(item) ? String(item.value) : "";
    const rung = LADDER.find(
      (one) =>
        one ===
        given
          .trim()
          .toLowerCase()
          .replace(/[\s_]+/g, "-"),
    );
    const offset = offsetOf(item);
    if (rung === undefined) report(offset, `unknown rung \`${given}\``, didYouMean(given, LADDER), Math.max(1, given.length));
    else if (rungs.includes(rung)) report(offset, `rung \`${rung}\` is listed twice`, "list each rung once", given.length);
    else rungs.push(rung);
  }
  return rungs;
}

function didYouMean(given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  return near === undefined ? `one of: ${known.join(", ")}` : `did you mean \`${near}\`?`;
}

function offsetOf(node: unknown): number | undefined {
  const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0];
}
