import { describe, expect, test } from "vitest";
import { renderDiagnostic } from "../base/diagnostics.js";
import { canonicalJson } from "../base/json.js";
import { builtInRules, parseRules, rulesDigestParts } from "./rules.js";

const ok = (text: string) => {
  const result = parseRules(text, "my.yaml");
  if (!result.ok) throw new Error(result.error.map(renderDiagnostic).join("\n"));
  return result.value;
};
const mistakes = (text: string) => {
  const result = parseRules(text, "my.yaml");
  return result.ok ? [] : result.error;
};

test("the built-in rule sets are the table of the agreement", () => {
  expect(builtInRules.strict.rungs).toEqual(["path"]);
  expect(builtInRules.lenient.rungs).toEqual(["path", "suffix", "qualified-name", "simple-name", "letter-case"]);
  expect(builtInRules.seed.engine).toBe("seed");
});

test("the digest's parts tell rule sets apart", () => {
  const parts = Object.values(builtInRules).map((rules) => canonicalJson(rulesDigestParts(rules)));
  expect(new Set(parts).size).toBe(3);
});

describe("a person's rules", () => {
  test("rungs in the given order, spelt with dashes or blanks", () => {
    expect(ok("name: mine\nrungs:\n  - path\n  - qualified name\n  - suffix\n").rungs).toEqual([
      "path",
      "qualified-name",
      "suffix",
    ]);
  });

  test("extends", () => {
    expect(ok("name: mine\nextends: lenient\n").rungs).toEqual(builtInRules.lenient.rungs);
    expect(ok("name: mine\nextends: lenient\nrungs: [path]\n").rungs).toEqual(["path"]);
  });

  test("every mistake with its place, all at once", () => {
    const found = mistakes("nmae: mine\nrungs: [path, sufix, path]\n");
    expect(found.map((one) => [one.line, one.column])).toEqual([
      [1, 1],
      [2, 15],
      [2, 22],
      [1, 1],
    ]);
    expect(found.map((one) => one.suggestion)).toEqual(
      expect.arrayContaining(["did you mean `name`?", "did you mean `suffix`?"]),
    );
    expect(found[1]?.sourceLine).toBe("rungs: [path, sufix, path]");
  });

  test.each([
    ["", "mapping"],
    ["- path", "mapping"],
    ["name: mine", "`rungs` is missing"],
    ["rungs: [path]", "`name` is missing"],
    ["name: strict\nrungs: [path]", "built-in"],
    ["name: mine\nrungs: []", "at least one"],
    ["name: mine\nrungs: path", "list"],
    ["name: mine\nextends: seed", "can't be extended"],
    ["name: mine\nextends: lenint", "unknown rule set"],
    ["name: [", "YAML"],
    ["name: a\nname: b\nrungs: [path]", "YAML"],
  ])("%j", (text, message) => {
    expect(mistakes(text).some((one) => one.message.includes(message))).toBe(true);
  });
});
