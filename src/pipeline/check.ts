/**
 * A pipeline file's text -> checked graph, or all its mistakes at once.
 *
 * Every step reports to one collector and hands on what is still usable, marked unknown where it is not, so that later steps say
 * nothing about what an earlier one has refused.
 */
import type { Diagnostic } from "../base/diagnostics.js";
import { nearest } from "../base/nearest.js";
import { err, ok, type Result } from "../base/result.js";
import { cellsOf, neededCells, type StageCells, singleCell } from "./cells.js";
import { isModulePath } from "./extensions.js";
import { type Axis, MAX_CELLS, readAxis } from "./matrix.js";
import { Mistakes, SourceText } from "./mistakes.js";
import type { PipelineGraph, StageKindInfo, StageNode } from "./model.js";
import { type ResolvedNeeds, resolveNeeds } from "./needs.js";
import { configureCells } from "./nodes.js";
import { Parameters } from "./params.js";
import { substitute } from "./references.js";
import { type RawStage, readStage, recogniseKeys } from "./stage.js";
import { type Member, placeOf } from "./tree.js";
import { code, found, listed } from "./words.js";
import { readYaml } from "./yaml.js";

export interface PipelineInput {
  readonly text: string;
  /** Path as the person gave it: shown in diagnostics. */
  readonly file: string;
  /** Absolute folder of the file, `/` separated. */
  readonly folder: string;
  /** Absolute, `/` separated: what stages write must stay inside. */
  readonly projectRoot: string;
  /** By what stands after `uses:`; user modules under their path as written. */
  readonly kinds: ReadonlyMap<string, StageKindInfo>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `name=value` as typed after `--set`. */
  readonly set: readonly string[];
}

export interface CheckedPipeline extends PipelineGraph {
  readonly warnings: readonly Diagnostic[];
}

const TOP_KEYS = ["name", "params", "stages"];
const MAX_STAGES = 500;
const MAX_NODES = 5000;

/**
 * Never throws for what a file, an environment or a command line holds. On failure every diagnostic has line and column (in the
 * file, or in the text after `--set`) and they are in the order of the file; warnings stand among them.
 */
export function checkPipeline(input: PipelineInput): Result<CheckedPipeline, Diagnostic[]> {
  const mistakes = new Mistakes(new SourceText(input.file, input.text.startsWith("\ufeff") ? input.text.slice(1) : input.text));
  const root = readYaml(mistakes);
  if (root === null) return err(mistakes.sorted());
  if (root.type !== "map") {
    if (root.type !== "unknown")
      mistakes.error(root.span, `a pipeline file is a mapping, found ${found(root)}`, "start with `stages:`");
    return err(mistakes.sorted());
  }
  const top = recogniseKeys(root, TOP_KEYS, ({ key, keySpan }, near) => {
    const suggestion = near === undefined ? `a pipeline file has ${listed(TOP_KEYS, "and")}` : `did you mean ${code(near)}?`;
    mistakes.error(keySpan, `unknown key ${code(key)} in the pipeline file`, suggestion);
  });
  const parameters = new Parameters(top.get("params")?.value, input.set, input.env, mistakes);
  const name = readName(top.get("name"), input.file, parameters, mistakes);
  const stages = top.get("stages");
  if (stages === undefined) {
    mistakes.error({ start: root.span.start, end: root.span.start + 1 }, "the pipeline has no `stages`", "add `stages:`");
  }
  const nodes = stages === undefined ? [] : readStages(stages, input, parameters, mistakes);
  const params = parameters.finish();
  const diagnostics = withoutSecrets(mistakes.sorted(), parameters.secrets);
  if (mistakes.errors > 0) return err(diagnostics);
  const { secrets } = parameters;
  return ok({ name, file: input.file, folder: input.folder, params, nodes, secrets, warnings: diagnostics });
}

/** `pipelines/json-java.yaml` -> `json-java`. */
function stemOf(file: string): string {
  const base = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
  return base.replace(/\.ya?ml$/i, "") || "pipeline";
}

function readName(written: Member | undefined, file: string, parameters: Parameters, mistakes: Mistakes): string {
  if (written === undefined) return stemOf(file);
  const scope = parameters.scope(() => ({ type: "missing", message: "`matrix` has no values here" }));
  const value = substitute(written.value, scope);
  if (value.type === "unknown") return stemOf(file);
  const text = value.type === "scalar" && value.value !== null ? value.text.trim() : "";
  if (value.origin?.hidden !== true && text.length > 0 && text.length <= 100 && !/[\n\r]/.test(text)) return text;
  const span = placeOf({ keySpan: written.keySpan, value });
  mistakes.error(span, `${code("name")}: expected a text of one line and at most 100 characters, found ${found(value)}`);
  return stemOf(file);
}

