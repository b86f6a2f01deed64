import { describe, expect, test } from "vitest";
import { MAX_ENTRIES, parseAnswer } from "./parse.js";
import type { ParseContext, Reading } from "./schema.js";

const whole: ParseContext = { truncated: false, prompt: null };
const cut: ParseContext = { truncated: true, prompt: null };

function raws(reading: Reading): readonly string[] | string {
  return reading.kind === "answered" ? reading.entries.map((entry) => entry.raw) : reading.kind;
}
function read(text: string, context: ParseContext = whole): readonly string[] | string {
  return raws(parseAnswer(text, context));
}
function readBy(text: string): readonly string[] {
  const reading = parseAnswer(text, whole);
  return reading.kind === "answered" ? [...new Set(reading.entries.map((entry) => entry.readBy))] : [];
}

const A = "src/main/java/shop/Cart.java";
const B = "src/main/java/shop/Order.java";
const C = "lib/pricing/discount.py";

describe("JSON", () => {
  test.each([
    ["objects under classes", `{"classes": [{"path": "${A}"}, {"path": "${C}"}]}`, [A, C]],
    ["strings under classes", '{"classes": ["shop.Cart", "Order"]}', ["shop.Cart", "Order"]],
    ["files", `{"files": ["${A}", "${B}"]}`, [A, B]],
    ["java_files as one string", `{"java_files": "${A}"}`, [A]],
    ["results", `{"results": [{"file_path": "${A}", "score": 0.5}]}`, [A]],
    ["predictions", `{"predictions": [{"filename": "${A}"}]}`, [A]],
    ["locations", `{"locations": [{"file": "${A}", "line": 3}]}`, [A]],
    ["candidates", `{"candidates": [{"filepath": "${A}"}]}`, [A]],
    ["a root array of strings", `["${A}", "${B}"]`, [A, B]],
    ["a root array of objects", `[{"path": "${A}", "name": "Cart"}]`, [A]],
    ["one wrapped level", `{"answer": {"files": ["${A}"]}}`, [A]],
    ["two wrapped levels", `{"result": {"data": {"files": ["${A}"]}}}`, [A]],
    ["a string that is JSON", JSON.stringify(JSON.stringify({ files: [A] })), [A]],
    ["JSON in a member", JSON.stringify({ response: JSON.stringify({ files: [A] }) }), [A]],
    ["text in a member", JSON.stringify({ answer: `- ${A}\n- ${B}` }), [A, B]],
    ["camel-case field names", `{"impactedFiles": [{"filePath": "${A}"}]}`, [A]],
    ["one entry alone", `{"path": "${A}"}`, [A]],
    ["several lists in one object", `{"files": ["${A}"], "test_files": ["test/CartTest.java"]}`, [A, "test/CartTest.java"]],
    ["a map of paths to scores", `{"${A}": 0.9, "${B}": 0.1}`, [A, B]],
    [
      "a search tool's unit",
      `[{"unit": {"name": "add", "file": "/r/${A}", "line": 12, "end_line": 40, "code": "Order x"}, "score": 0.83}]`,
      [`/r/${A}`],
    ],
    ["trailing commas and comments", `{"files": ["${A}", /* main */ "${B}",], // end\n}`, [A, B]],
    ["single quotes and None", `{'files': ['${A}'], 'notes': None}`, [A]],
    [
      "single backslashes of Windows",
      String.raw`{"classes": [{"path": "src\main\Cart.java"}]}`,
      [String.raw`src\main\Cart.java`],
    ],
    [
      "backslashes that are valid escapes",
      String.raw`{"classes": [{"path": "src\test\retail\Foo.java"}]}`,
      [String.raw`src\test\retail\Foo.java`],
    ],
    ["spaces in a path", '{"files": ["docs and more/My Cart.java"]}', ["docs and more/My Cart.java"]],
    ["letters of other scripts", '{"files": ["src/Überweisung.java", "源/购物车.py"]}', ["src/Überweisung.java", "源/购物车.py"]],
    ["names such as __proto__", `{"__proto__": {"files": ["x.java"]}, "constructor": 1, "files": ["${A}"]}`, [A]],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
    expect(readBy(text)[0]).toMatch(/^(json|list)$/);
  });

  test("one entry is one prediction with all its spellings, path first", () => {
    const reading = parseAnswer(`{"classes": [{"name": "Cart", "class": "shop.Cart", "path": "${A}"}]}`, whole);
    expect(reading).toMatchObject({ kind: "answered", entries: [{ raw: A, spellings: [A, "shop.Cart", "Cart"] }] });
    expect(reading.kind === "answered" && reading.entries).toHaveLength(1);
  });

  test("lines, score and rank are kept", () => {
    const text = `{"locations": [{"file": "${B}", "rank": 2, "lines": "10-20"}, {"file": "${A}", "rank": 1, "start_line": 3, "end_line": 9, "score": 0.7}]}`;
    expect(parseAnswer(text, whole)).toMatchObject({
      entries: [
        { raw: A, lines: [3, 9], score: 0.7 },
        { raw: B, lines: [10, 20] },
      ],
    });
  });

  test.each([
    [
      "explanations",
      `{"classes": [{"path": "${A}", "reason": "called by ${B}", "snippet": "import ${C}"}], "explanation": "see ${C}"}`,
    ],
    ["excluded members", `{"files": ["${A}"], "excluded_files": ["${B}"], "not_affected": ["${C}"]}`],
    [
      "denied entries",
      `{"files": [{"path": "${A}"}, {"path": "${B}", "relevant": false}, {"path": "${C}", "status": "not affected"}]}`,
    ],
    ["fillers", `{"files": ["${A}", "N/A", "", null, 3]}`],
  ])("no predictions from %s", (_, text) => {
    expect(read(text)).toEqual([A]);
  });

  test("an explanation alone names nothing", () => {
    expect(read(`{"explanation": "The bug is in ${A}."}`)).toBe("unparsable");
    expect(read('{"error": "boom"}')).toBe("unparsable");
  });

  test("in a fence", () => {
    const text = `Here you go:\n\n\`\`\`json\n{"classes": [{"path": "${A}"}]}\n\`\`\`\n\nThe parser in ${B} calls it.`;
    expect(read(text)).toEqual([A]);
    expect(readBy(text)).toEqual(["json-fenced"]);
  });

  test("inside text with braces", () => {
    const text = `The map {a: b} and {broken matter. Answer: {"classes": ["${A}"]} and that {is} all.`;
    expect(read(text)).toEqual([A]);
    expect(readBy(text)).toEqual(["json-embedded"]);
  });

  test("a later complete answer replaces an earlier draft", () => {
    const draft = `{"classes": [{"path": "${A}"}]}`;
    const final = `{"classes": [{"path": "${B}"}]}`;
    expect(read(`${draft}\n${final}`)).toEqual([B]);
    expect(read(`Draft: ${draft}\nOn second thought:\n${final}`)).toEqual([B]);
    expect(read(`\`\`\`json\n${draft}\n\`\`\`\nBetter:\n\`\`\`json\n${final}\n\`\`\``)).toEqual([B]);
    expect(read(`${draft}\nLet me correct: {"classes": [{"path": "${B}"}, {"pa`)).toEqual([A]);
  });

  test("NDJSON lines add up", () => {
    const text = `{"path": "${A}", "score": 2}\n{"path": "${B}", "score": 1}\n`;
    expect(read(text)).toEqual([A, B]);
    expect(readBy(text)).toEqual(["ndjson"]);
    expect(read(`"${A}"\n"${B}"`)).toEqual([A, B]);
  });

  test("samples of data are no answer", () => {
    const text = `Parsing {"name": "John", "tags": ["a", "b"]} fails in \`${A}\`.`;
    expect(read(text)).toEqual([A]);
  });

  test("cut: what was complete counts, the cut entry does not", () => {
    expect(read(`{"classes": [{"path": "${A}"}, {"path": "${B}", "reason": "beca`, cut)).toEqual([A]);
    expect(read(`{"classes": ["${A}", "src/main/java/shop/Ord`, cut)).toEqual([A]);
    expect(read(`\`\`\`json\n{"classes": [{"path": "${A}"}, {"path": "${B}`, cut)).toEqual([A]);
    expect(read(`{"classes": [{"path": "${A}`, cut)).toBe("unparsable");
    expect(read(`{"path": "${A}"}\n{"path": "${B}`, cut)).toEqual([A]);
  });

  test("a baseline's draws, only with exactly these members", () => {
    const draws = { draws: [["a.java", "b.java"], ["c.java"]], pool: 39, sizes: [2, 1] };
    expect(parseAnswer(JSON.stringify(draws), whole)).toMatchObject({
      kind: "drawn",
      pool: 39,
      sizes: [2, 1],
      draws: [[{ raw: "a.java" }, {}], [{}]],
    });
    expect(parseAnswer(JSON.stringify({ ...draws, seed: 1 }), whole).kind).not.toBe("drawn");
    expect(parseAnswer(JSON.stringify({ draws: [["a"]], pool: "x", sizes: [1] }), whole).kind).not.toBe("drawn");
  });
});

