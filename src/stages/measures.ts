/** Names of measures as a configuration gives them: checked while the pipeline file is checked, canonical afterwards. */
import * as z from "zod";
import type { Measure } from "../measures/contract.js";
import { parseMeasure } from "../measures/registry.js";

export const DEFAULT_MEASURES = ["P", "R", "F1", "Hit@1", "Hit@5", "R@10", "RR"];

/** A list of names; a name that means nothing, or the same as one before it, is a mistake at its own place in the list. */
export const measureNames = z
  .array(
    z.string().superRefine((name, context) => {
      const parsed = parseMeasure(name);
      if (parsed.ok) return;
      const { message, suggestion } = parsed.error;
      context.addIssue({ code: "custom", message: suggestion === undefined ? message : `${message}; ${suggestion}` });
    }),
  )
  .min(1)
  .superRefine((names, context) => {
    const first = new Map<string, string>();
    for (const [index, name] of names.entries()) {
      const parsed = parseMeasure(name);
      if (!parsed.ok) continue;
      const before = first.get(parsed.value.name);
      if (before === undefined) {
        first.set(parsed.value.name, name);
        continue;
      }
      const message = before === name ? `${name} is there twice` : `${name} is the same measure as ${before}`;
      context.addIssue({ code: "custom", path: [index], message, params: { suggestion: "remove it" } });
    }
  });

/** The measures that checked names stand for, each once. */
export function measuresOf(names: readonly string[]): Measure[] {
  const measures = new Map<string, Measure>();
  for (const name of names) {
    const parsed = parseMeasure(name);
    if (!parsed.ok) throw new Error(parsed.error.message);
    if (!measures.has(parsed.value.name)) measures.set(parsed.value.name, parsed.value);
  }
  return [...measures.values()];
}
