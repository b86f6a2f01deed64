/** Which index a case's question goes to, from what index-corpus stages gave: as `case-trees.ts` does for source trees. */
import { type Index, indexFolder, indexSchema } from "../backends/index-folder.js";
import type { BuiltIndex } from "../backends/index-tool.js";
import type { Digest } from "../base/json.js";
import type { Case } from "../dataset/schema.js";
import { type LabelledOutput, StageProblem, type StageTools } from "../engine/contract.js";

export interface CaseIndex {
  readonly digest: Digest;
  readonly open: () => BuiltIndex;
}

export interface CaseIndexes {
  /** undefined: no index is for this case. */
  forCase(item: Pick<Case, "base_commit">): CaseIndex | undefined;
}

/**
 * The indexes of one tool among those stages; undefined if none of them is of that tool. `wanted`: the stage's name or label, where there is
 * more than one. Throws `StageProblem` where it stays open which one is meant.
 */
export async function caseIndexes(
  tool: string,
  stages: readonly LabelledOutput[],
  wanted: string | undefined,
  tools: StageTools,
): Promise<CaseIndexes | undefined> {
  const found: { readonly name: string; readonly names: readonly (string | null)[]; readonly indexes: readonly Index[] }[] = [];
  for (const { stage, label, output } of stages) {
    // `all`: selecting cases with --items must not hide indexes.
    const indexes = (await tools.load(output.all)).map((value) => indexSchema.parse(value));
    if (!indexes.some((index) => index.tool === tool)) continue;
    found.push({ name: label ?? stage, names: [stage, label, `${stage}[${label}]`], indexes });
  }
  const meant = wanted === undefined ? found : found.filter(({ names }) => names.includes(wanted));
  const choice = found.map(({ name }) => name).join(", ");
  if (meant.length > 1) {
    throw new StageProblem(`there is more than one ${tool} index (${choice}): say with \`index:\` which one is meant`);
  }
  const [only] = meant;
  if (only === undefined) {
    if (wanted === undefined || found.length === 0) return undefined;
    throw new StageProblem(`\`index: ${wanted}\` is none of the ${tool} indexes that the stage needs: ${choice}`);
  }
  const byId = new Map(only.indexes.map((index) => [index.id, caseIndex(index, tools)]));
  const forAll = byId.get("all");
  return { forCase: ({ base_commit }) => forAll ?? (base_commit === null ? undefined : byId.get(base_commit)) };
}

function caseIndex(index: Index, tools: StageTools): CaseIndex {
  // Compared with its digests once per run, however many questions share it.
  let folder: Promise<string> | undefined;
  const built: BuiltIndex = {
    digest: index.digest,
    facts: index.facts as BuiltIndex["facts"],
    folder: () => {
      folder ??= indexFolder(index, tools).catch((error: unknown) => {
        folder = undefined;
        throw error;
      });
      return folder;
    },
  };
  return { digest: index.digest, open: () => built };
}
