import { expect, test } from "vitest";
import { answerSchema } from "../answers/schema.js";
import { caseSchema } from "../dataset/schema.js";
import { builtInRules } from "../matching/rules.js";
import { measuresOf } from "../stages/measures.js";
import { scoreCase } from "./score-case.js";
import { corpusFiles } from "./truth.js";

const asked = caseSchema.parse({
  id: "7",
  repository: null,
  number: 7,
  title: "t",
  body: "",
  targets: [{ path: "org/acme/Variant.java", role: "source", partial: true, grade: 2 }],
});

function scored(paths: readonly string[], named: string) {
  const answer = answerSchema.parse({ id: "7", response: JSON.stringify({ files: [named] }) });
  return scoreCase(asked, answer, {
    rules: builtInRules.strict,
    measures: measuresOf(["R"]),
    corpus: corpusFiles({ paths, roots: [] }),
    backend: "x",
  });
}

test("a target without its beginning is the one file that ends with it", () => {
  const found = scored(["bundles/src/org/acme/Variant.java", "org/acme/Other.java"], "bundles/src/org/acme/Variant.java");
  expect(found).toMatchObject({
    targets: ["bundles/src/org/acme/Variant.java"],
    grades: [2],
    absent_targets: [],
    measures: { R: 1 },
  });
});

test("of several such files none is guessed: the target is absent", () => {
  const found = scored(["a/org/acme/Variant.java", "b/org/acme/Variant.java"], "a/org/acme/Variant.java");
  expect(found).toMatchObject({ targets: [], absent_targets: ["org/acme/Variant.java"], scored: false });
});
