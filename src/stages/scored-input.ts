/** Scores as the stages after `score` read them: checked, in data-set order, the cases without an answer among them. */
import * as z from "zod";
import type { StageInputs, StageOutput, StageTools } from "../engine/contract.js";
import { uniqueLabels } from "../report/labels.js";
import { type ScoredCase, type ScoreMeta, scoredCaseSchema, scoreMetaSchema } from "../scoring/contract.js";
import { inOrder } from "../scoring/views.js";

export async function loadScores(
  output: StageOutput,
  tools: Pick<StageTools, "load">,
): Promise<{ readonly meta: ScoreMeta; readonly cases: readonly ScoredCase[] }> {
  const meta = scoreMetaSchema.parse(output.meta);
  const items = z.array(scoredCaseSchema).parse(await tools.load(output.items));
  return { meta, cases: inOrder(items, meta) };
}

export interface LabelledScores {
  readonly label: string;
  readonly output: StageOutput;
  readonly meta: ScoreMeta;
  readonly cases: readonly ScoredCase[];
}

/** The cells of a run in the order of the pipeline, each with a label of its own. */
export async function loadCells(inputs: StageInputs, tools: Pick<StageTools, "load">): Promise<LabelledScores[]> {
  const loaded = [];
  for (const { stage, label, output } of inputs.many("scores")) {
    loaded.push({ stage, label, output, ...(await loadScores(output, tools)) });
  }
  const labels = uniqueLabels(
    loaded.map(({ stage, label, meta }) => ({ label: label ?? meta.backend, rules: meta.rules.name, stage })),
  );
  return loaded.map(({ output, meta, cases }, index) => ({ label: labels[index] ?? meta.backend, output, meta, cases }));
}
