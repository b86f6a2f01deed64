import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byCodePoint, decodeTrecId, encodeTrecId, parseQrels, parseTrecRun, trecQrels, trecRun } from "./trec.js";

function value<T>(result: { ok: true; value: T } | { ok: false; error: unknown }): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

describe("ids", () => {
  test("white space and % are encoded, nothing else is", () => {
    expect(encodeTrecId("a b\tc%d")).toBe("a%20b%09c%25d");
    expect(encodeTrecId("owner/repo#12 ~ü/Ünï.java?&=+")).toBe("owner/repo#12%20~ü/Ünï.java?&=+");
    expect(encodeTrecId("a\u00a0b\u3000c\u0085d")).toBe("a%C2%A0b%E3%80%80c%C2%85d");
  });
  test("decoding undoes exactly that", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[ %a-fA-F0-9]{0,12}$/)), (id) => {
        const encoded = encodeTrecId(id);
        expect(encoded).not.toMatch(/\s/u);
        expect(decodeTrecId(encoded)).toBe(id);
      }),
    );
    expect(decodeTrecId("%41 100% %zz %2F %C2")).toBe("%41 100% %zz %2F %C2");
    expect(decodeTrecId("%41%20%41%25%20")).toBe("%41 %41% ");
  });
});

describe("qrels", () => {
  test("are read by query and document; negative grades are kept", () => {
    const qrels = value(parseQrels("q1 0 a 1\r\n\nq1 0 b -1\nq2\t0\tc\t0"));
    expect([...qrels].map(([query, grades]) => [query, [...grades]])).toEqual([
      [
        "q1",
        [
          ["a", 1],
          ["b", -1],
        ],
      ],
      ["q2", [["c", 0]]],
    ]);
  });
  test("mistakes have their line", () => {
    expect(parseQrels("q1 0 a 1\nq1 0 a\nq1 0 a 2\nq1 0 b x")).toEqual({
      ok: false,
      error: [
        { line: 2, what: "it has 3 columns; qrels have 4: query, iteration, document, grade" },
        { line: 3, what: '"a" has the grade 1 for the query "q1" already, and 2 here' },
        { line: 4, what: 'the grade "x" is not a whole number' },
      ],
    });
  });
});

describe("runs", () => {
  test("the score decides, not the rank column; ties go to the later id, as in trec_eval", () => {
    const { rankings, tags } = value(parseTrecRun("q Q0 a 1 1.5 t\nq Q0 b 2 2e1 t\nq Q0 c 3 1.50 t\nq Q0 d 4 -.5 t"));
    expect(rankings.get("q")).toEqual({ documents: ["b", "c", "a", "d"], scores: [20, 1.5, 1.5, -0.5], duplicates: 0, tied: 2 });
    expect(tags).toEqual(["t"]);
  });
  test("a document named twice counts once, by its best line", () => {
    const { rankings } = value(parseTrecRun("q Q0 a 1 1 t\nq Q0 b 2 2 t\nq Q0 a 3 3 t"));
    expect(rankings.get("q")).toEqual({ documents: ["a", "b"], scores: [3, 2], duplicates: 1, tied: 0 });
  });
  test.each(["q Q0 a 1 nan t", "q Q0 a 1 0x10 t", "q Q0 a 1 1", "q Q0 a b 1 1 t", "q Q0 a 1 inf t"])("%j is refused", (line) => {
    expect(parseTrecRun(line).ok).toBe(false);
  });
  test("what is written is read back in the same order, repeats dropped", () => {
    const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 4 }), fc.array(id, { maxLength: 8 }), (queries, documents) => {
        const lists = queries.map((query) => ({ query, documents }));
        const { rankings } = value(parseTrecRun(trecRun(lists, "my tag")));
        const expected = documents.length === 0 ? [] : queries.map((query) => [query, [...new Set(documents)]]);
        const read = [...rankings].map(([query, list]) => [decodeTrecId(query), list.documents.map(decodeTrecId)]);
        expect(read).toEqual(expected);
        expect([...rankings.values()].every(({ duplicates, tied }) => duplicates === 0 && tied === 0)).toBe(true);
      }),
    );
  });
  test("qrels are read back", () => {
    const text = trecQrels([["a b", [["src/x y.java", 2]]]]);
    expect(text).toBe("a%20b 0 src/x%20y.java 2\n");
    expect(value(parseQrels(text)).get("a%20b")?.get("src/x%20y.java")).toBe(2);
  });
});

test("the order of code points is that of UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      expect(Math.sign(byCodePoint(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});
