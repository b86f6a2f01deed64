import { expect, test } from "vitest";
import { processorSeconds } from "../../test/rigs/processor-time.js";
import { readTrecDataset } from "./trec-topics.js";

const QRELS = "301 0 src/A.java 2\n301 0 src/B%20c.java 1\n301 0 src/No.java 0\n302 0 src/D.java 1\n";

function read(topics: string, qrels = QRELS) {
  const found = readTrecDataset(topics, qrels, "robust");
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

const OLD = `<top>
<num> Number: 301
<title> Parser loses
lines
<desc> Description:
It &amp; its friends.
<narr> Narrative:
Only files.
</top>

<top>
<num>302</num><title>Second</title>
</top>
<top><num>303<title>Nobody judged this</top>`;

test("the old mark-up, closed or not", () => {
  const { dataset, bad, notes } = read(OLD);
  expect(bad).toEqual([]);
  expect(dataset.cases.map(({ id, number, title, body }) => [id, number, title, body])).toEqual([
    ["301", 301, "Parser loses lines", "It & its friends.\n\nOnly files."],
    ["302", 302, "Second", ""],
    ["303", 303, "Nobody judged this", ""],
  ]);
  expect(dataset.cases[0]?.targets.map(({ path, grade }) => [path, grade])).toEqual([
    ["src/A.java", 2],
    ["src/B c.java", 1],
  ]);
  expect(dataset.cases[2]?.targets).toEqual([]);
  expect(notes).toEqual([expect.stringContaining("1 documents are judged"), expect.stringContaining("1 of 3 topics")]);
});

test("XML", () => {
  const { dataset } = read(
    `<topics task="x"><topic number="301"><query>q &lt;1&gt;</query><question>which?</question><narrative>n</narrative></topic><topic number="302">bare words</topic></topics>`,
  );
  expect(dataset.cases.map(({ id, title, body }) => [id, title, body])).toEqual([
    ["301", "q <1>", "which?\n\nn"],
    ["302", "bare words", ""],
  ]);
});

test("lines of id, tab, text; ids as our own files encode them", () => {
  const { dataset, bad } = read("a%20b\tfirst\n302\tsecond\n\nno tab\n", "a%20b 0 x.java 1\n302 0 y.java 1\n999 0 z.java 1\n");
  expect(dataset.cases.map(({ id, targets }) => [id, targets[0]?.path])).toEqual([
    ["a b", "x.java"],
    ["302", "y.java"],
  ]);
  expect(bad.map(({ what }) => what)).toEqual(["the qrels judge 999, which is no topic"]);
});

test("what is no topics file, and broken qrels, are said", () => {
  expect(readTrecDataset("nothing", QRELS, "x")).toEqual({ ok: false, error: expect.stringContaining("holds no topic") });
  expect(readTrecDataset(OLD, "301 0 a\n", "x")).toEqual({ ok: false, error: expect.stringContaining("line 1") });
});

test("hostile text takes no time", () => {
  const seconds = processorSeconds(() => {
    readTrecDataset(`<top>${"<num>".repeat(100_000)}${" ".repeat(100_000)}`, QRELS, "x");
    readTrecDataset(`<topic ${"number =".repeat(50_000)}`, QRELS, "x");
  });
  expect(seconds).toBeLessThan(5);
});
