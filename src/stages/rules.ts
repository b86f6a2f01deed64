/** The rule set that a user named: one of ours by name, else a YAML file. Shared by the `score` stage and `bench score`. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { renderDiagnostic, visible } from "../base/diagnostics.js";
import { nearest } from "../base/nearest.js";
import { err, ok, type Result } from "../base/result.js";
import type { RuleSet } from "../matching/contract.js";
import { builtInRules } from "../matching/rules.js";
import { parseRules } from "../matching/rules-file.js";

const BUILT_IN = new Map<string, RuleSet>(Object.entries(builtInRules));

/**
 * Rules in a pipeline file: a name of ours, or a file of one's own. What is neither is a slip, and is found before anything runs; whether
 * the file is there and right is seen when the stage begins.
 */
export const rulesName = z
  .string()
  .min(1)
  .superRefine((named, context) => {
    if (BUILT_IN.has(named) || /\.ya?ml$/i.test(named)) return;
    const near = nearest(named, BUILT_IN.keys());
    const all = [...BUILT_IN.keys()].join(", ");
    context.addIssue({
      code: "custom",
      message: `there are no rules ${JSON.stringify(visible(named.slice(0, 60)))}`,
      params: {
        suggestion:
          near === undefined ? `the rule sets are ${all}; a file of your own ends in .yaml or .yml` : `did you mean \`${near}\`?`,
      },
    });
  });

/** Error: what a person must read, over several lines where a YAML file has several mistakes. */
export async function resolveRules(named: string, folder: string): Promise<Result<RuleSet, string>> {
  const builtIn = BUILT_IN.get(named);
  if (builtIn !== undefined) return ok(builtIn);
  let text: string;
  try {
    text = await readFile(resolve(folder, named), "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const near = nearest(named, BUILT_IN.keys());
    const hint =
      near === undefined ? `the rule sets are ${[...BUILT_IN.keys()].join(", ")}, or a YAML file` : `did you mean ${near}?`;
    return err(
      `there are no rules "${named}": it is neither a rule set nor a file that can be read (${code ?? "unreadable"}); ${hint}`,
    );
  }
  const parsed = parseRules(text, named);
  return parsed.ok ? parsed : err(parsed.error.map(renderDiagnostic).join("\n"));
}
