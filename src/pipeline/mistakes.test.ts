import { describe, expect, test } from "vitest";
import { Mistakes, SourceText } from "./mistakes.js";

describe("places", () => {
  test("lines end at LF or CRLF; an offset beyond the end is the end", () => {
    const source = new SourceText("f", "ab\r\ncd\n");
    expect(source.line(1)).toBe("ab");
    expect(source.position(4)).toEqual({ line: 2, column: 1 });
    expect(source.position(99)).toEqual({ line: 3, column: 1 });
    expect(source.line(3)).toBe("");
  });

  test("the same mistake at the same place is kept once", () => {
    const mistakes = new Mistakes(new SourceText("f", "abc"));
    mistakes.error({ start: 1, end: 2 }, "wrong");
    mistakes.error({ start: 1, end: 2 }, "wrong");
    mistakes.warning({ start: 0, end: 9 }, "odd");
    expect(mistakes.errors).toBe(1);
    expect(mistakes.sorted().map(({ message, length }) => [message, length])).toEqual([
      ["odd", 3],
      ["wrong", 1],
    ]);
  });
});
