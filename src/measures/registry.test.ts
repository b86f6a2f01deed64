import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureFamilies, parseMeasure, parseMeasures } from "./registry.js";

function nameOf(text: string): string {
  const parsed = parseMeasure(text);
  return parsed.ok ? parsed.value.name : `error: ${parsed.error.message}; ${parsed.error.suggestion}`;
}

test("canonical names parse and print to themselves", () => {
  for (const { whole, at } of measureFamilies) {
    if (whole !== undefined) expect(nameOf(whole.name)).toBe(whole.name);
    if (at !== undefined) for (const k of [1, 5, 10, 999_999_999]) expect(nameOf(at(k).name)).toBe(at(k).name);
  }
});

test.each([
  ["hit@5", "Hit@5"],
  [" Hit@05 ", "Hit@5"],
  ["MRR", "RR"],
  ["mrr@10", "RR@10"],
  ["MAP", "AP"],
  ["ndcg@10", "nDCG@10"],
  ["NDCG", "nDCG"],
  ["precision", "P"],
  ["Recall@5", "R@5"],
  ["success@1", "Hit@1"],
  ["p(MICRO)", "P(micro)"],
  ["micro-F1", "F1(micro)"],
  ["P_5", "P@5"],
  ["set_F_1", "F1"],
  ["ndcg_cut_10", "nDCG@10"],
  ["recip_rank", "RR"],
  ["recall@LINES=0200", "R@lines=200"],
  ["p@tokens=4000", "P@tokens=4000"],
])("%j is %s", (text, name) => {
  expect(nameOf(text)).toBe(name);
});

test.each([
  ["Hit", /needs a cut-off.*Hit@5/],
  ["Hit@0", /whole number from 1.*Hit@5/],
  ["Hit@-1", /whole number/],
  ["Hit@2.5", /whole number/],
  ["Hit@", /whole number/],
  ["Hit@1e3", /whole number/],
  ["Hit@lines=200", /can't be cut at lines or tokens.*P and R can/],
  ["R@lines=0", /budget.*whole number from 1.*R@lines=200/],
  ["R@tokens", /budget.*whole number/],
  ["R(level=function)@lines=20", /takes no parameters/],
  ["P@9999999999", /whole number/],
  ["F1@5", /has no cut-off.*write F1/],
  ["Rprec@5", /has no cut-off/],
  ["Hti@5", /no measure.*did you mean Hit@5\?/],
  ["precison", /did you mean P\?/],
  ["acc@3", /several measures.*Hit@3.*All@3/],
  ["wombat", /no measure "wombat".*known are P, P@k/],
  ["", /missing/],
  ["constructor", /no measure/],
  ["__proto__@5", /no measure/],
  ["\u001b[31mP@@5", /no measure/],
])("%j is refused with advice", (text, message) => {
  expect(nameOf(text)).toMatch(message);
});

test("any text gives a measure of canonical name or an error of bounded length", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ minLength: 1000, maxLength: 3000 })), (text) => {
      const parsed = parseMeasure(text);
      if (parsed.ok) expect(nameOf(parsed.value.name)).toBe(parsed.value.name);
      else expect(parsed.error.message.length).toBeLessThan(500);
    }),
  );
});

describe("lists", () => {
  test("come as one text with commas or as several, in order, each measure once", () => {
    const names = (input: string | string[]) => {
      const parsed = parseMeasures(input);
      return parsed.ok ? parsed.value.map(({ name }) => name) : parsed.error.map(({ message }) => message);
    };
    expect(names("P, R,F1,hit@5,MRR,RR")).toEqual(["P", "R", "F1", "Hit@5", "RR"]);
    expect(names(["P", "R,P"])).toEqual(["P", "R"]);
    expect(names([])).toEqual([]);
  });
  test("report every wrong name at once", () => {
    const parsed = parseMeasures("P,Hit,wombat");
    expect(parsed.ok ? [] : parsed.error).toHaveLength(2);
  });
});

test("every family is documented", () => {
  for (const { name, usage, example } of measureFamilies) {
    expect(usage).toContain(name);
    for (const text of [example.definition, example.edgeCases, example.citation]) expect(text.length).toBeGreaterThan(15);
  }
  const words = measureFamilies.flatMap(({ name, aliases }) => [name.toLowerCase(), ...aliases]);
  expect(new Set(words).size).toBe(words.length);
  expect(words.every((word) => word === word.toLowerCase())).toBe(true);
});
