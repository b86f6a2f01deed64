import { expect, test } from "vitest";
import { scoredCase, scoreMeta, viewScores } from "../../test/rigs/scored-cases.js";
import { canonicalJson } from "../base/json.js";
import { summarise } from "../scoring/summary.js";
import { measuresOf } from "../stages/measures.js";
import { fileStem, reportFileName, summariesInOrder, uniqueLabels } from "./labels.js";

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

test("the order of labels and measures survives storage, which sorts members", () => {
  const cases = [scoredCase("a", viewScores(1, 0, 0, { RR: 1 }))];
  const summary = summarise(cases, scoreMeta(cases), measuresOf(["RR", "P", "F1"]), null);
  const stored = JSON.parse(canonicalJson({ labels: ["z", "a", "gone"], summary: { z: summary, a: summary } }));
  const restored = summariesInOrder(stored);
  expect(Object.keys(restored)).toEqual(["z", "a"]);
  expect(Object.keys(restored.z?.measures ?? {})).toEqual(["RR", "P", "F1"]);
  expect(restored.z).toEqual(summary);
});
