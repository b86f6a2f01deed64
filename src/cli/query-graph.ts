/**
 * The pipeline that `bench query` runs, made in memory: a data set, a source tree where one is given, and one backend's answers, with the
 * configuration that a pipeline file would give them and hence the same keys. An answer that a pipeline has paid for is not asked for again.
 */
import type * as z from "zod";
import { err, ok, type Result } from "../base/result.js";
import type { StageKind } from "../engine/contract.js";
import type { PipelineGraph, StageNode } from "../pipeline/model.js";
import { DEFAULT_OPTIONS } from "../pipeline/options.js";

export const DATASET = "dataset";
export const SOURCES = "sources";
export const ANSWERS = "answers";

export interface QuerySettings {
  /** Absolute path of the data set. */
  readonly dataset: string;
  readonly backend: Readonly<Record<string, unknown>>;
  /** Absolute path of the folder to search; null = no source tree. */
  readonly corpus: string | null;
  readonly repeats: number;
}

/** `folder`: what relative paths in the backend's options are relative to. The error names what is wrong with an option. */
export function queryGraph(
  { dataset, backend, corpus, repeats }: QuerySettings,
  kinds: ReadonlyMap<string, StageKind>,
  folder: string,
): Result<PipelineGraph, string> {
  const stages: (readonly [name: string, kind: string, needs: readonly string[], config: object])[] = [
    [DATASET, "import-dataset", [], { path: dataset }],
  ];
  if (corpus !== null) stages.push([SOURCES, "checkout", [], { folder: corpus }]);
  stages.push([ANSWERS, "query-backend", stages.map(([name]) => name), { backend, repeats }]);
  const nodes: StageNode[] = [];
  for (const [name, kind, needs, config] of stages) {
    const checked = kinds.get(kind)?.config.safeParse(config);
    if (checked === undefined) throw new Error(`there is no stage kind ${kind}`);
    if (!checked.success) return err(mistakes(checked.error));
    const value = checked.data as StageNode["config"];
    nodes.push({ id: name, stage: name, label: null, kind, config: value, needs, common: DEFAULT_OPTIONS, line: 1 });
  }
  return ok({ name: "query", file: "bench query", folder, params: {}, nodes, secrets: new Map() });
}

function mistakes({ issues }: z.ZodError): string {
  return issues
    .map(({ path, message }) => {
      const [first, ...rest] = path;
      const where = first === "backend" ? rest.join(".") : path.join(".");
      return where === "" ? message : `--opt ${where}: ${message}`;
    })
    .join("; ");
}
