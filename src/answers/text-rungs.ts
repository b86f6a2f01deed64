/**
 * The rungs of the ladder for answers in words: fences that list locations, lists and tables, whole lines, and last of all
 * code spans and running text. The first rung that gives an entry wins, so that a model's reasons below its list aren't read.
 */
import { type Block, itemText, readBlocks } from "./blocks.js";
import { type Candidate, choose, type TextEntry } from "./candidates.js";
import { type Head, type HeadEntry, isPathOf, mergeEntries, readHead } from "./heads.js";
import { fromProse, statedChange } from "./prose.js";
import type { ReadBy } from "./schema.js";
import { isCamel } from "./tokens.js";

/** Entries of an answer in words, from its best rung; empty if it names none. `truncated`: the last line is not whole. */
export function readText(text: string, truncated: boolean): readonly TextEntry[] {
  const blocks = readBlocks(truncated ? wholeLines(text) : text);
  for (const rung of [fromFences, fromLists, fromLines]) {
    const found = choose(rung(blocks));
    if (found.length > 0) return found;
  }
  return fromProse(truncated ? readBlocks(wholeWords(text)) : blocks);
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function wholeWords(text: string): string {
  return text.replace(/[^\s]{1,4096}$/, "");
}

const CODE =
  /^(?:java|kotlin|kt|scala|groovy|python|py|javascript|js|jsx|typescript|ts|tsx|c|cpp|c\+\+|csharp|cs|go|rust|rs|ruby|rb|php|swift|dart|sql|html|xml|css|scss|bash|sh|shell|zsh|console|powershell|toml|ini|properties|makefile|dockerfile|diff|patch|json|jsonc|json5|jsonl)\b/i;

/** A fence is a list of locations when its lines are; otherwise it is code, and code holds no predictions. */
function fromFences(blocks: readonly Block[]): Candidate[] {
  const result: Candidate[] = [];
  for (const block of blocks) {
    if (block.type !== "fence") continue;
    const reader = recordReader("lines");
    let entries = 0;
    let others = 0;
    for (const line of block.body) {
      if (line.trim() === "" || /^\s*(?:#(?!\d)|\/\/|\/\*|\*)/.test(line)) continue;
      const bare = line.replace(/^[\s│├└─]{0,60}(?:[-*+•]\s+|\(?\d{1,4}[.)]\s*|\[\d{1,3}\]\s*)?/u, "");
      const head = readHead(bare, { place: "record" });
      const isEntry = head.type === "entries" || head.type === "excluded";
      if (isEntry && !looksLikeCode(bare)) entries++;
      else if (head.type !== "detail") others++;
      if (!looksLikeCode(bare)) reader.read(head);
    }
    if (entries === 0 || (CODE.test(block.info) && entries < others) || entries * 4 < others) continue;
    for (const entry of reader.entries()) result.push({ entry, section: block.section, final: block.final });
  }
  return result;
}

function looksLikeCode(line: string): boolean {
  return (
    /[{};]\s*$|^\s*(?:import|from|package|using|#include|include|require|return|public|private|class\s+\w+\s*[({:]|def|func|fn|let|const|var|if|for|while)\b.*|=\s*["'`([]/.test(
      line,
    ) && !/^\s*(?:class|file|path)\s*:/i.test(line)
  );
}

function fromLists(blocks: readonly Block[]): Candidate[] {
  const result: Candidate[] = [];
  const parents: { indent: number; kind: "entry" | "excluded" | "other" }[] = [];
  let reader = recordReader("list");
  let at: Block | undefined;
  const flush = (): void => {
    if (at !== undefined) for (const entry of reader.entries()) result.push({ entry, section: at.section, final: at.final });
    reader = recordReader("list");
  };
  let underHeading = false;
  const heads = itemHeads(blocks);
  for (const block of blocks) {
    if (at !== undefined && (block.section !== at.section || block.final !== at.final)) flush();
    at = block;
    if (block.type === "heading") {
      parents.length = 0;
      const head = readHead(block.text, { place: "line" });
      underHeading = head.type === "entries" && head.entries.some((entry) => entry.kind === "path");
      if (head.type === "entries" && (underHeading || head.entries.every((entry) => isNamed(entry)))) reader.read(head);
      else underHeading = head.type === "excluded";
    } else if (block.type === "item") {
      while ((parents.at(-1)?.indent ?? -1) >= block.indent) parents.pop();
      const parent = parents.at(-1)?.kind;
      const head = heads.get(block) ?? { type: "none" };
      // Items below an entry explain it; items below an excluded one are excluded with it.
      const isDetail = parent === "entry" || parent === "excluded" || underHeading;
      if (!isDetail) reader.read(head);
      else if (
        parent !== "excluded" &&
        (head.type !== "entries" || head.label === "path" || isOwnPath(reader.entries().at(-1), head))
      )
        reader.attach(head);
      const excludes = head.type === "excluded";
      parents.push({
        indent: block.indent,
        kind: parent === "excluded" || excludes ? "excluded" : head.type === "entries" || parent === "entry" ? "entry" : "other",
      });
    } else if (block.type === "table") {
      flush();
      for (const entry of readTable(block)) result.push({ entry, section: block.section, final: block.final });
    } else if (block.type === "line") parents.length = 0;
  }
  flush();
  return result;
}

/** A path below the name of a class that is its file: "- **Cart**" / "  - `src/shop/Cart.java`". */
function isOwnPath(last: TextEntry | undefined, head: Extract<Head, { type: "entries" }>): boolean {
  const spelling = head.entries[0]?.spellings[0];
  if (last === undefined || spelling === undefined || head.entries[0]?.kind !== "path") return false;
  return isPathOf(last, { kind: "path", raw: spelling, spellings: [spelling] });
}

/**
 * The head of every item. In a list whose other items have heads, an item that says what must change without starting with it
 * ("Also src/B.java must be adapted") counts too; in a list of mere remarks it does not.
 */
function itemHeads(blocks: readonly Block[]): ReadonlyMap<Block, Head> {
  const heads = new Map<Block, Head>();
  let list: Extract<Block, { type: "item" }>[] = [];
  const finish = (): void => {
    const indent = list[0]?.indent ?? 0;
    const top = list.filter((item) => item.indent <= indent);
    if (top.some((item) => heads.get(item)?.type === "entries")) {
      for (const item of top) {
        const stated = heads.get(item)?.type === "none" ? statedChange(itemText(item.text, item.details)) : [];
        if (stated.length > 0) heads.set(item, { type: "entries", entries: stated, label: null, bare: false });
      }
    }
    list = [];
  };
  for (const block of blocks) {
    if (block.type === "item") {
      heads.set(block, readHead(itemText(block.text, block.details), { place: "item" }));
      list.push(block);
    } else if (block.type !== "blank") finish();
  }
  finish();
  return heads;
}

function isNamed(entry: HeadEntry): boolean {
  return entry.kind === "qualified" || isCamel(entry.spellings[0] ?? "");
}

const ENTRY_COLUMN =
  /^(?:file|files|path|paths|file ?path|file ?name|class|classes|class ?name|module|location|name|fichiers?|chemin|classe|source|target)\b/i;
const VERDICT_COLUMN =
  /\b(?:relevant|relevance|impact|impacted|affected|change|changes|needed|modify|include|concerné|pertinent|verdict|status)\b/i;
const VERDICT_NO =
  /^(?:no|none|false|n|✗|✘|❌|-|non|aucun|not (?:affected|relevant|needed|impacted)|unaffected|unchanged|irrelevant|excluded|no changes?(?: needed)?)$/i;

function readTable(block: Extract<Block, { type: "table" }>): TextEntry[] {
  const header = block.header?.map((cell) => cell.replace(/[*_`]/g, "").trim()) ?? [];
  const named = header.flatMap((cell, index) => (ENTRY_COLUMN.test(cell) ? [index] : []));
  const verdicts = header.flatMap((cell, index) => (VERDICT_COLUMN.test(cell) && !named.includes(index) ? [index] : []));
  const result: TextEntry[] = [];
  for (const row of block.rows) {
    if (verdicts.some((index) => VERDICT_NO.test((row[index] ?? "").replace(/[*_`]/g, "").trim()))) continue;
    const columns = named.length > 0 ? named : row.map((_, index) => index);
    let best: HeadEntry | null = null;
    let excluded = false;
    for (const index of columns) {
      const head = readHead(row[index] ?? "", { place: "item" });
      if (head.type === "excluded") excluded = true;
      if (head.type !== "entries") continue;
      const cell = head.entries;
      if (best === null) {
        best = cell[0] ?? null;
        // A cell that lists several files makes several entries.
        for (const more of cell.slice(1)) result.push({ ...more, readBy: "table" });
      } else {
        const other = cell[0];
        if (other !== undefined)
          best = best.kind === "path" ? mergeEntries(best, other) : other.kind === "path" ? mergeEntries(other, best) : best;
      }
      if (named.length === 0 && best?.kind === "path") break;
    }
    if (best !== null && !excluded) result.push({ ...best, readBy: "table" });
  }
  return result;
}

