import { expect, test } from "vitest";
import { fileStem, reportFileName, uniqueLabels } from "./labels.js";

test("file names are safe and named as the original names its reports", () => {
  expect(reportFileName("Acme/Tool", "graphrag-local")).toBe("acme__tool__graphrag-local_eval__{timestamp}.json");
  expect(fileStem("../../etc/passwd")).not.toMatch(/^\.|\//);
  expect(fileStem("a b\u0000c:d")).toBe("a_b_c_d");
  expect(fileStem("")).toBe("unnamed");
  expect(fileStem("x".repeat(500)).length).toBeLessThanOrEqual(100);
});

test("cells that share a label are told apart by their rules, then their stage, then a number", () => {
  const cell = (label: string, rules: string, stage: string) => ({ label, rules, stage });
  expect(uniqueLabels([cell("bm25", "strict", "scores"), cell("random", "strict", "scores")])).toEqual(["bm25", "random"]);
  expect(uniqueLabels([cell("bm25", "strict", "a"), cell("bm25", "lenient", "b")])).toEqual(["bm25-strict", "bm25-lenient"]);
  expect(uniqueLabels([cell("x", "strict", "a"), cell("x", "strict", "b")])).toEqual(["x-strict-a", "x-strict-b"]);
  expect(uniqueLabels([cell("x", "s", "a"), cell("X", "s", "a")])).toEqual(["x-s-a", "X-s-a-2"]);
});
