/** Hostile and huge answers: nothing throws, and twice the text is about twice the work. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { processorSeconds } from "../../test/rigs/processor-time.js";
import { scanJson } from "./json-scan.js";
import { parseAnswer } from "./parse.js";

const contexts = [
  { truncated: false, prompt: null },
  { truncated: true, prompt: "Fix `src/A.java`, not lib/b.py.\n{}" },
];

const fragment = fc.oneof(
  fc.constantFrom(
    "src/A.java",
    "lib/b.py",
    "org.x.Foo",
    "`",
    "```",
    "```json\n",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "| ",
    "|---|---|\n",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    '{"files": ["a.java"]}',
    ":",
    ",",
    "not ",
    "except ",
    "because ",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<!--",
    "-->",
    "~~",
    "**",
    "--- a/x.c\n",
    "+++ b/x.c\n",
    "@@ -1,2 +1,2 @@\n",
    "diff --git a/x b/x\n",
    "[x](y.java)",
    "https://github.com/o/r/blob/main/x.java",
    "\\",
    "\u0000",
    "\u2028",
    "<|channel|>final<|message|>",
    "Final answer:\n",
    "File: ",
    "SUCCESS: Local Search Response:\n",
    "é",
    "\ud800",
    "# ",
    "> ",
    "$ ",
    "__proto__",
    "constructor",
  ),
  fc.string({ maxLength: 8 }),
);

test("never throws, and every entry has a spelling", () => {
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 40 }), fc.constantFrom(...contexts), (parts, context) => {
      const reading = parseAnswer(parts.join(""), context);
      expect(["answered", "drawn", "abstained", "refused", "unparsable"]).toContain(reading.kind);
      if (reading.kind !== "answered") return;
      expect(reading.entries.length).toBeGreaterThan(0);
      for (const entry of reading.entries) {
        expect(entry.raw).toBe(entry.spellings[0]);
        expect(entry.raw.trim()).not.toBe("");
      }
    }),
    { numRuns: 2000 },
  );
});

test("the same text gives the same reading, and JSON without blanks the same as with", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("src/A.java", "lib/b.py", "web/App.vue", "org.x.Foo"), { minLength: 1 }), (files) => {
      const value = { classes: files.map((path) => ({ path })) };
      const context = { truncated: false, prompt: null };
      const reading = parseAnswer(JSON.stringify(value), context);
      expect(parseAnswer(JSON.stringify(value, null, 4), context)).toEqual(reading);
      expect(reading.kind === "answered" && reading.entries.map((entry) => entry.raw)).toEqual(files);
    }),
  );
});

test("a cut JSON answer gives a prefix of the whole one's entries", () => {
  const files = ["src/A.java", "lib/b.py", "web/App.vue"];
  const text = JSON.stringify({ classes: files.map((path) => ({ path, reason: 'because {of} [this] "quote"' })) });
  for (let length = 1; length < text.length; length++) {
    const reading = parseAnswer(text.slice(0, length), { truncated: true, prompt: null });
    const raws = reading.kind === "answered" ? reading.entries.map((entry) => entry.raw) : [];
    expect(raws).toEqual(files.slice(0, raws.length));
    // No cut entry: each that counts was closed before the cut.
    expect(raws.length).toBeLessThanOrEqual(text.slice(0, length).split("}").length - 1 + 0);
  }
});

const KILO = 1000;
const HOSTILE: Record<string, (n: number) => string> = {
  "opening braces": (n) => "{".repeat(n),
  "opening brackets": (n) => "[".repeat(n),
  "objects that never close": (n) => '{"a":'.repeat(n / 5),
  "arrays that never close": (n) => '["a",'.repeat(n / 5),
  "strings that never close": (n) => '{"a" "'.repeat(n / 6),
  "back-ticks": (n) => "`".repeat(n),
  "runs of back-ticks": (n) =>
    Array.from({ length: Math.floor(Math.sqrt(2 * n)) }, (_, length) => "`".repeat(length + 1)).join(" "),
  fences: (n) => "```\n".repeat(n / 4),
  thinking: (n) => "<think>".repeat(n / 7),
  "thinking closed": (n) => "</think>".repeat(n / 8),
  "thinking pairs": (n) => "<think></think>".repeat(n / 15),
  "tool calls": (n) => "<tool_call>".repeat(n / 11),
  "answer tags": (n) => "<answer>x".repeat(n / 9),
  channels: (n) => "<|channel|>final<|message|>".repeat(n / 27),
  comments: (n) => "<!--".repeat(n / 4),
  citations: (n) => "[Data: ".repeat(n / 7),
  "links without end": (n) => "[a](".repeat(n / 4),
  stars: (n) => "*".repeat(n),
  "one long line": (n) => "a".repeat(n),
  "one long path": (n) => "a/".repeat(n / 2),
  dots: (n) => ".".repeat(n),
  spaces: (n) => `x${" ".repeat(n)}y`,
  "line breaks": (n) => "\n".repeat(n),
  quotes: (n) => '"'.repeat(n),
  tildes: (n) => "~".repeat(n),
  pipes: (n) => "|".repeat(n),
  "table rows": (n) => "| a.java | b |\n".repeat(n / 15),
  bullets: (n) => "- a.java\n".repeat(n / 9),
  "nested bullets": (n) => Array.from({ length: n / 40 }, (_, i) => `${" ".repeat(i % 40)}- a${i}.java`).join("\n"),
  "excluded list": (n) => `Change x.java, not ${"b.java, ".repeat(n / 8)}`,
  negations: (n) => "not a.java ".repeat(n / 11),
  "leave and unlikely": (n) => "leave unlikely a.java ".repeat(n / 22),
  sentences: (n) => "Fix a.java. ".repeat(n / 12),
  "final marks": (n) => "Final answer:\n- a.java\n".repeat(n / 23),
  "diff headers": (n) => "--- a/x\n+++ b/x\n".repeat(n / 16),
  hunks: (n) => `--- a/x\n+++ b/x\n${"@@ -1,99999 +1,99999 @@\n x\n".repeat(n / 28)}`,
  "git headers": (n) => "diff --git a/x b/x\n".repeat(n / 19),
  "search blocks": (n) => "<<<<<<< SEARCH\n".repeat(n / 15),
  ndjson: (n) => '{"path": "a.java"}\n'.repeat(n / 19),
  "json lists": (n) => '{"files": ["a.java"]} '.repeat(n / 22),
  commands: (n) => "$ x\n".repeat(n / 4),
  "stack frames": (n) => "  at a.b(C.java:1)\n".repeat(n / 19),
};

test.each(Object.entries(HOSTILE))("linear on %s", (_, make) => {
  const seconds = (size: number): number => {
    const text = make(size);
    return processorSeconds(() => parseAnswer(text, { truncated: false, prompt: null }));
  };
  // Ten times the text is ten times the work if it is linear: a second or so. The square of 600,000 characters takes minutes, and
  // even the fastest loops of the engine (a search for one character) take half a minute for it.
  const small = seconds(60 * KILO);
  expect(seconds(600 * KILO)).toBeLessThan(Math.max(10, small * 30));
});

test("the scanner's steps are bounded by the length", () => {
  for (const text of [
    "{".repeat(50_000),
    '{"a":'.repeat(10_000),
    '["a",'.repeat(10_000),
    '{"a": [1, {"b": "'.repeat(3_000),
    '{"x'.repeat(9_000),
  ]) {
    expect(scanJson(text).steps).toBeLessThan(20 * text.length + 10_000);
  }
});
