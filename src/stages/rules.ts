/** The rule set that a user named: one of ours by name, else a YAML file. Shared by the `score` stage and `bench score`. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { renderDiagnostic } from "../base/diagnostics.js";
import { nearest } from "../base/nearest.js";
import { err, ok, type Result } from "../base/result.js";
import type { RuleSet } from "../matching/contract.js";
import { builtInRules } from "../matching/rules.js";
import { parseRules } from "../matching/rules-file.js";

const BUILT_IN = new Map<string, RuleSet>(Object.entries(builtInRules));

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
