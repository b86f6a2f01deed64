import { describe, expect, test } from "vitest";
import { renderDiagnostic } from "../base/diagnostics.js";
import { canonicalJson } from "../base/json.js";
import { builtInRules, rulesDigestParts, rulesFromParts } from "./rules.js";
import { parseRules } from "./rules-file.js";

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

test("they hold everything that decides: the rule set comes back from them", () => {
  const changed = ok(
    "name: x\nextends: lenient\nnormalise: {separators: off}\nextensions: [.c]\npaths: {a/: b/}\ninner_classes: off\nrenames: new\nleave_out: [failed]",
  );
  for (const rules of [...Object.values(builtInRules), changed]) {
    expect(rulesFromParts(JSON.parse(JSON.stringify(rulesDigestParts(rules))))).toEqual(rules);
  }
  expect(rulesFromParts({ name: "x", version: 1 })).toBeNull();
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
      [1, 1],
      [2, 15],
      [2, 22],
    ]);
    expect(found.map((one) => one.suggestion)).toEqual(
      expect.arrayContaining(["did you mean `name`?", "did you mean `suffix`?"]),
    );
    expect(found[2]?.sourceLine).toBe("rungs: [path, sufix, path]");
  });

  test("what is not said is as in `extends`, everything else can be", () => {
    const rules = ok(
      [
        "name: mine",
        "extends: lenient",
        "rungs: { simple-name: off, letter case: no }",
        "normalise: { git-prefixes: off }",
        "extensions: [.java, .KT]",
        'paths: { "a/": "b/", "a/deep/": "c/" }',
        "inner_classes: off",
        "renames: either",
        "leave_out: [skipped, timed out]",
      ].join("\n"),
    );
    expect(rules).toMatchObject({
      name: "mine",
      engine: "ladder",
      rungs: ["path", "suffix", "qualified-name"],
      extensions: [".java", ".kt"],
      paths: [
        { from: "a/deep/", to: "c/" },
        { from: "a/", to: "b/" },
      ],
      innerClasses: false,
      renames: "either",
      leaveOut: ["skipped", "timed_out"],
    });
    expect(rules.normalise.has("git-prefixes")).toBe(false);
    expect(rules.normalise.has("corpus-roots")).toBe(true);
  });

  test("a rung that is switched on stands where trust puts it", () => {
    expect(ok("name: mine\nextends: strict\nrungs: { letter-case: on, suffix: on }").rungs).toEqual([
      "path",
      "suffix",
      "letter-case",
    ]);
  });

  test.each([
    ["", "mapping"],
    ["- path", "mapping"],
    ["name: mine", "`rungs` is missing"],
    ["rungs: [path]", "`name` is missing"],
    ["name: strict\nrungs: [path]", "built-in"],
    ["name: mine\nrungs: []", "at least one"],
    ["name: mine\nrungs: path", "list"],
    ["name: mine\nextends: strict\nrungs: { path: off }", "no rung is left"],
    ["name: mine\nextends: strict\nnormalise: [git-prefixes]", "mapping of normalisations"],
    ["name: mine\nextends: strict\nnormalise: { unicode: off }", "unknown normalisation"],
    ["name: mine\nextends: strict\nnormalise: { git-prefixes: maybe }", "on or off"],
    ["name: mine\nextends: strict\nextensions: [java]", "begins with a dot"],
    ["name: mine\nextends: strict\nextensions: []", "list of file endings"],
    ["name: mine\nextends: strict\npaths: { old/: new }", "not of one kind"],
    ["name: mine\nextends: strict\npaths: { old/: old/ }", "to itself"],
    ["name: mine\nextends: strict\npaths: [old/]", "must map"],
    ["name: mine\nextends: strict\nrenames: both", "old, new or either"],
    ["name: mine\nextends: strict\ninner_classes: folded", "on or off"],
    ["name: mine\nextends: strict\nleave_out: [answered]", "unknown outcome"],
    ["name: mine\nextends: strict\nleave_out: failed", "must be a list"],
    ["name: &a mine\nextends: *a", "unknown rule set"],
    ["name: mine\nextends: seed", "can't be extended"],
    ["name: mine\nextends: lenint", "unknown rule set"],
    ["name: [", "YAML"],
    ["name: a\nname: b\nrungs: [path]", "YAML"],
  ])("%j", (text, message) => {
    expect(mistakes(text).some((one) => one.message.includes(message))).toBe(true);
  });
});
