import * as fc from "fast-check";
import { expect, test } from "vitest";
import { htmlText } from "./comparison-html.js";

test("no text can open a tag, end an attribute or turn the line around", () => {
  expect(htmlText(`<img src="x" onerror='a'>&\u202e\u200b\u001b`)).toBe(
    "&lt;img src=&quot;x&quot; onerror=&#39;a&#39;&gt;&amp;·",
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 80 }), (text) => {
      const shown = htmlText(text);
      expect(shown).not.toMatch(/[<>"'\n]/);
      expect(shown.replace(/&(?:amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
    }),
  );
  expect(Array.from(htmlText("😀".repeat(300), 50))).toHaveLength(50);
});
