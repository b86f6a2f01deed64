/**
 * A person's own rule set, as YAML. Every mistake is reported with its place, all at once, as in pipeline files.
 *
 * ```yaml
 * name: by-suffix
 * extends: lenient                     # strict (the default) or lenient: what is not said here is as there
 * rungs: [path, suffix]                # these, in this order; or { simple-name: off } to change some
 * normalise: { git-prefixes: off }
 * extensions: [.java, .kt]
 * paths: { "old/": "new/" }
 * inner_classes: off
 * renames: either
 * leave_out: [skipped]
 * ```
 */
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from "yaml";
import type { Diagnostic } from "../base/diagnostics.js";
import { nearest } from "../base/nearest.js";
import { err, ok, type Result } from "../base/result.js";
import { NORMALISATIONS, type Normalisation, type PathMapping, RENAME_RULES, type RenameRule, type RuleSet } from "./contract.js";
import { builtInRules, LADDER, type Rung } from "./rules.js";
import { offsetOf, RulesDocument } from "./rules-document.js";

/** Outcomes that may be left out of the denominators. An answer that predicts something is none of them. */
export const OUTCOMES_LEFT_OUT = [
  "abstained",
  "refused",
  "unparsable",
  "timed_out",
  "rate_limited",
  "failed",
  "skipped",
  "unasked",
] as const;

const MEMBERS = [
  "name",
  "extends",
  "rungs",
  "normalise",
  "extensions",
  "paths",
  "inner_classes",
  "renames",
  "leave_out",
] as const;
type Member = (typeof MEMBERS)[number];

/** Reads a rule set from YAML; every mistake with its place. `file` is shown in them. */
export function parseRules(text: string, file: string): Result<RuleSet, Diagnostic[]> {
  const document = new RulesDocument(text, file);
  if (document.found.length > 0) return err(document.found);
  const root = document.root;
  if (!isMap(root)) {
    document.report(
      root === null ? undefined : offsetOf(root),
      "a rule set is a mapping with `name` and what differs from `extends`",
      "name: my-rules\nrungs: [path, suffix]",
    );
    return err(document.found);
  }
  const members = membersOf(root, document);
  const name = readName(root, members, document);
  const base = readBase(members.get("extends"), document);
  if (!members.has("extends") && !members.has("rungs")) {
    document.report(offsetOf(root), "`rungs` is missing: which rungs may match?", `rungs: [${LADDER.join(", ")}]`);
  }
  const member = <T>(which: Member, read: (node: Node | null) => T, otherwise: T): T => {
    const node = members.get(which);
    return node === undefined ? otherwise : read(node);
  };
  const rules = {
    ...base,
    rungs: member("rungs", (node) => readRungs(node, base.rungs, document), base.rungs),
    normalise: member("normalise", (node) => readNormalise(node, base.normalise, document), base.normalise),
    extensions: member("extensions", (node) => readExtensions(node, document), base.extensions),
    paths: member("paths", (node) => readPaths(node, document), base.paths),
    innerClasses: member("inner_classes", (node) => document.onOff(node, "inner_classes") ?? true, base.innerClasses),
    renames: member("renames", (node) => readRenames(node, document), base.renames),
    leaveOut: member("leave_out", (node) => document.names(node, "leave_out", OUTCOMES_LEFT_OUT, "outcome"), base.leaveOut),
  };
  if (name !== null && document.found.length === 0) return ok({ ...rules, name });
  return err([...document.found].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)));
}

function membersOf(root: YAMLMap, document: RulesDocument): Map<Member, Node | null> {
  const members = new Map<Member, Node | null>();
  for (const pair of root.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : "";
    const known = MEMBERS.find((one) => one === key || one === key.replaceAll("-", "_"));
    if (known !== undefined) members.set(known, (pair.value as Node | null) ?? (pair.key as Node));
    else document.report(offsetOf(pair.key), `unknown member \`${key}\``, didYouMean(key, MEMBERS), Math.max(1, key.length));
  }
  return members;
}

function readName(root: YAMLMap, members: ReadonlyMap<Member, Node | null>, document: RulesDocument): string | null {
  const node = members.get("name");
  if (node === undefined) {
    document.report(offsetOf(root), "`name` is missing", "name: my-rules");
    return null;
  }
  const name = isScalar(node) && typeof node.value === "string" ? node.value.trim() : "";
  if (name === "") {
    document.report(offsetOf(node), "`name` must be a text", "name: my-rules");
    return null;
  }
  if (Object.hasOwn(builtInRules, name)) {
    document.report(offsetOf(node), `\`${name}\` is the name of a built-in rule set`, "choose another name");
  }
  return name;
}

