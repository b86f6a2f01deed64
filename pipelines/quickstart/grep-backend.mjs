// A system under test of twenty lines, for the `command` backend: the question comes on standard input, the folder to search as argument,
// and the answer goes to standard output as JSON. It counts in how many lines of a file a word of the question's title occurs.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const corpus = process.argv[2];
const [title = ""] = readFileSync(0, "utf8").split("\n");
const words = new Set(
  title
    .split(/[^A-Za-z0-9_]+/)
    .filter((word) => word.length > 3)
    .map((word) => word.toLowerCase()),
);

const found = readdirSync(corpus, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const lines = readFileSync(path, "utf8").toLowerCase().split("\n");
    const score = lines.filter((line) => [...words].some((word) => line.includes(word))).length;
    return { path: relative(corpus, path).split(sep).join("/"), score };
  })
  .filter(({ score }) => score > 0)
  .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
  .slice(0, 10);
console.log(JSON.stringify({ classes: found }));
