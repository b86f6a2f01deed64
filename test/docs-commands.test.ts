/** Every command line in the documentation names a command that is there and options that it has. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/cli/commands.js";

const root = resolve(import.meta.dirname, "..");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

/** Lines of code blocks, and code within lines, that begin with `bench`. */
function commandLines(text: string): string[] {
  const blocks = [...text.matchAll(/^```(?:sh|bash|console|text|yaml)?\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) =>
    block.split("\n"),
  );
  const inline = [...text.matchAll(/`(bench [^`\n]+)`/g)].map(([, code = ""]) => code);
  return [...blocks.map((line) => line.replace(/^\s*(?:- run: |run: )?(?:\$ )?(?:npx )?(?=bench )/, "")), ...inline].filter(
    (line) => line.startsWith("bench "),
  );
}

describe("command lines of the documentation", () => {
  test.each(pages)("%s", async (page) => {
    const wrong: string[] = [];
    for (const line of commandLines(readFileSync(join(root, page), "utf8"))) {
      const words = line.replace(/\s#.*$/, "").split(/\s+/);
      const name = words[1] ?? "";
      if (!/^[a-z]/.test(name)) continue;
      const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
      if (entry === undefined) {
        wrong.push(`${line}: no command ${name}`);
        continue;
      }
      const known = new Set(
        (await entry.load()).command.options.flatMap(({ flag }) =>
          [...flag.matchAll(/--([a-z][a-z-]*)/g)].map(([, option]) => option),
        ),
      );
      for (const [, option] of line.matchAll(/\s--([a-z][a-z-]*)/g))
        if (option !== "help" && !known.has(option)) wrong.push(`${line}: no option --${option}`);
    }
    expect(wrong).toEqual([]);
  });

  test("the book names every page", () => {
    const book = readFileSync(join(root, "docs/README.md"), "utf8");
    const others = pages
      .map((page) => page.replace(/^docs\//, ""))
      .filter(
        (page) =>
          !["README.md"].includes(page) &&
          !/^backends\/(?:bm25|embedding|empty|hybrid|lsa|names|oracle|popularity|random)\.md$/.test(page),
      );
    expect(others.filter((page) => !book.includes(page))).toEqual([]);
  });
});
