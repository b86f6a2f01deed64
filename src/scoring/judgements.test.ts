import { describe, expect, test } from "vitest";
import { answerSchema } from "../answers/schema.js";
import { type Case, caseSchema } from "../dataset/schema.js";
import { builtInRules } from "../matching/rules.js";
import { measuresOf } from "../stages/measures.js";
import { type Judgements, parseJudgements } from "./judgements.js";
import { poolOf } from "./pool.js";
import { scoreCase } from "./score-case.js";
import { corpusFiles } from "./truth.js";

const entries = (judgements: Judgements) => [...judgements].map(([id, grades]) => [id, [...grades]]);

describe("judgements files", () => {
  const expected = [
    [
      "o/r#1",
      [
        ["a b.java", 1],
        ["c.java", 0],
        ["d.java", -1],
      ],
    ],
  ];
  test.each([
    [
      "JSON Lines",
      '{"id":"o/r#1","path":"a b.java","grade":1}\n\n{"id":"o/r#1","path":"c.java","grade":0}\n{"id":"o/r#1","path":"d.java","grade":null}\n',
    ],
    ["CSV", 'grade,path,id,title\r\n1,a b.java,o/r#1,"x, y"\r\n0,c.java,o/r#1,\r\n,d.java,o/r#1,\r\n'],
    ["TREC qrels", "o/r#1 0 a%20b.java 1\no/r#1 0 c.java 0\no/r#1 0 d.java -1\n"],
  ])("%s", (_, text) => {
    const read = parseJudgements(text);
    expect(read.ok ? entries(read.value) : read.error).toEqual(expected);
  });
  test("an open one is filled in, two opinions are a mistake, and mistakes have their line", () => {
    const line = (grade: unknown) => JSON.stringify({ id: "x", path: "a", grade });
    const filled = parseJudgements(`${line(-1)}\n${line(2)}\n${line(null)}`);
    expect(filled.ok ? entries(filled.value) : []).toEqual([["x", [["a", 2]]]]);
    const wrong = parseJudgements(`${line(1)}\n${line(0)}\n${line("yes")}\n{"id":"x"}\nnonsense {`);
    expect(wrong.ok ? [] : wrong.error.map((what) => what.slice(0, 7))).toEqual(["line 2:", "line 3:", "line 4:", "line 5:"]);
  });
});

const asked: Case = caseSchema.parse({
  id: "o/r#1",
  repository: "o/r",
  number: 1,
  title: "t",
  body: "",
  targets: [{ path: "A.java", role: "source" }],
});
const corpus = corpusFiles({ paths: ["A.java", "B.java", "C.java", "D.java"], roots: [] });

function scored(files: readonly string[], judgements?: Judgements) {
  const answer = answerSchema.parse({ id: asked.id, response: JSON.stringify({ files }) });
  const measures = measuresOf(["P", "R", "Bpref", "Judged@2", "nDCG"]);
  return scoreCase(asked, answer, {
    rules: builtInRules.strict,
    measures,
    corpus,
    backend: "x",
    ...(judgements && { judgements }),
  });
}

test("what people judged right is truth, what they judged wrong counts for Bpref", () => {
  const judgements = new Map([
    [
      "o/r#1",
      new Map([
        ["B.java", 2],
        ["C.java", 0],
        ["Gone.java", 1],
      ]),
    ],
  ]);
  const found = scored(["C.java", "B.java", "D.java"], judgements);
  expect(found).toMatchObject({ targets: ["A.java", "B.java"], grades: [1, 2], absent_targets: ["Gone.java"] });
  expect(found.measures).toMatchObject({ R: 0.5, Bpref: 0, "Judged@2": 1 });
  expect(scored(["B.java", "C.java"], judgements).measures.Bpref).toBe(0.5);
  expect(scored(["C.java", "B.java"]).measures).toMatchObject({ R: 0, Bpref: 0, "Judged@2": 0 });
});

test("the pool holds what nobody judged, most found first", () => {
  const runs = [
    { label: "x", cases: [scored(["A.java", "B.java", "C.java"])] },
    { label: "y", cases: [scored(["C.java", "D.java", "B.java"])] },
  ];
  const judgements = new Map([
    [
      "o/r#1",
      new Map([
        ["D.java", 0],
        ["B.java", -1],
      ]),
    ],
  ]);
  expect(poolOf(runs, 3, judgements)).toEqual([
    { id: "o/r#1", path: "C.java", grade: null, title: "t", found_by: { x: 3, y: 1 } },
    { id: "o/r#1", path: "B.java", grade: null, title: "t", found_by: { x: 2, y: 3 } },
  ]);
  expect(poolOf(runs, 1, judgements).map(({ path }) => path)).toEqual(["C.java"]);
});
