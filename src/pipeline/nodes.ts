/** A stage and its cells -> nodes of the graph: values put in, options read, configuration validated. */

import type { Json } from "../base/json.js";
import { nearest } from "../base/nearest.js";
import type { Cell, StageCells } from "./cells.js";
import type { Axis } from "./matrix.js";
import type { CommonOptions, StageKindInfo } from "./model.js";
import { readOptions } from "./options.js";
import type { Parameters } from "./params.js";
import { descend, matrixNames, type Resolution, type Scope, substitute } from "./references.js";
import { takesKey } from "./schema-walk.js";
import type { RawStage } from "./stage.js";
import type { MapNode, Member, SourceNode } from "./tree.js";
import { validate } from "./validate.js";
import { code, found, listed } from "./words.js";
import { insideProject, pathsAt } from "./writes.js";

export interface StageContext {
  readonly stage: RawStage;
  /** null where the kind is unknown (reported): references and options are checked all the same. */
  readonly kind: StageKindInfo | null;
  readonly cells: StageCells;
  readonly own: Axis | null;
  readonly axes: ReadonlyMap<string, Axis>;
  /** Its cells can't be told: a matrix value that is not there may be one that would be. */
  readonly unsure: boolean;
  readonly parameters: Parameters;
  readonly folder: string;
  readonly projectRoot: string;
}

export interface CellResult {
  readonly config: Json;
  readonly common: CommonOptions;
}

/** One result per cell, in order; null where the cell has mistakes (reported). */
export function configureCells(context: StageContext): (CellResult | null)[] {
  const { stage, own, cells } = context;
  const used = matrixNames(stage.with);
  for (const { value } of stage.options) matrixNames(value, used);
  // Cells that differ only on axes that nothing here refers to have the same configuration, made once.
  const inherits = [...used].some((name) => own === null || !own.keys.includes(name));
  const made = new Map<number, CellResult | null>();
  return cells.cells.map((cell, index) => {
    const key = inherits ? index : (cell.choice.get(stage.name) ?? 0);
    const known = made.get(key);
    if (known !== undefined) return known;
    const result = configure(cell, used, context);
    made.set(key, result);
    return result;
  });
}

function configure(cell: Cell, used: ReadonlySet<string>, context: StageContext): CellResult | null {
  const { stage, kind, parameters } = context;
  const scope = parameters.scope((path) => matrixValue(path, cell, context));
  const before = scope.mistakes.errors;
  const options = stage.options.map((each) => ({ ...each, value: substitute(each.value, scope) }));
  const common = readOptions(options, kind, scope.mistakes);
  const tree = withCell(substitute(stage.with, scope), cell, used, context, scope);
  if (kind === null || tree === null || context.own?.broken === true) return null;
  const { mistakes } = scope;
  const config = validate({ schema: kind.config, kind: kind.kind, root: tree, home: stage.withSpan, mistakes });
  if (config !== null) checkWrites(config, tree, kind, context, scope);
  return config === null || mistakes.errors > before ? null : { config, common };
}

function matrixValue(path: readonly string[], cell: Cell, { stage, axes, unsure }: StageContext): Resolution {
  const [name = "", ...rest] = path;
  // The stage's own matrix is the last axis; what is nearer hides what comes from further up.
  const reached = [...cell.choice].reverse();
  for (const [axis, index] of reached) {
    const value = axes.get(axis)?.cells[index]?.values.get(name)?.value;
    if (value === undefined) continue;
    const node = descend(value, rest);
    if (node === undefined) {
      return {
        type: "missing",
        message: `the matrix value ${code(name)} has no member ${code(rest.join("."))}`,
        suggestion: `it is ${found(value)}`,
      };
    }
    return node.type === "unknown"
      ? { type: "unknown" }
      : { type: "found", node, hidden: node.origin?.hidden === true, typed: false };
  }
  if (unsure) return { type: "unknown" };
  const names = [...new Set(reached.flatMap(([axis]) => axes.get(axis)?.keys ?? []))];
  const near = nearest(name, names);
  const none = `the stage ${code(stage.name)} has no matrix, nor a stage whose cells reach it`;
  const others = names.length === 0 ? none : `there are ${listed(names, "and")}`;
  return {
    type: "missing",
    message: `there is no matrix value ${code(name)} here`,
    suggestion: near === undefined ? others : `did you mean ${code(near)}?`,
  };
}

/** `with` and the values of the stage's own matrix. */
function withCell(
  config: SourceNode,
  cell: Cell,
  used: ReadonlySet<string>,
  context: StageContext,
  scope: Scope,
): MapNode | null {
  const { stage, kind, own } = context;
  if (config.type === "unknown") return null;
  if (config.type !== "map") {
    scope.mistakes.error(
      config.span,
      `${code("with")}: expected a mapping of options, found ${found(config)}`,
      "write `with: { option: value }`",
    );
    return null;
  }
  const values = own?.cells[cell.choice.get(stage.name) ?? 0]?.values ?? new Map<string, Member>();
  const put = [...values.values()].filter(({ key }) => {
    // A key that is only there to be referred to is no option of the kind.
    return kind === null || !used.has(key) || takesKey(kind.config, {}, [], key);
  });
  if (put.length === 0) return config;
  return { ...config, members: [...config.members.filter(({ key }) => !values.has(key)), ...put] };
}

function checkWrites(config: Json, tree: MapNode, kind: StageKindInfo, context: StageContext, { mistakes }: Scope): void {
  const { stage, folder, projectRoot } = context;
  for (const name of kind.writes ?? []) {
    for (const { path, text } of pathsAt(config, name)) {
      if (insideProject(text, folder, projectRoot) !== null) continue;
      const node = descend(tree, path.map(String));
      const shown = node === undefined ? `the path in ${code(name)}` : found(node);
      mistakes.error(
        node?.span ?? stage.withSpan,
        `${code(name)}: what is written must stay inside the project, and ${shown} leads out of it`,
        `choose a path below ${projectRoot}; paths are relative to the pipeline file`,
      );
    }
  }
}