describe("words", () => {
  test.each([
    ["bullets", `Here are the classes:\n\n- \`${A}\`\n- \`${B}\`\n\nLet me know if you need more.`, [A, B], "list"],
    ["numbered", `1. ${A}\n2. ${B}`, [A, B], "list"],
    ["numbered names", "1. shop.Cart\n2. shop.Order", ["shop.Cart", "shop.Order"], "list"],
    ["bold with reasons", `1. **${A}**: adds items, calls ${B}\n2. **${C}** - applies discounts via Cart`, [A, C], "list"],
    ["stars", `* ${A} (lines 10-20)\n* ${C}:12`, [A, `${C}:12`], "list"],
    ["check boxes", `- [ ] ${A}\n- [x] ${B}`, [A, B], "list"],
    ["labels", `File: ${A}\nClass: Cart\nReason: it calls ${B}`, [A], "lines"],
    ["labelled bullets", `- **File**: \`${A}\`\n- **Class**: \`Cart\`\n- **Why**: see \`${B}\``, [A], "list"],
    ["verbs", `- Modify \`${A}\` to check for null\n- Update \`${B}\` and \`${C}\``, [A, B, C], "list"],
    ["name and path are one", `- Cart (\`${A}\`): adds items\n- \`Order\`: ${B}`, [A, B], "list"],
    ["links", `- [Cart](${A})\n- [${B}](https://example.com/x)`, [A, B], "list"],
    ["blob links", `- https://github.com/o/r/blob/main/${A}#L3`, [`https://github.com/o/r/blob/main/${A}#L3`], "list"],
    ["sub-items explain", `1. ${A}\n   - calls \`${B}\`\n   - Lines: 10-12\n2. ${C}\n   - reads ${B}`, [A, C], "list"],
    ["items under a heading without entry", `- Core:\n  - ${A}\n- Tests:\n  - ${B}`, [A, B], "list"],
    ["headings", `### 1. \`${A}\`\nIt parses.\n- calls ${B}\n\n### 2. \`${C}\`\nIt discounts.`, [A, C], "list"],
    ["table", `| Rank | File | Why |\n|---|---|---|\n| 1 | \`${A}\` | calls ${B} |\n| 2 | ${C} | sums |`, [A, C], "table"],
    ["table with verdicts", `| File | Change needed |\n|---|---|\n| ${A} | yes |\n| ${B} | no |`, [A], "table"],
    ["plain lines", `${A}\n${B}\n`, [A, B], "lines"],
    ["comma-separated", `${A}, ${B}, ${C}`, [A, B, C], "lines"],
    ["CSV", `1,${A},0.9\n2,${B},0.5`, [A, B], "lines"],
    ["name alone", "JSONTokener", ["JSONTokener"], "lines"],
    [
      "file, then function and class",
      `\`\`\`\n${C}\nline: 10-20\nfunction: apply\nclass: Discount\n# calls ${A}\n\n${A}\nclass: Cart\n\`\`\`\n\n1. \`apply\` in \`${B}\` matters`,
      [C, A],
      "lines",
    ],
    ["path::member", `\`\`\`\n${C}::Discount.apply\n\`\`\``, [`${C}::Discount.apply`], "lines"],
    ["code spans", `The fix goes into \`${A}\` and perhaps \`${C}\`.`, [A, C], "code-span"],
    ["prose", `The fix goes into ${A} and perhaps ${C}.`, [A, C], "prose"],
    ["qualified name in prose", "The class shop.cart.Basket mishandles it.", ["shop.cart.Basket"], "prose"],
    [
      "other languages",
      "- src/net/tcp.c\n- include/tcp.h\n- web/App.vue\n- Makefile\n- cmd/main.go",
      ["src/net/tcp.c", "include/tcp.h", "web/App.vue", "Makefile", "cmd/main.go"],
      "list",
    ],
    [
      "spaces in a list",
      "- src/my shop/Cart.java\n- `other dir/Order.java`",
      ["src/my shop/Cart.java", "other dir/Order.java"],
      "list",
    ],
    ["dunder", "- pkg/__init__.py\n- **pkg/__main__.py**", ["pkg/__init__.py", "pkg/__main__.py"], "list"],
    ["quotes", `"${A}"\n'${B}'`, [A, B], "lines"],
  ])("%s", (_, text, expected, rung) => {
    expect(read(text)).toEqual(expected);
    expect(readBy(text)).toContain(rung);
  });

  test("a later final answer replaces a draft", () => {
    expect(read(`First guess:\n- ${A}\n\nFinal answer:\n- ${B}`)).toEqual([B]);
    expect(read(`## Candidates\n- ${A}\n- ${B}\n\n## Final list\n- ${B}`)).toEqual([B]);
  });

  test("lines of an entry", () => {
    const lines = (text: string): unknown => {
      const reading = parseAnswer(text, whole);
      return reading.kind === "answered" ? reading.entries[0]?.lines : null;
    };
    expect(lines(`- ${A}:120`)).toEqual([120, 120]);
    expect(lines(`- ${A}#L10-L20`)).toEqual([10, 20]);
    expect(lines(`- \`${A}\` (lines 10-20): x`)).toEqual([10, 20]);
    expect(lines(`- ${A}:12:5`)).toEqual([12, 12]);
    expect(lines(`\`\`\`\n${A}\nline: 7-9\n\`\`\``)).toEqual([7, 9]);
  });

  test.each([
    ["not", `Change ${A}, not ${B}.`],
    ["rather than", `Change ${A} rather than ${B} or ${C}.`],
    ["instead of", `Instead of ${B}, change ${A}.`],
    ["except", `All is in ${A} except ${B}.`],
    ["excluding", `- ${A}\n- excluding ${B}`],
    ["do not change", `Fix ${A}. Do not change ${B}.`],
    ["and do not touch", `Fix ${A} and do not touch ${B} or ${C}.`],
    ["does not need to change", `${A} must be changed, ${B} does not need to be changed.`],
    ["no changes needed in", `Fix ${A}; no changes are needed in ${B}.`],
    ["not affected", `- ${A}: the sum is wrong\n- ${B}: not affected`],
    ["no changes needed (item)", `- ${A}\n- ${B} (no changes needed)`],
    ["unlikely", `- ${A}\n- ${B} - unlikely to be involved`],
    ["isn't involved", `Fix ${A}. ${B} isn't involved.`],
    ["but not", `Look at ${A} but not ${B}.`],
    ["leave alone", `Fix ${A}, but leave ${B} alone.`],
    ["struck through", `- ${A}\n- ~~${B}~~`],
    ["section", `Files to change:\n- ${A}\n\nFiles that do not need changes:\n- ${B}\n- ${C}`],
    ["heading", `## To change\n- ${A}\n\n## Not affected\n- ${B}`],
    ["considered but rejected", `- ${A}\n\nConsidered but rejected:\n- ${B}`],
    ["unaffected in prose", `Only ${A} matters; ${B} and ${C} are unaffected.`],
    ["pas", `Il faut modifier ${A}, pas ${B}.`],
    ["plutôt que", `Modifier ${A} plutôt que ${B}.`],
    ["au lieu de", `Modifier ${A} au lieu de ${B} ou ${C}.`],
    ["sauf", `Tout est dans ${A}, sauf ${B}.`],
    ["n'est pas concerné", `Il faut corriger ${A}. ${B} n'est pas concerné.`],
    ["ne pas modifier", `Corriger ${A} et ne pas modifier ${B}.`],
    ["fichiers non concernés", `- ${A}\n\nFichiers non concernés :\n- ${B}`],
  ])("what the answer excludes in words is not predicted: %s", (_, text) => {
    expect(read(text)).toEqual([A]);
  });

  test.each([
    ["a negation that describes the bug", `- ${A}: does not check for null`, [A]],
    ["a bug in prose", `${A} does not update the index correctly.`, [A]],
    ["not only", `Change not only ${A} but also ${B}.`, [A, B]],
    ["no other than", `No file other than ${A} needs changes.`, [A]],
    ["because", `Change ${A} because ${B} calls it.`, [A]],
    ["called by", `The bug is in ${A}, which is called by ${B}.`, [A]],
    ["because alone", `It fails because ${A} never resets the sum.`, [A]],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test("truncated: the last line is dropped unless it ends with a line break", () => {
    expect(read(`- ${A}\n- src/main/java/shop/Ord`, cut)).toEqual([A]);
    expect(read(`- ${A}\n- ${B}\n`, cut)).toEqual([A, B]);
    expect(read(`The files are ${A}, src/main/java/shop/Order.jav`, cut)).toEqual([A]);
    expect(read(`- ${A}`, cut)).toBe("unparsable");
  });
});

describe("patches", () => {
  const patch = (path: string, body = " x\n-y\n+z"): string => `--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,2 @@\n${body}\n`;

  test("several add up; nothing inside hunks counts", () => {
    const text = `Here is the fix, see ${C}:\n\`\`\`diff\ndiff --git a/${A} b/${A}\nindex 1..2 100644\n${patch(A, `-// see src/Other.java\n+import ${C};\n x`)}${patch(B)}\`\`\`\n- ${C} is fine`;
    expect(read(text)).toEqual([A, B]);
    expect(readBy(text)).toEqual(["diff"]);
  });

  test("removed lines that look like headers", () => {
    const text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a/evil.java\n+++ b/evil.java\n x\n@@ -9 +9 @@\n-a\n+b\n";
    expect(read(text)).toEqual(["x.sql"]);
  });

  test("wrong counts, as models write them", () => {
    const text = `--- a/${A}\n+++ b/${A}\n@@ -1,9 +1,9 @@\n x\n-y\n+z\n--- a/${B}\n+++ b/${B}\n@@ -1 +1 @@\n-y\n+z\n`;
    expect(read(text)).toEqual([A, B]);
  });

  test.each([
    ["rename", `diff --git a/${A} b/${B}\nsimilarity index 95%\nrename from ${A}\nrename to ${B}\n`, [A]],
    ["deleted", `diff --git a/${A} b/${A}\ndeleted file mode 100644\n--- a/${A}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`, [A]],
    ["added", `--- /dev/null\n+++ b/${A}\n@@ -0,0 +1 @@\n+x\n`, [A]],
    ["binary", "diff --git a/img/x.png b/img/x.png\nBinary files a/img/x.png and b/img/x.png differ\n", ["img/x.png"]],
    ["no prefix", `diff --git ${A} ${A}\n--- ${A}\n+++ ${A}\n@@ -1 +1 @@\n-a\n+b\n`, [A]],
    ["folder called a", "--- a/x.py\n+++ a/x.py\n@@ -1 +1 @@\n-a\n+b\n", ["a/x.py"]],
    [
      "quoted bytes",
      '--- "a/src/\\303\\211p\\303\\251e.java"\n+++ "b/src/\\303\\211p\\303\\251e.java"\n@@ -1 +1 @@\n-a\n+b\n',
      ["src/Épée.java"],
    ],
    ["time stamps", `--- ${A}\t2020-01-01 00:00:00\n+++ ${A}\t2020-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n`, [A]],
    ["spaces", "--- a/my dir/X.java\n+++ b/my dir/X.java\n@@ -1 +1 @@\n-a\n+b\n", ["my dir/X.java"]],
    ["patch commands", `*** Begin Patch\n*** Update File: ${A}\n@@\n-a\n+b ${C}\n*** End Patch\n`, [A]],
    ["search and replace", `${A}\n\`\`\`java\n<<<<<<< SEARCH\nimport ${B}\n=======\nx\n>>>>>>> REPLACE\n\`\`\`\n`, [A]],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

describe("what is no answer", () => {
  test.each([
    ["think", `<think>Maybe ${B}? {"classes": [{"path": "${B}"}]}</think>\n{"classes": [{"path": "${A}"}]}`],
    ["thinking in words", `<thinking>\n- ${B}\n</thinking>\n- ${A}`],
    ["nested", `<think>a <think>${B}</think> ${C}</think>${A}`],
    ["closing tag only", `I should look at ${B}.\n</think>\n${A}`],
    ["two blocks", `<think>${B}</think> <reasoning>${C}</reasoning>\n${A}`],
    ["channels", `<|channel|>analysis<|message|>maybe ${B}<|end|><|start|>assistant<|channel|>final<|message|>${A}<|return|>`],
    ["terminal", `Thinking...\nmaybe ${B}\n...done thinking.\n\n${A}`],
    ["brackets", `[THINK]${B}[/THINK]${A}`],
    ["answer tag", `I looked at ${B}.\n<answer>\n${A}\n</answer>`],
    [
      "search response",
      `\n\nINFO: Vector Store Args: {"db": "${B}"}\n\nSUCCESS: Local Search Response:\n{"classes": [{"path": "${A}"}]}\n[Data: Sources (3, 7); Entities (12)]`,
    ],
    [
      "log lines",
      `2024-05-01 10:00:00.123 - INFO - graphrag.cli.query - Local Search Response:\n- ${A}\n2024-05-01 10:00:01.000 - INFO - x - wrote ${B}`,
    ],
    ["citations", `- ${A} [Data: Sources (15, 16), Reports (1), Entities (5, 7, +more)]`],
    ["tool calls", `<tool_call>{"name": "read_file", "arguments": {"path": "${B}"}}</tool_call>\n- ${A}`],
    ["commands", `$ grep -rn cart src\n${B}:12: cart\n${C}:1: cart\n\n- ${A}`],
    ["actions", `Action: open ${B}\nObservation: ${C}\n${C}\n\n${A}`],
    [
      "stack trace",
      `java.lang.NullPointerException: x\n\tat shop.Order.add(Order.java:12)\n\tat shop.Main.main(Main.java:3)\n\nFix \`${A}\`.`,
    ],
    ["python trace", `Traceback (most recent call last):\n  File "${C}", line 3, in f\n    x()\nKeyError: 1\n\nFix ${A}.`],
    ["code", `Fix \`${A}\`:\n\`\`\`java\n// ${B}\nimport shop.Order;\nnew Order();\n\`\`\``],
    ["comments", `<!-- ${B} -->\n- ${A}`],
    ["quoted question", `> The trace names ${B}\n\n- ${A}`],
    ["reasons", `## Answer\n- ${A}\n\n## Reasoning\n- ${B} calls it\n- ${C} too`],
  ])("%s", (_, text) => {
    expect(read(text)).toEqual([A]);
  });

  test("thinking that never ends", () => {
    expect(read(`<think>Maybe ${A}`)).toBe("unparsable");
    expect(read(`<|channel|>analysis<|message|>maybe ${A}`)).toBe("unparsable");
    expect(read(`Thinking...\nmaybe ${A}`)).toBe("unparsable");
    expect(read(`maybe ${A}</think>`)).toBe("unparsable");
  });

  test("echoes of the question", () => {
    const prompt = `Sum is wrong\n\nThe total computed in ${B} is off by one.\nSee ${C} for the rates.\nAnswer as {"classes": [{"path": "path/to/File.java"}]}`;
    const context = { truncated: false, prompt };
    expect(read(`${prompt}\n\n- ${A}`, context)).toEqual([A]);
    expect(read(`The total computed in ${B} is off by one.\n\nSo: ${A}`, context)).toEqual([A]);
    expect(read(`Format: {"classes": [{"path": "path/to/File.java"}]}\n\n- ${A}`, context)).toEqual([A]);
    expect(read(`- ${B}`, context)).toEqual([B]);
  });

  test.each([
    ["empty list", '{"classes": []}', "abstained"],
    ["empty array", "[]", "abstained"],
    ["empty fence", "```json\n[]\n```", "abstained"],
    ["null member", '{"classes": null}', "abstained"],
    ["retrieval without data", "I am sorry but I am unable to answer this question given the provided data.", "abstained"],
    ["no context", "No relevant context found for the query.", "abstained"],
    ["none", "None", "abstained"],
    ["no files", "No files.", "abstained"],
    ["French", "Aucun fichier n'est concerné.", "abstained"],
    ["rien", "Rien.", "abstained"],
    ["could not find", "Sorry, I could not find any relevant Java Classes", "abstained"],
    ["could not find a named file", `I could not find ${A} in the provided data.`, "abstained"],
    ["can't help", "I'm sorry, but I can't help with that.", "refused"],
    ["as an AI", "As an AI language model, I do not have access to the repository.", "refused"],
    ["French refusal", "Désolé, je ne peux pas vous aider.", "refused"],
    ["empty", "", "unparsable"],
    ["blanks", " \n\t", "unparsable"],
    ["chatter", "Interesting question! Let me think about it.", "unparsable"],
    ["JSON null", "null", "abstained"],
  ])("%s", (_, text, kind) => {
    expect(parseAnswer(text, whole).kind).toBe(kind);
  });

  test("a refusal beside a list is answered", () => {
    expect(read(`I'm sorry, I can't be sure, but:\n- ${A}`)).toEqual([A]);
  });

  test("an empty final list replaces a draft", () => {
    expect(read(`{"classes": ["${A}"]}\nNo: {"classes": []}`)).toBe("abstained");
  });
});

test("entries beyond the cap are dropped, and the reading says so", () => {
  const text = JSON.stringify(Array.from({ length: MAX_ENTRIES + 5 }, (_, index) => `src/F${index}.java`));
  const reading = parseAnswer(text, whole);
  expect(reading).toMatchObject({ kind: "answered", note: expect.stringContaining(String(MAX_ENTRIES + 5)) });
  expect(reading.kind === "answered" && reading.entries).toHaveLength(MAX_ENTRIES);
});

test("functions that an entry names inside its file are kept beside it", () => {
  const symbols = (value: unknown) => {
    const reading = parseAnswer(JSON.stringify(value), { truncated: false, prompt: null });
    return reading.kind === "answered" ? reading.entries.map((entry) => entry.symbols) : reading.kind;
  };
  expect(symbols([{ path: "a.py", functions: ["run", "Tree.walk(self)", "it walks the tree"] }])).toEqual([["run", "Tree.walk"]]);
  expect(symbols([{ path: "A.java", class: "A", method: "f" }])).toEqual([["A.f"]]);
  expect(symbols([{ file: "a.py", functions: [{ name: "g", line: 3 }, 7, null] }])).toEqual([["g"]]);
  expect(symbols([{ path: "a.py", reason: "f" }, "b.py"])).toEqual([undefined, undefined]);
});
