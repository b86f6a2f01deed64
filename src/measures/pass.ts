/**
 * pass@k: would at least one of k answers to the same case be right? Estimated without bias from the n answers that there are. The
 * value of a single answer is whether it is right; what several make of it is `ofRepeats`.
 */
import type { Measure } from "./contract.js";
import { hitsWithin } from "./judgement.js";
import { measureName } from "./names.js";

/** `by`: a measure of 0 and 1 that says what "right" is; without it an answer is right that names every target. */
export function passAt(k: number, by?: Measure): Measure {
  const right = by === undefined ? "it names every target" : `${by.name} is 1`;
  return {
    name: measureName("pass", by === undefined ? {} : { by: by.name }, k),
    definition: `1 - C(n - c, ${k}) / C(n, ${k}) for a case with n answers, c of them right; an answer is right if ${right}.`,
    edgeCases: `Fewer than ${k} answers: undefined. ${k === 1 ? "Equals the share of right answers." : `1 - (1 - c/n)^${k}, which is sometimes used, is too small.`}`,
    citation: "Chen et al., Evaluating Large Language Models Trained on Code, 2021",
    binary: true,
    ofCase: (judgement) => {
      if (by !== undefined) return by.ofCase(judgement);
      const r = judgement.targets.length;
      return r === 0 ? null : hitsWithin(judgement) === r ? 1 : 0;
    },
    ofRepeats: (values) => {
      const n = values.length;
      if (n < k) return null;
      const wrong = n - values.filter((value) => value === 1).length;
      // C(wrong, k) / C(n, k) as a product, which no factorial overflows.
      let noneRight = 1;
      for (let drawn = 0; drawn < k && noneRight > 0; drawn++) noneRight *= Math.max(0, wrong - drawn) / (n - drawn);
      return 1 - noneRight;
    },
  };
}
