import fc from "fast-check";
import { expect, test } from "vitest";
import { bestLines } from "./best-lines.js";

const weights = new Map([
  ["door", 2],
  ["roof", 1],
]);

test("the stretch with the rarest words wins, cut to the lines that have any", () => {
  const text = ["roof", "x", "x", "x", "x", "x", "x", "door", "x", "roof", "x"].join("\n");
  expect(bestLines(text, weights, 4)).toEqual([8, 10]);
  expect(bestLines("x\nroof", weights, 4)).toEqual([2, 2]);
});

test("repeating one word is worth less than another word", () => {
  const text = [...new Array(4).fill("roof roof roof roof"), "", "", "door roof", ""].join("\n");
  expect(bestLines(text, weights, 2)).toEqual([7, 7]);
});

test("stretches of one line see the last line, too", () => {
  expect(bestLines("x\ndoor", weights, 1)).toEqual([2, 2]);
  expect(bestLines("roof\nx\ndoor", weights, 1)).toEqual([3, 3]);
});

test("no line has a word: no lines", () => {
  expect(bestLines("nothing\nhere", weights, 4)).toBeNull();
  expect(bestLines("", weights, 4)).toBeNull();
});

test("lines are within the text and no more than asked for, and begin and end with a word of the question", () => {
  const line = fc.constantFrom("door", "roof", "x", "", "roof door");
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (lines, size) => {
      const found = bestLines(lines.join("\n"), weights, size);
      if (found === null) return lines.every((one) => one === "x" || one === "");
      const [from, to] = found;
      const words = (number: number) => /door|roof/.test(lines[number - 1] ?? "");
      return from >= 1 && to <= lines.length && from <= to && to - from < size && words(from) && words(to);
    }),
  );
});
