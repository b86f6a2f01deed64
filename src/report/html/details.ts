/**
 * What is shown of a single case, in blocks. Answers and prompts may be of any length: the longest texts are cut, to a length at which all of
 * them together stay within a bound, and every cut is told beside the text. The run's JSON reports have them whole.
 */
import type { ScoredCase } from "../../scoring/contract.js";
import type { CaseDetail, PageAnswer } from "./page-data.js";

/** Characters kept of one text, tried in this order until all texts together are within the bound. */
const LIMITS = [20_000, 8_000, 3_000, 1_000, 300];
const ALL_TEXTS = 64_000_000;
/** A ranking is looked at from its head; targets that are found further down are counted all the same. */
const MOST_PREDICTIONS = 100;

export interface CutTexts {
  readonly limit: number;
  readonly texts: number;
}

type Cases = ReadonlyMap<string, readonly ScoredCase[]>;

export function blocksOf(
  ids: readonly string[],
  byId: readonly Cases[],
  size: number,
): { readonly blocks: readonly (readonly CaseDetail[])[]; readonly cut: CutTexts } {
  const limit = limitFor(ids, byId);
  let texts = 0;
  const cut = (text: string): { text: string; length: number } => {
    if (text.length <= limit) return { text, length: text.length };
    texts += 1;
    // Half a surrogate pair is no character.
    const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit;
    return { text: text.slice(0, end), length: text.length };
  };
  const blocks: CaseDetail[][] = [];
  for (const [index, id] of ids.entries()) {
    if (index % size === 0) blocks.push([]);
    blocks.at(-1)?.push(detailOf(id, byId, cut));
  }
  return { blocks, cut: { limit, texts } };
}

function limitFor(ids: readonly string[], byId: readonly Cases[]): number {
  const lengths: number[] = [];
  for (const id of ids) {
    const prompts = new Set<string>();
    for (const cases of byId) {
      for (const { raw_response, prompt } of cases.get(id) ?? []) {
        lengths.push(raw_response.length);
        if (prompt !== null) prompts.add(prompt);
      }
    }
    for (const prompt of prompts) lengths.push(prompt.length);
  }
  const total = (limit: number) => lengths.reduce((sum, length) => sum + Math.min(length, limit), 0);
  return LIMITS.find((limit) => total(limit) <= ALL_TEXTS) ?? (LIMITS.at(-1) as number);
}

function detailOf(id: string, byId: readonly Cases[], cut: (text: string) => { text: string; length: number }): CaseDetail {
  const first = byId.map((cases) => cases.get(id)?.[0]).find((one) => one !== undefined);
  // Backends that were asked the same share one copy.
  const prompts: string[] = [];
  const promptAt = (prompt: string | null): number | null => {
    if (prompt === null) return null;
    const known = prompts.indexOf(prompt);
    return known === -1 ? prompts.push(prompt) - 1 : known;
  };
  const cells = byId.map((cases) =>
    (cases.get(id) ?? []).map((one): PageAnswer => {
      const { text, length } = cut(one.raw_response);
      return {
        repeat: one.repeat,
        status: one.status,
        outcome: one.outcome,
        why: one.why,
        error: one.error,
        finish: one.finish_reason,
        excluded: one.excluded,
        seconds: one.seconds,
        usage: one.usage,
        predictions: one.predictions
          .slice(0, MOST_PREDICTIONS)
          .map(({ raw, path, read_by, rung, target, ambiguous }) => [
            raw.slice(0, 500),
            path,
            read_by,
            rung,
            target,
            ambiguous ? 1 : 0,
          ]),
        predicted: one.predictions.length,
        draws: one.draws?.count ?? null,
        text,
        length,
        prompt: promptAt(one.prompt),
      };
    }),
  );
  return {
    targets: first?.targets ?? [],
    grades: first?.grades ?? null,
    absent: first?.absent_targets ?? [],
    repository: first?.repository ?? null,
    changes: first?.changes ?? [],
    prompts: prompts.map(cut),
    cells,
  };
}