function readStages({ value, keySpan }: Member, input: PipelineInput, parameters: Parameters, mistakes: Mistakes): StageNode[] {
  if (value.type === "unknown") return [];
  if (value.type !== "map" || value.members.length === 0) {
    const what = value.type === "map" ? "an empty mapping" : found(value);
    mistakes.error(
      keySpan,
      `${code("stages")}: expected a mapping of stages, found ${what}`,
      "write `stages: { name: { uses: KIND } }`",
    );
    return [];
  }
  if (value.members.length > MAX_STAGES) {
    mistakes.error(
      keySpan,
      `the pipeline has ${value.members.length} stages; at most ${MAX_STAGES} are allowed`,
      "use a matrix, or several pipelines",
    );
    return [];
  }
  const stages = new Map<string, RawStage>();
  for (const each of value.members) {
    const stage = readStage(each, mistakes);
    if (stage !== null) stages.set(stage.name, stage);
  }
  checkLetterCase(value.members, mistakes);
  for (const stage of stages.values()) checkKind(stage, input.kinds, mistakes);
  const names = new Set(value.members.map(({ key }) => key));
  const needs = resolveNeeds(stages, names, input.kinds, mistakes);
  return makeNodes(stages, needs, input, parameters, mistakes);
}

function checkLetterCase(members: readonly Member[], mistakes: Mistakes): void {
  const seen = new Map<string, string>();
  for (const { key, keySpan } of members) {
    const other = seen.get(key.toLowerCase());
    if (other === undefined) seen.set(key.toLowerCase(), key);
    else
      mistakes.error(
        keySpan,
        `the stages ${code(other)} and ${code(key)} differ only in letter case`,
        "rename one: their files would collide on some systems",
      );
  }
}

function checkKind({ uses }: RawStage, kinds: ReadonlyMap<string, StageKindInfo>, mistakes: Mistakes): void {
  if (uses === null || kinds.has(uses.kind)) return;
  if (isModulePath(uses.kind)) {
    mistakes.error(
      uses.span,
      `the module ${code(uses.kind)} gives no stage kind`,
      "check that the file exists (relative to the pipeline file) and exports a stage kind",
    );
    return;
  }
  const near = nearest(uses.kind, kinds.keys());
  const names = `there are ${listed([...kinds.keys()], "and", 30)}`;
  mistakes.error(
    uses.span,
    `there is no stage kind ${code(uses.kind)}`,
    near === undefined ? names : `did you mean ${code(near)}?`,
  );
}

function makeNodes(
  stages: ReadonlyMap<string, RawStage>,
  { needs, order, unsure }: ResolvedNeeds,
  input: PipelineInput,
  parameters: Parameters,
  mistakes: Mistakes,
): StageNode[] {
  const axes = new Map<string, Axis>();
  const done = new Map<string, StageCells>();
  const nodes: StageNode[] = [];
  let complete = true;
  const matrixScope = parameters.scope(() => ({
    type: "missing",
    message: "a matrix can't refer to matrix values",
    suggestion: "write the value out, or refer to it in `with`",
  }));
  for (const name of order) {
    const stage = stages.get(name);
    if (stage === undefined) continue;
    const kind = (stage.uses === null ? undefined : input.kinds.get(stage.uses.kind)) ?? null;
    const own = readAxis(stage, matrixScope, kind?.config ?? null);
    if (own !== null) axes.set(name, own);
    const wanted = needs.get(name) ?? [];
    const made = cellsOf(wanted, own, done, axes);
    const cells = made ?? singleCell();
    done.set(name, cells);
    if (made === null || nodes.length + cells.cells.length > MAX_NODES) {
      const limit = made === null ? `at most ${MAX_CELLS} cells are allowed` : `a pipeline has at most ${MAX_NODES} nodes`;
      mistakes.error(
        stage.needsSpan,
        `the matrices that reach the stage ${code(name)} multiply to too many cells: ${limit}`,
        "use smaller matrices, or several pipelines",
      );
      continue;
    }
    const { folder, projectRoot } = input;
    const results = configureCells({ stage, kind, cells, own, axes, unsure: unsure.has(name), parameters, folder, projectRoot });
    for (const [index, cell] of cells.cells.entries()) {
      const result = results[index] ?? null;
      if (result === null || kind === null) {
        complete = false;
        continue;
      }
      nodes.push({
        id: nodeId(name, cell.label),
        stage: name,
        label: cell.label,
        kind: kind.kind,
        config: result.config,
        needs: wanted.flatMap(({ stage: other, mode }) => {
          const upstream = done.get(other);
          if (upstream === undefined) return [];
          return neededCells(cell, mode, upstream).map((at) => nodeId(other, upstream.cells[at]?.label ?? null));
        }),
        common: result.common,
        line: mistakes.source.position(stage.nameSpan.start).line,
      });
    }
  }
  // A node must never be left out without a word: a smaller benchmark would run, and look like the whole one.
  if (!complete && mistakes.errors === 0) throw new Error("a stage has no configuration, and no mistake was reported");
  return nodes;
}

function nodeId(stage: string, label: string | null): string {
  return label === null ? stage : `${stage}[${label}]`;
}

/** A schema's own message may quote a value: no diagnostic shows one that came from a secret-looking variable. */
function withoutSecrets(diagnostics: Diagnostic[], secrets: ReadonlyMap<string, string>): Diagnostic[] {
  const hide = (text: string): string => {
    let shown = text;
    for (const [value, name] of secrets) if (value.length >= 4) shown = shown.replaceAll(value, () => `\${env.${name}}`);
    return shown;
  };
  return diagnostics.map(({ suggestion, ...rest }) => ({
    ...rest,
    message: hide(rest.message),
    ...(suggestion === undefined ? {} : { suggestion: hide(suggestion) }),
  }));
}
