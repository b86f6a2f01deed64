/** The examples on the pages of the backends are what `bench` accepts. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseAnswer } from "../src/answers/parse.js";
import { builtInBackends } from "../src/backends/registry.js";
import { checkPipeline } from "../src/pipeline/check.js";
import { stageKinds } from "../src/stages/registry.js";

const folder = resolve(import.meta.dirname, "../docs/backends");
const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
const kinds = await stageKinds({ extensions: [], folder });

/** Mistakes that a pipeline with this backend has. */
function mistakesOf(backend: unknown): string[] {
  if (!kinds.ok) return [kinds.error];
  const text = `name: example
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  sources: { uses: checkout, with: { folder: src } }
  answers: { uses: query-backend, needs: [dataset, sources], with: { backend: ${JSON.stringify(backend)} } }
`;
  const checked = checkPipeline({ text, file: "p.yaml", folder, projectRoot: folder, kinds: kinds.value, env: {}, set: [] });
  return checked.ok ? [] : checked.error.map(({ message }) => message);
}

function backendsIn(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "backend" ? (Array.isArray(member) ? member : [member]) : backendsIn(member),
  );
}

describe.each(pages)("%s", (page) => {
  const text = readFileSync(join(folder, page), "utf8");
  const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, yaml = ""]) => backendsIn(parse(yaml)));

  test("its examples are accepted", () => {
    for (const example of examples) {
      // A backend of one's own is checked by the test of its page.
      if (String((example as { kind?: unknown }).kind).startsWith("./")) continue;
      expect(mistakesOf(example), JSON.stringify(example)).toEqual([]);
    }
  });

  test("it has every option of its kind", () => {
    const kind = builtInBackends.get(page.replace(".md", ""));
    for (const name of Object.keys((kind?.options as unknown as { shape?: object } | undefined)?.shape ?? {})) {
      expect(text, name).toContain(`\`${name}\``);
    }
  });
});

const ANSWER = '{"classes":[{"path":"src/A.java"},{"path":"src/B.java"}]}';
test.each([
  [
    "Claude Code",
    {
      type: "result",
      subtype: "success",
      is_error: false,
      result: `Here it is:\n${ANSWER}`,
      session_id: "c0ffee",
      total_cost_usd: 0.01,
      num_turns: 4,
    },
  ],
  [
    "Gemini CLI",
    {
      response: ANSWER,
      stats: { models: { m: { tokens: { prompt: 9 } } }, tools: { totalCalls: 2 }, files: { totalLinesAdded: 0 } },
    },
  ],
])("what %s prints as JSON is read: the final answer, and nothing else of it", (_, printed) => {
  const reading = parseAnswer(JSON.stringify(printed, null, 2), { truncated: false, prompt: null });
  expect(reading.kind === "answered" ? reading.entries.map(({ raw }) => raw) : reading).toEqual(["src/A.java", "src/B.java"]);
});
