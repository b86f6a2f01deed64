/** Scores as the stages after `score` read them: checked, in data-set order, the cases without an answer among them. */
import * as z from "zod";
import type { StageOutput, StageTools } from "../engine/contract.js";
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