function fromLines(blocks: readonly Block[]): Candidate[] {
  const result: Candidate[] = [];
  let reader = recordReader("lines");
  let at: Block | undefined;
  const flush = (): void => {
    if (at !== undefined) for (const entry of reader.entries()) result.push({ entry, section: at.section, final: at.final });
    reader = recordReader("lines");
  };
  for (const block of blocks) {
    if (block.type !== "line") continue;
    if (at !== undefined && (block.section !== at.section || block.final !== at.final)) flush();
    at = block;
    const head = readHead(block.text, { place: "line" });
    reader.read(head, /^[\s(*_]*`/.test(block.text) ? "code-span" : "lines");
  }
  flush();
  return result;
}

/** Joins the lines of one record (`File:`, `Class:`, `Lines:`) to one entry. */
function recordReader(readBy: ReadBy): {
  read: (head: Head, by?: ReadBy) => void;
  attach: (head: Head) => void;
  entries: () => readonly TextEntry[];
} {
  const entries: TextEntry[] = [];
  let lastLabel: "path" | "name" | "other" | null = null;
  const attach = (head: Head): void => {
    const last = entries.at(-1);
    const [path] = head.type === "entries" ? head.entries : [];
    if (last !== undefined && last.kind !== "path" && path?.kind === "path") {
      // `Path: ...` below the name of its class.
      entries[entries.length - 1] = { ...mergeEntries(path, last), readBy: last.readBy };
      return;
    }
    if (last === undefined || head.type !== "detail" || last.lines !== undefined) return;
    if (!/^(?:lines?|line numbers?|line range|lignes?)$/.test(head.label)) return;
    const numbers = [...head.value.slice(0, 80).matchAll(/\d{1,7}/g)].map((match) => Number(match[0]));
    const first = numbers[0];
    if (first === undefined || first < 1) return;
    const second = /^\D{0,6}\d+\s*(?:[-–—]|to|à)\s*L?\d/.test(head.value) ? (numbers[1] ?? first) : first;
    entries[entries.length - 1] = { ...last, lines: [Math.min(first, second), Math.max(first, second)] };
  };
  return {
    read: (head, by) => {
      if (head.type === "detail") attach(head);
      if (head.type !== "entries") return;
      const last = entries.at(-1);
      const first = head.entries[0];
      if (head.label === "name" && last?.kind === "path" && first?.kind !== "path") {
        return; // The class inside the file above.
      }
      if (head.label === "path" && last !== undefined && last.kind !== "path" && first?.kind === "path" && lastLabel === "name") {
        entries[entries.length - 1] = { ...mergeEntries(first, last), readBy: last.readBy };
        lastLabel = "path";
        return;
      }
      lastLabel = head.label;
      for (const entry of head.entries) entries.push({ ...entry, readBy: by ?? readBy });
    },
    attach,
    entries: () => entries,
  };
}