function readBase(node: Node | null | undefined, document: RulesDocument): RuleSet {
  if (node === undefined) return builtInRules.strict;
  const given = isScalar(node) ? String(node.value) : "";
  if (given === "strict" || given === "lenient") return builtInRules[given];
  if (given === "seed") {
    const message = "`seed` has a parser and a matcher of its own and can't be extended";
    document.report(offsetOf(node), message, "extends: lenient", given.length);
  } else {
    const hint = didYouMean(given, ["strict", "lenient"]);
    document.report(offsetOf(node), `unknown rule set \`${given}\``, hint, Math.max(1, given.length));
  }
  return builtInRules.strict;
}

/** A list: these rungs in this order. A mapping: the base's, with some switched; what is switched on is put where trust puts it. */
function readRungs(node: Node | null, base: readonly Rung[], document: RulesDocument): readonly Rung[] {
  if (isMap(node)) {
    const switches = document.switches(node, LADDER, "rung");
    const rungs = LADDER.filter((rung) => switches.get(rung) ?? base.includes(rung));
    if (rungs.length === 0) document.report(offsetOf(node), "no rung is left: nothing could ever match", "leave `path` on");
    return rungs;
  }
  if (!isSeq(node) || node.items.length === 0) {
    document.report(offsetOf(node), "`rungs` must be a list of at least one rung", `rungs: [${LADDER.join(", ")}]`);
    return [];
  }
  return document.names(node, "rungs", LADDER, "rung");
}

function readNormalise(node: Node | null, base: ReadonlySet<Normalisation>, document: RulesDocument): ReadonlySet<Normalisation> {
  if (!isMap(node)) {
    const example = "normalise: { git-prefixes: off }";
    document.report(offsetOf(node), "`normalise` must be a mapping of normalisations to on or off", example);
    return base;
  }
  const switches = document.switches(node, NORMALISATIONS, "normalisation");
  return new Set(NORMALISATIONS.filter((one) => switches.get(one) ?? base.has(one)));
}

const EXTENSION = /^\.[\p{L}\p{N}_.+-]{1,30}$/u;

function readExtensions(node: Node | null, document: RulesDocument): readonly string[] | null {
  if (isScalar(node) && node.value === "all") return null;
  if (!isSeq(node) || node.items.length === 0) {
    document.report(offsetOf(node), "`extensions` must be a list of file endings, or `all`", "extensions: [.java, .kt]");
    return null;
  }
  const extensions = new Set<string>();
  for (const item of node.items) {
    const given = isScalar(item) ? String(item.value).trim() : "";
    if (EXTENSION.test(given)) extensions.add(given.toLowerCase());
    else {
      const better = EXTENSION.test(`.${given.replace(/^\*?\.?/, "")}`) ? `.${given.replace(/^\*?\.?/, "")}` : ".java";
      document.report(offsetOf(item), `\`${given}\` is no file ending: it begins with a dot`, better, Math.max(1, given.length));
    }
  }
  return [...extensions];
}

function readPaths(node: Node | null, document: RulesDocument): readonly PathMapping[] {
  const mappings: PathMapping[] = [];
  if (!isMap(node)) {
    document.report(offsetOf(node), "`paths` must map beginnings of paths to others", 'paths: { "old/": "new/" }');
    return mappings;
  }
  for (const pair of node.items) {
    const from = isScalar(pair.key) ? String(pair.key.value ?? "").replaceAll("\\", "/") : null;
    const to = isScalar(pair.value) ? String(pair.value.value ?? "").replaceAll("\\", "/") : null;
    const at = offsetOf(pair.key);
    if (from === null || to === null) {
      document.report(at, "a path mapping is a text and a text", 'paths: { "old/": "new/" }');
    } else if (from === to) {
      document.report(at, `\`${from}\` is mapped to itself`, "leave the line out");
    } else if (isFolder(from) !== isFolder(to)) {
      // `old/` to `new` would make `newFile.java` of `old/File.java`.
      const message = `\`${from}\` and \`${to}\` are not of one kind: both must end in \`/\` (folders; empty = the root), or none (files)`;
      document.report(
        at,
        message,
        `"${from}": "${isFolder(from) ? `${to}/` : to.replace(/\/+$/, "")}"`,
        Math.max(1, from.length),
      );
    } else mappings.push({ from, to });
  }
  // The most specific one first, in whatever order they are written.
  return mappings.sort((a, b) => b.from.length - a.from.length);
}

function isFolder(path: string): boolean {
  return path === "" || path.endsWith("/");
}

function readRenames(node: Node | null, document: RulesDocument): RenameRule {
  const given = isScalar(node) ? String(node.value) : "";
  const known = RENAME_RULES.find((one) => one === given);
  if (known !== undefined) return known;
  const hint = didYouMean(given, RENAME_RULES);
  document.report(offsetOf(node), `\`renames\` is old, new or either, not \`${given}\``, hint, Math.max(1, given.length));
  return "old";
}

function didYouMean(given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  return near === undefined ? `one of: ${known.join(", ")}` : `did you mean \`${near}\`?`;
}
