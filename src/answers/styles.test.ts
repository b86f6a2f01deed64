/** Sample answers in our own words, in the styles that models, retrieval systems, search tools and people use. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAnswer } from "./parse.js";

const A = "src/main/java/shop/Cart.java";
const B = "src/main/java/shop/OrderLine.java";
const C = "lib/pricing/discount.py";

function read(text: string, truncated = false, prompt: string | null = null): readonly string[] | string {
  const reading = parseAnswer(text, { truncated, prompt });
  return reading.kind === "answered" ? reading.entries.map((entry) => entry.raw) : reading.kind;
}

describe("models", () => {
  test.each([
    ["labelled line", `**Answer:** \`${A}\``, [A]],
    ["bare names in prose", "The change touches CartTest, Yearly and OrderLine.", ["CartTest", "Yearly", "OrderLine"]],
    ["one bare name", "The class that needs to change is OrderLine.", ["OrderLine"]],
    ["file names in prose", "I think Cart.java and OrderLine.java need to be changed.", ["Cart.java", "OrderLine.java"]],
    ["names in lists", "- Cart\n- OrderLine\n- XML", ["Cart", "OrderLine", "XML"]],
    [
      "class and its path further on",
      `1. **Cart**: the class in \`${A}\` sums wrongly.\n2. **OrderLine**: see \`${B}\`.`,
      [A, B],
    ],
    ["path below its class", `- **Cart**\n  - Path: \`${A}\`\n  - Reason: calls \`${B}\`\n- **OrderLine**\n  - \`${B}\``, [A, B]],
    ["short and long form", `1. **Cart.java** (\`${A}\`)`, [A]],
    ["verbs and objects", `- Fix the sum in \`${A}\`\n- Add a check to \`${B}\``, [A, B]],
    ["heads and remarks mixed", `- \`${A}\`\n- Also \`${B}\` must be adapted`, [A, B]],
    ["remarks only", `- The main change is in \`${A}\`\n- Also \`${B}\` must be adapted`, [A, B]],
    ["a remark that is a reason", `- \`${A}\`\n- This explains the failure seen in \`${B}\``, [A]],
    ["sections by bold lines", `**${A}**\n- add: sums\n- uses \`${C}\`\n\n**${B}**\n- get: reads`, [A, B]],
    [
      "code below a label",
      `In \`${A}\`:\n\`\`\`java\nnew OrderLine();\n\`\`\`\n\nIn \`${B}\`:\n\`\`\`java\nx();\n\`\`\``,
      [A, B],
    ],
    ["members below files", `${A}:\n  - add()\n${B}:\n  - get()`, [A, B]],
    ["YAML", `classes:\n  - path: ${A}\n  - path: ${B}`, [A, B]],
    ["XML", `<files>\n<file>${A}</file>\n<file>${B}</file>\n</files>`, [A, B]],
    ["XML attributes", `<file path="${A}"/>\n<file path="${B}"/>`, [A, B]],
    ["HTML list", `<ul><li>${A}</li><li>${B}</li></ul>`, [A, B]],
    ["Python list", `classes = ["${A}", "${B}"]`, [A, B]],
    ["boxed", `\\boxed{${A}}`, [A]],
    ["ticks and crosses", `- ✅ \`${A}\`\n- ❌ \`${B}\``, [A]],
    ["ordinals", `First, ${A}. Second, ${B}.`, [A, B]],
    [
      "a server's envelope",
      JSON.stringify({ choices: [{ message: { content: JSON.stringify({ classes: [{ path: A }] }) } }] }),
      [A],
    ],
    ["lists under names of their own", JSON.stringify({ primary: [A], secondary: [B] }), [A, B]],
    ["grouped list", JSON.stringify({ files: { to_modify: [A], not_to_modify: [B] } }), [A]],
    ["text with references", JSON.stringify({ response: `The file is ${A}.`, references: [{ file_path: B }] }), [A]],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

describe("tools", () => {
  test.each([
    ["scores behind", `${A}\t0.91\n${B}\t0.80`, [A, B]],
    ["scores in front", `0.91 ${A}\n0.80 ${B}`, [A, B]],
    ["quoted CSV", `"file","score"\n"${A}",0.9\n"${B}",0.8`, [A, B]],
    ["pipes", `${A} | 0.9\n${B} | 0.8`, [A, B]],
    ["version-control status", `M\t${A}\nA\t${B}`, [A, B]],
    ["version-control words", `modified:   ${A}\nmodified:   ${B}`, [A, B]],
    ["statistics of a change", ` ${A} | 2 +-\n ${B} | 4 ++--\n 2 files changed`, [A, B]],
    ["retrieval report", `# Impacted classes\n\n## ${A}\nIt sums [Data: Entities (5)].\n\n## Conclusion\nOnly this one.`, [A]],
    [
      "settings before the answer",
      `INFO: Vector Store Args: {\n  "db_uri": "out/lance.json",\n  "files": ["${B}"]\n}\n\nSUCCESS: Global Search Response:\n- ${A} [Data: Reports (2, +more)]`,
      [A],
    ],
    [
      "answer on the marker's line",
      `creating llm client with {"api_key": "x"}\n\nSUCCESS: Local Search Response: {"classes":[{"path":"${A}"}]}`,
      [A],
    ],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

describe("what leads to the answer is not the answer", () => {
  test.each([
    ["concession", `Although ${B} is involved, the bug is in ${A}.`],
    ["concession with a reason", `While ${B} calls the method, it is ${A} that must be fixed.`],
    ["suspicion", `I first suspected ${B}, but the root cause is in ${A}.`],
    ["ruled out later in the sentence", `${B} was considered but ruled out. The fix belongs in ${A}.`],
    ["does not need changes, later in the sentence", `Only ${A} should be modified. ${B} uses it but doesn't need changes.`],
    ["works correctly", `The bug is in ${A}. ${B} works correctly.`],
    ["avoid", `We should avoid changing ${B}; edit ${A}.`],
    ["without modifying", `${A} should be changed without modifying ${B}.`],
    ["none of", `Only ${A}; none of ${B} and ${C}.`],
    ["conclusion", `Looking at the code, ${B} calls it. Therefore the change is needed in ${A}.`],
    ["thought", `Thought: I should check ${B}.\n\nFinal Answer: ${A}`],
    ["steps", `Step 1: read ${B}.\nStep 2: read ${C}.\nAnswer: ${A}`],
    ["analysis", `# Analysis\nThe issue mentions ${B}.\n\n# Answer\n${A}`],
    ["tool output", `Tool output:\n${B}: 12 matches\n${C}: 3 matches\n\nFinal answer:\n${A}`],
    ["command in a fence", `\`\`\`\n$ grep -rn sum src\n${B}:12:sum\n\`\`\`\n\nSo it is ${A}.`],
    ["question", `Question: Why does ${B} fail?\nAnswer: ${A}`],
    ["capitals", `- ${A}\n- NOT ${B}`],
    ["in brackets", `${A} (excluding ${B})`],
    ["lead-in in the first person", `- ${A}\n\nI would not change:\n- ${B}`],
    ["reviewed but unaffected", `- ${A}\n\nFiles reviewed but unaffected:\n- ${B}`],
    ["French lead-in", `À modifier :\n- ${A}\n\nÀ ne pas modifier :\n- ${B}`],
    ["French item", `- ${A}\n- ${B} : aucun changement nécessaire`],
    ["mais pas", `${A}, mais pas ${B}`],
    ["an empty list in a sentence", `{"classes":["${A}"]}\n\nNote: {"classes": []} would mean none.`],
  ])("%s", (_, text) => {
    expect(read(text)).toEqual([A]);
  });

  test("a second example of code is no answer", () => {
    expect(read(`\`\`\`java\n// ${A}\npublic class Cart {\n  void add() {}\n}\n\`\`\``)).toBe("unparsable");
  });

  test.each([
    ["none of the files", "None of the files.", "abstained"],
    ["nothing to change", "There is nothing to change.", "abstained"],
    ["canned retrieval sentence", "Sorry, I'm not able to provide an answer to that question.[no-context]", "abstained"],
    ["list that says none", '{"files": ["none"]}', "abstained"],
    ["guidelines", "I cannot answer that; it is against my guidelines.", "refused"],
    ["declines", "I must decline.", "refused"],
    ["dots", "...", "unparsable"],
    ["other JSON", '{"foo": 1}', "unparsable"],
  ])("%s", (_, text, kind) => {
    expect(read(text)).toBe(kind);
  });
});

describe("cut answers", () => {
  test.each([
    ["table", `| File |\n|---|\n| ${A} |\n| src/main/java/sh`],
    ["fence", `\`\`\`json\n["${A}", "src/main/java/sh`],
    ["patch", `--- a/${A}\n+++ b/${A}\n@@ -1 +1 @@\n-a\n+b\n--- a/${B}\n+++ b/src/ma`],
    ["lines", `${A}\nsrc/main/java/shop/Orde`],
    ["reasons", `1. ${A}: sums\n2. ${B}: reads th`],
  ])("%s", (_, text) => {
    expect(read(text, true)).toEqual([A]);
  });
});

const recorded = resolve(import.meta.dirname, "../../../shared/data/answers/swe-bench-lite-answers.jsonl");
test.skipIf(!existsSync(recorded))(
  "the recorded answers of a localisation agent: every file that it read itself is found",
  () => {
    let missed = 0;
    let extra = 0;
    let wanted = 0;
    for (const line of readFileSync(recorded, "utf8").trim().split("\n")) {
      const row = JSON.parse(line) as { raw_answers: string[]; predicted_files: string[]; problem_statement: string };
      const found = new Set<string>();
      for (const answer of row.raw_answers) {
        const reading = parseAnswer(answer, { truncated: false, prompt: row.problem_statement });
        expect(reading.kind).toBe("answered");
        if (reading.kind !== "answered") continue;
        for (const entry of reading.entries) for (const spelling of entry.spellings) found.add(spelling);
      }
      wanted += row.predicted_files.length;
      missed += row.predicted_files.filter((file) => !found.has(file)).length;
      extra += [...found].filter((file) => !row.predicted_files.includes(file)).length;
    }
    expect(wanted).toBeGreaterThan(500);
    expect(missed).toBe(0);
    // The agent drops tests and files that its repository lacks; a reader of text can't know those.
    expect(extra / wanted).toBeLessThan(0.12);
  },
);

const vectors = resolve(import.meta.dirname, "../../../shared/data/vectors/seed-rules/answers.jsonl");
test.skipIf(!existsSync(vectors))("the recorded answers in fourteen styles are all read", () => {
  for (const line of readFileSync(vectors, "utf8").trim().split("\n")) {
    const row = JSON.parse(line) as { raw_response: string };
    expect(["answered", "abstained"]).toContain(parseAnswer(row.raw_response, { truncated: false, prompt: null }).kind);
  }
});
