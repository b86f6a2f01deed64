/** A page made of scored cases by hand, with as many cases as asked, some of them hostile. */

import { parseMeasures } from "../../src/measures/registry.js";
import type { Cell } from "../../src/report/json.js";
import type { ScoredCase, ScoredPrediction } from "../../src/scoring/contract.js";
import { summarise } from "../../src/scoring/summary.js";
import { scoredCase, scoreMeta, viewScores } from "./scored-cases.js";

/** Texts that would run, fetch, end a block or lie if anything but text were made of them. */
export const HOSTILE = [
  "<script>window.pwned = 1</script>",
  "</script><script>window.pwned = 2</script>",
  "<img src=x onerror='window.pwned = 3'>",
  "<!-- <script> <![CDATA[ ]]>",
  "javascript:window.pwned = 4",
  "\u202egnp.exe\u2066 \u0000\u0007 __proto__",
  "{{constructor.constructor('window.pwned = 5')()}} `$" + "{window.pwned = 6}`",
];

const NAMES = ["Hit@5", "RR", "P", "R", "R@10", "P@5"];

function prediction(target: string | null, rank: number): ScoredPrediction {
  const path = target ?? `src/Other${rank}.java`;
  return { id: null, raw: path, path, read_by: "json", rung: "path", target, ambiguous: false };
}

/** Each case has one target; the place at which `shift` lets a backend find it wanders over the cases. */
function caseOf(index: number, backend: string, shift: number, hostile: boolean): ScoredCase {
  const place = (index * 7 + shift * (index % 3)) % 12;
  const target = "src/T0.java";
  const predictions = Array.from({ length: 10 }, (_, rank) => prediction(rank === place ? target : null, rank));
  const found = place < 10;
  const failed = backend === "beta" && index % 10 === 3;
  const text = HOSTILE[index % HOSTILE.length] ?? "";
  const measures = {
    "Hit@5": place < 5 ? 1 : 0,
    RR: found ? 1 / (place + 1) : 0,
    P: found ? 0.1 : 0,
    R: found ? 1 : 0,
    "R@10": found ? 1 : 0,
    "P@5": place < 5 ? 0.2 : 0,
  };
  const none = Object.fromEntries(Object.keys(measures).map((name) => [name, 0]));
  return scoredCase(
    `acme/tool#${index + 1}`,
    {
      ...viewScores(failed || !found ? 0 : 1, failed ? 0 : found ? 9 : 10, failed || !found ? 1 : 0),
      measures: failed ? none : measures,
    },
    {
      backend,
      number: index + 1,
      title: hostile ? `${text} ${index + 1}` : `Title ${index + 1}`,
      url: hostile && index % 2 === 1 ? "javascript:window.pwned = 7" : `https://github.com/acme/tool/issues/${index + 1}`,
      repository: "acme/tool",
      changes: [hostile && index % 3 === 1 ? 'acme/tool#1" onclick="window.pwned = 8' : `acme/tool#${index + 5000}`],
      strata: {
        leak: index % 4 === 0 ? "names-file" : "none",
        [hostile ? "__proto__" : "size"]: index % 2 === 0 ? "small" : "large",
      },
      targets: [target],
      status: failed ? "failed" : "completed",
      outcome: failed ? "failed" : "answered",
      error: failed ? `it broke: ${text}` : null,
      predictions: failed ? [] : predictions.map((one, rank) => (hostile && rank === 1 ? { ...one, raw: text } : one)),
      prompt: hostile ? `${text}\n\nBody` : `Body of ${index + 1}`,
      raw_response: hostile ? `${text} raw` : `Answer ${index + 1}`,
      seconds: 0.25,
    },
  );
}

export function pageCells(count: number, hostile: boolean): Cell[] {
  const parsed = parseMeasures(NAMES);
  if (!parsed.ok) throw new Error("measures");
  return ["alpha", "beta"].map((backend, shift) => {
    const cases = Array.from({ length: count }, (_, index) => caseOf(index, backend, shift, hostile));
    const meta = scoreMeta(cases, { backend, measures: NAMES, warnings: hostile ? [...HOSTILE] : [] });
    return { label: backend, meta, cases, summary: summarise(cases, meta, parsed.value, null) };
  });
}
