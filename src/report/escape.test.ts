import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fenced, markdownTable, markdownText } from "./escape.js";

test("what strangers wrote stays text", () => {
  expect(markdownText("a | b")).toBe("a \\| b");
  expect(markdownText("<img src=x onerror=alert(1)>")).toBe("&lt;img src=x onerror=alert(1)&gt;");
  expect(markdownText("`code` **bold** [l](http://x)")).toBe("\\`code\\` \\*\\*bold\\*\\* \\[l\\](http&#58;//x)");
  expect(markdownText("two\nlines\ttab")).toBe("two lines tab");
  expect(markdownText("# heading")).toBe("\\# heading");
  expect(markdownText("1. list")).toBe("1\\. list");
  expect(markdownText("- list")).toBe("\\- list");
  expect(markdownText("tool@1.0.0 owner/repo#12 Hit@5")).toBe("tool@1.0.0 owner/repo#12 Hit@5");
  expect(markdownText("@someone www.example.org")).toBe("&#64;someone www&#46;example.org");
  expect(markdownText("a\u202eb\u200bc")).toBe("abc");
  expect(markdownText("\u001b[31mred")).not.toContain("\u001b");
});

test("long text is cut", () => {
  expect(Array.from(markdownText("😀".repeat(300), 50))).toHaveLength(50);
});

test("no text can add a cell, a line or a tag", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const row = markdownTable(["x"], [[markdownText(text)]]).split("\n");
      expect(row).toHaveLength(3);
      expect((row[2] ?? "").replace(/\\[\s\S]/g, "").split("|")).toHaveLength(3);
      expect(row[2]).not.toMatch(/[<>]/);
    }),
  );
});

test("a fence is longer than any run of backticks in it", () => {
  expect(fenced("```\nx", "json")).toBe("````json\n```\nx\n````");
});
