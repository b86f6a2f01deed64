/**
 * Which user modules a pipeline file names, so that they can be loaded before the file is checked against their schemas.
 *
 * A tolerant scan: a file with mistakes gives what can be made out, and the check reports the mistakes afterwards.
 */
import { Mistakes, SourceText } from "./mistakes.js";
import { splitReferences } from "./references.js";
import { member, type SourceNode } from "./tree.js";
import { readYaml } from "./yaml.js";

/** `./x.js`, `../stages/x.ts`, `lib/x.mjs`: a module of the user's, not a kind of ours. */
export function isModulePath(text: string): boolean {
  return text.startsWith("./") || text.startsWith("../") || /\.(?:js|mjs|ts)$/.test(text);
}

/**
 * Paths as written (relative to the pipeline file), each once, in the order of the file: from `uses:` of stages and from `kind:`
 * anywhere below `with` and `matrix`, also where it is a reference to a parameter (`set` as for `checkPipeline`) or to the stage's
 * matrix. Never throws.
 */
export function extensionPaths(text: string, set: readonly string[] = []): string[] {
  const root = readYaml(new Mistakes(new SourceText("", text.startsWith("\ufeff") ? text.slice(1) : text)));
  const stages = root?.type === "map" ? member(root, "stages")?.value : undefined;
  if (root?.type !== "map" || stages?.type !== "map") return [];
  const params = member(root, "params")?.value;
  const found = new Set<string>();
  for (const { value: stage } of stages.members) {
    if (stage.type !== "map") continue;
    const uses = member(stage, "uses")?.value;
    if (uses?.type === "scalar" && typeof uses.value === "string" && isModulePath(uses.value)) found.add(uses.value);
    const matrix = member(stage, "matrix")?.value;
    const resolve = (path: readonly string[], space: string): readonly SourceNode[] => {
      const name = path.length === 1 ? (path[0] ?? "") : "";
      if (space === "matrix") return matrix?.type === "map" ? itemsOf(member(matrix, name)?.value) : [];
      const typed = set.filter((assignment) => assignment.startsWith(`${name}=`)).at(-1);
      if (space === "params" && typed !== undefined) {
        const value = typed
          .slice(name.length + 1)
          .trim()
          .replace(/^(["'])(.*)\1$/, "$2");
        return [{ type: "scalar", span: { start: 0, end: 0 }, value, text: value }];
      }
      return space === "params" && params?.type === "map" ? itemsOf(member(params, name)?.value) : [];
    };
    for (const key of ["with", "matrix"]) collect(member(stage, key)?.value, resolve, found);
  }
  return [...found];
}

type Resolve = (path: readonly string[], space: string) => readonly SourceNode[];

function itemsOf(node: SourceNode | undefined): readonly SourceNode[] {
  if (node === undefined) return [];
  return node.type === "list" ? node.items : [node];
}

/** `seen` ends the walk where parameters refer to themselves, and visits what aliases share once. */
function collect(node: SourceNode | undefined, resolve: Resolve, found: Set<string>, seen: Set<SourceNode> = new Set()): void {
  if (node === undefined || seen.has(node)) return;
  seen.add(node);
  if (node.type === "list") for (const item of node.items) collect(item, resolve, found, seen);
  // A whole list of backends may be a parameter.
  if (node.type === "scalar")
    for (const put of referenced(node, resolve)) if (put.type === "map") collect(put, resolve, found, seen);
  if (node.type !== "map") return;
  for (const { key, value } of node.members) {
    if (key === "kind") {
      for (const item of itemsOf(value)) for (const put of [item, ...referenced(item, resolve)]) add(put, found);
    } else collect(value, resolve, found, seen);
  }
}

function referenced(node: SourceNode | undefined, resolve: Resolve): readonly SourceNode[] {
  if (node?.type !== "scalar" || typeof node.value !== "string" || !node.value.includes("${")) return [];
  const [part, ...more] = splitReferences(node.value);
  return part?.type === "reference" && more.length === 0 ? resolve(part.path, part.space) : [];
}

function add(node: SourceNode, found: Set<string>): void {
  if (node.type === "scalar" && typeof node.value === "string" && !node.value.includes("${") && isModulePath(node.value))
    found.add(node.value);
}
