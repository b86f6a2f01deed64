import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderDiagnostic } from "../base/diagnostics.js";
import { NORMALISATIONS } from "./contract.js";
import { LADDER } from "./rules.js";
import { OUTCOMES_LEFT_OUT, parseRules } from "./rules-file.js";

const page = readFileSync(join(import.meta.dirname, "../../docs/rules.md"), "utf8");
const examples = [...page.matchAll(/```yaml\n([^`]+)```/g)].map((match) => match[1] ?? "");

test("the page of rules has examples", () => {
  expect(examples.length).toBeGreaterThan(6);
});

test.each(examples)("an example is a rule set: %s", (text) => {
  const parsed = parseRules(text, "docs/rules.md");
  expect(parsed.ok ? [] : parsed.error.map(renderDiagnostic)).toEqual([]);
});

test("names every rung, normalisation and outcome", () => {
  for (const name of [...LADDER, ...NORMALISATIONS, ...OUTCOMES_LEFT_OUT]) expect(page).toContain(`\`${name}\``);
});
