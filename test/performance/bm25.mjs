// Part of `npm run bench`: how fast the bm25 backend's index is made and asked, beside SQLite's FTS5 on the same files and questions.
// The files: BENCH_JAVA_SOURCES (a folder), else Debian's openjdk-17-source where it is installed, else a tree of invented words.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { median, ROUNDS, root } from "./measure.mjs";

const MOST_FILES = 3_000;
const QUERIES = 200;

export async function bm25(folder) {
  const [{ Bm25Index }, { tokenize }] = await Promise.all(
    ["bm25-index.js", "tokenize.js"].map((name) => import(join(root, "dist", "backends", name))),
  );
  const { files, what } = javaFiles(folder);
  const bytes = files.reduce((sum, { text }) => sum + text.length, 0);
  // Questions as people put them: some words of one file, of all lengths.
  const questions = Array.from({ length: QUERIES }, (_, n) => {
    const words = files[(n * 37) % files.length].text.match(/[A-Za-z]{4,}/g) ?? ["nothing"];
    return Array.from({ length: 5 + (n % 20) }, (_, i) => words[(n * 13 + i * 101) % words.length]).join(" ");
  });
  const ours = rounds(async () => {
    const index = new Bm25Index();
    for (const { path, text } of files) index.add(path, [...tokenize(path), ...tokenize(text)]);
    return {
      ask: async () => questions.map((question) => index.search(tokenize(question), { k1: 1.2, b: 0.75, top: 15 })),
      close: async () => {},
    };
  });
  const sqlite = createRequire(import.meta.resolve("@keyv/sqlite"))("sqlite3");
  const theirs = rounds(async () => {
    const db = new sqlite.Database(":memory:");
    const all = (sql, ...values) =>
      new Promise((resolve, reject) => db.all(sql, values, (error, rows) => (error ? reject(error) : resolve(rows))));
    await all("CREATE VIRTUAL TABLE files USING fts5(path, text)");
    await all("BEGIN");
    for (const { path, text } of files) await all("INSERT INTO files VALUES (?, ?)", path, text);
    await all("COMMIT");
    return {
      ask: async () => {
        for (const question of questions) {
          const words = [...new Set(question.split(" "))].map((word) => `"${word}"`).join(" OR ");
          await all("SELECT path FROM files WHERE files MATCH ? ORDER BY bm25(files) LIMIT 15", words);
        }
      },
      close: () => new Promise((resolve) => db.close(resolve)),
    };
  });
  const [a, b] = [await ours, await theirs];
  const rate = ({ index, ask }) => `index ${Math.round(files.length / index)} files/s, ${Math.round(QUERIES / ask)} questions/s`;
  console.log(`bm25, ${what}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`);
  console.log(`  bench: ${rate(a)}; SQLite FTS5: ${rate(b)}`);
  console.log(`  bench/FTS5 in time: index ${(a.index / b.index).toFixed(2)}, questions ${(a.ask / b.ask).toFixed(2)}`);
}

async function rounds(build) {
  const times = { index: [], ask: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    const made = await build();
    const built = performance.now();
    await made.ask();
    times.index.push((built - began) / 1000);
    times.ask.push((performance.now() - built) / 1000);
    await made.close();
  }
  return { index: median(times.index), ask: median(times.ask) };
}

function javaFiles(folder) {
  const given = process.env.BENCH_JAVA_SOURCES;
  if (given !== undefined) return { files: filesIn(given), what: "the given sources" };
  const jvm = "/usr/lib/jvm";
  const archive = (existsSync(jvm) ? readdirSync(jvm) : [])
    .map((name) => join(jvm, name, "lib", "src.zip"))
    .find((path) => existsSync(path));
  if (archive !== undefined) {
    const into = join(folder, "jdk");
    if (spawnSync("unzip", ["-q", archive, "java.base/java/*", "-d", into]).status === 0)
      return { files: filesIn(into), what: "sources of the JDK (java.base)" };
  }
  return { files: invented(), what: "invented sources (no JDK sources here)" };
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith(".java"))
    .sort()
    .slice(0, MOST_FILES)
    .map((path) => ({ path, text: readFileSync(join(folder, path), "utf8") }));
}

/** Words as frequent as in a language (Zipf), by a generator of a fixed seed. */
function invented() {
  let state = 42;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const word = () => `word${"abcdefghijklmnop"[Math.floor(next() * 16)]}${Math.floor(1 / (next() + 1e-4))}`;
  return Array.from({ length: 1_500 }, (_, n) => ({
    path: `src/p${n % 40}/Class${n}.java`,
    text: Array.from({ length: 800 }, word).join(" "),
  }));
}
