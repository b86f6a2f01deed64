/** The page for users of the original: every row has a right side, and what a row names exists. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { builtInBackends } from "../backends/registry.js";
import { stageKinds } from "../stages/registry.js";
import type { Io } from "./contract.js";
import { main } from "./main.js";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/coming-from-benchmark-graphrag.md"), "utf8");

interface Row {
  original: string;
  here: string;
  remarks: string;
}

function rows(): Row[] {
  return page
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^[|\s-]+$/.test(line) && !line.startsWith("| original "))
    .map((line) => {
      const [, original = "", here = "", remarks = ""] = line.split("|").map((cell) => cell.trim());
      return { original, here, remarks };
    });
}

async function helpOf(command: string): Promise<{ exit: number; text: string }> {
  let text = "";
  const io: Io = {
    stdout: (more) => {
      text += more;
    },
    stderr: () => {},
    env: {},
    cwd: ".",
    terminal: { isTTY: false, columns: 80, colour: false },
    interrupted: new AbortController().signal,
  };
  return { exit: await main([command, "--help"], io), text };
}

/** Names of a strict object's options, also behind refinements. */
function optionsOf(schema: z.ZodType): string[] {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as { properties?: object };
  return Object.keys(json.properties ?? {});
}

test("every option of the original has its row", () => {
  const left = rows()
    .map(({ original }) => original)
    .join(" ");
  for (const option of [
    ..."repos --output-dir --token --issue-limit --max-issues --progress-every mined_file --output-file --bootstrap-samples".split(
      " ",
    ),
    ..."--bootstrap-seed --extra-prompt --include-empty-java --keep-raw-response --dry-run --graphrag-dir --method".split(" "),
    ..."--execution-mode --data-dir --timeout-seconds --project-root --provider --model --base-url --api-key --temperature".split(
      " ",
    ),
    ..."--max-tokens --system-prompt --colgrep-bin --results --include-pattern --file-extension --sampling-strategy".split(" "),
    ..."--random-n-min --random-n-max --seed --end-token --no-copy-query-to-clipboard benchmark_file".split(" "),
  ]) {
    expect(left, option).toContain(`\`${option}\``);
  }
});

test("no row has an empty right side; what it names exists", async () => {
  const kinds = await stageKinds({ extensions: [], folder: "." });
  if (!kinds.ok) throw new Error(kinds.error);
  const schemas = new Map<string, z.ZodType>([
    ...[...kinds.value].map(([name, kind]) => [name, kind.config] as const),
    ...[...builtInBackends].map(([name, kind]) => [name, kind.options as z.ZodType] as const),
  ]);
  let checked = 0;
  for (const row of rows()) {
    expect(row.here, row.original).not.toBe("");
    for (const [, span = ""] of row.here.matchAll(/`([^`]+)`/g)) {
      checked += 1;
      const [first = "", command = "", option] = span.split(" ");
      if (first === "bench") {
        const { exit, text } = await helpOf(command);
        expect([span, exit]).toEqual([span, 0]);
        if (option?.startsWith("-")) expect(text, span).toMatch(new RegExp(`^\\s*${option}\\b`, "m"));
        continue;
      }
      const [kind = "", name] = span.split(".");
      const schema = schemas.get(kind);
      expect(schema, span).toBeDefined();
      if (name !== undefined && schema !== undefined) expect(optionsOf(schema), span).toContain(name);
    }
  }
  expect(checked).toBeGreaterThan(40);
});
