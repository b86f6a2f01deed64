/**
 * An answer as blocks: fences, headings, list items, tables, plain lines, each with the section that it stands in.
 *
 * A section is opened by a heading or by a line that ends in a colon, and says how its entries count: `excluded` ("Files that do
 * not need changes:"), `dropped` (a tool log, the question), `soft` (analysis, references: read only if nothing else is there).
 * A "Final answer" sets a mark: what stands before it was a draft.
 */
import { mentions } from "./exclusion.js";
import { readWords, type Word } from "./words.js";

export type Section = "open" | "soft" | "excluded" | "dropped";

interface Common {
  readonly section: Section;
  /** Behind the last "final answer" mark, where there is one. */
  final: boolean;
}
export type Block = Common &
  (
    | { readonly type: "fence"; readonly info: string; readonly body: readonly string[]; readonly closed: boolean }
    | { readonly type: "heading"; readonly text: string }
    | { readonly type: "item"; readonly indent: number; readonly text: string; readonly details: string[] }
    | { readonly type: "table"; readonly header: readonly string[] | null; readonly rows: readonly (readonly string[])[] }
    | { readonly type: "line"; readonly text: string; readonly indent: number }
    | { readonly type: "blank" }
  );

const FENCE = /^(\s{0,12})(`{3,}|~{3,})\s*([^`\n]{0,200})$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*$/;
const BOLD_LINE = /^\s{0,3}(?:\*\*|__)([^*]{1,300})(?:\*\*|__)\s*:?\s*$/;
const ITEM =
  /^([ \t]{0,40})(?:(?:[-*+•‣▪◦·●○➤▶►]|[│├└─ ]{1,30}──)\s+|\(?\d{1,4}[.)\]](?:\s+|(?=[`*_\p{L}]))|\[\d{1,3}\]\s+|[a-zA-Z][.)]\s+|#\d{1,3}[:.)]?\s+)(\S.*)$/u;
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$/;
const TABLE_RULE = /^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*){0,40}\|?\s*$/;

const SOFT =
  /^(?:\W{0,4}(?:\d{1,2}[.)]\s)?)(?:step-by-step |my |detailed |brief |root[- ]cause |initial |preliminary |first |the |une? |l')?(?:reason|reasons|reasoning|analysis|explanation|explanations|why|rationale|justification|thoughts?|(?:background|context|notes?|evidence|details|references?|sources?|citations?)(?=\W*$)|draft|guess|hypothesis|hypotheses|files? (?:i )?(?:examined|inspected|read|searched|viewed|opened|considered|looked at|checked|reviewed)|raisonnement|analyse|explications?|justification|pourquoi|brouillon|(?:contexte|références)(?=\W*$))(?![\p{L}\p{N}_])/iu;
const DROPPED =
  /^\W{0,4}(?:tool|tools|tool (?:calls?|logs?|outputs?|results?)|logs?|log output|stack ?traces?|traceback|console output|search (?:log|results?|history)|commands? (?:run|used)|question|the question|issue|issue (?:title|description|text|body)|problem statement|steps to reproduce|prompt|input|trace|journal|pile d'appels|énoncé)\b[^:]{0,60}:?\s*$/i;
const FINAL =
  /\b(?:final|corrected|revised|updated|refined|definitive) (?:answer|list|result|ranking|prediction|output|response|set|locations?|verdict)\b|\b(?:réponse|liste|version) (?:finale|corrigée|définitive)\b|^\W{0,4}(?:answer|réponse|corrected answer|conclusion)\s*:?\s*\W{0,4}$/i;

/** Splits plain text (see `plainText`) into blocks. Linear: each line is looked at a fixed number of times. */
export function readBlocks(text: string): Block[] {
  const lines = unquoted(text.split("\n"));
  const blocks: Block[] = [];
  let heading: Section = "open";
  let leadIn: Section | null = null;
  const section = (): Section => worse(heading, leadIn ?? "open");
  const mark = (line: string): void => {
    if (FINAL.test(line.slice(0, 300))) for (const block of blocks) block.final = false;
  };
  // A mark un-finals all before it; blocks are visited once per mark, so marks are capped.
  let marks = 0;
  const markOnce = (line: string): void => {
    if (marks < 20 && FINAL.test(line.slice(0, 300))) {
      marks++;
      mark(line);
    }
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      blocks.push({ type: "blank", section: section(), final: true });
      continue;
    }
    const fence = FENCE.exec(line);
    if (fence !== null) {
      const end = fenceEnd(lines, at + 1, fence[2] ?? "```");
      const body = lines.slice(at + 1, end.at);
      blocks.push({ type: "fence", info: (fence[3] ?? "").trim(), body, closed: end.closed, section: section(), final: true });
      at = end.at;
      continue;
    }
    if (RULE.test(line) && !TABLE_RULE.test(lines[at + 1] ?? "")) {
      blocks.push({ type: "blank", section: section(), final: true });
      leadIn = null;
      continue;
    }
    if (isTableRow(line) && (TABLE_RULE.test(lines[at + 1] ?? "") || isTableRow(lines[at + 1] ?? ""))) {
      let end = at;
      while (end < lines.length && (isTableRow(lines[end] ?? "") || TABLE_RULE.test(lines[end] ?? ""))) end++;
      blocks.push({ ...table(lines.slice(at, end)), section: section(), final: true });
      at = end - 1;
      continue;
    }
    const title = HEADING.exec(line)?.[2] ?? BOLD_LINE.exec(line)?.[1];
    if (title !== undefined && !ITEM.test(line)) {
      markOnce(title);
      heading = sectionOf(title);
      leadIn = null;
      blocks.push({ type: "heading", text: title, section: heading, final: true });
      continue;
    }
    const item = ITEM.exec(line.replace(/^(\s{0,12})(?:\*\*|__)(?=\(?\d{1,4}[.)])/, "$1"));
    if (item !== null) {
      const content = (item[2] ?? "").replace(/^\[[ xX]\]\s+/, "");
      if (endsWithColon(content)) {
        markOnce(content);
        const kind = sectionOf(content);
        if (kind !== "open" || leadIn !== null) leadIn = kind;
      }
      blocks.push({ type: "item", indent: indentOf(item[1] ?? ""), text: content, details: [], section: section(), final: true });
      continue;
    }
    const previous = blocks.at(-1);
    const indent = indentOf(/^\s*/.exec(line)?.[0] ?? "");
    if (previous?.type === "item" && indent > previous.indent) {
      previous.details.push(line.trim());
      continue;
    }
    if (endsWithColon(line)) {
      markOnce(line);
      leadIn = sectionOf(line);
    } else if (leadIn !== null && /\s/.test(line.trim())) leadIn = /^\S+$/.test(line.trim()) ? leadIn : null;
    else if (leadIn === null) markOnce(line.length < 80 ? line : "");
    blocks.push({ type: "line", text: line.trim(), indent, section: section(), final: true });
  }
  return blocks;
}

/** `> ` marks a quote, of the question as a rule; only an answer that is nothing but quote is read through the marks. */
function unquoted(lines: readonly string[]): readonly string[] {
  const quoted = (line: string): boolean => /^\s{0,3}>/.test(line);
  const all = lines.every((line) => line.trim() === "" || quoted(line));
  return lines.map((line) => (quoted(line) ? (all ? line.replace(/^\s{0,3}>\s?/, "") : "") : line));
}

function worse(a: Section, b: Section): Section {
  const order: readonly Section[] = ["open", "soft", "excluded", "dropped"];
  return order.indexOf(a) >= order.indexOf(b) ? a : b;
}

const PLACEHOLDER: Word = {
  text: "X",
  lower: "x",
  token: { kind: "path", raw: "x/X.java", spellings: ["x/X.java"] },
  quoted: true,
  struck: false,
  stop: "",
  open: false,
};

/** What a heading says about the entries below it: as if the first of them stood at its end. */
function sectionOf(title: string): Section {
  const text = title.slice(0, 400);
  if (FINAL.test(text)) return "open";
  const words = readWords(text.replace(/[()[\]]/g, " "), { prose: true });
  const placed = [...words, PLACEHOLDER];
  const own = words.some((word) => word.token?.kind === "path");
  if (!own && mentions(placed, 0, placed.length).some((one) => one.index === words.length && one.excluded)) return "excluded";
  if (DROPPED.test(text)) return "dropped";
  return SOFT.test(text) ? "soft" : "open";
}

function endsWithColon(text: string): boolean {
  return /[::][*_\s]{0,6}$/.test(text.slice(-12));
}

function indentOf(blanks: string): number {
  let width = 0;
  for (const char of blanks) width += char === "\t" ? 4 : 1;
  return width;
}

function fenceEnd(lines: readonly string[], from: number, mark: string): { at: number; closed: boolean } {
  for (let at = from; at < lines.length; at++) {
    const line = (lines[at] ?? "").trim();
    if (line.length >= mark.length && line === mark.charAt(0).repeat(line.length)) return { at, closed: true };
  }
  return { at: lines.length, closed: false };
}

function isTableRow(line: string): boolean {
  const text = line.trim();
  return text.startsWith("|") && text.endsWith("|") && text.length > 2;
}

function table(lines: readonly string[]): {
  type: "table";
  header: readonly string[] | null;
  rows: readonly (readonly string[])[];
} {
  const cells = (line: string): string[] =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim());
  const ruled = TABLE_RULE.test(lines[1] ?? "");
  const rows = lines.filter((line) => !TABLE_RULE.test(line)).map(cells);
  return ruled ? { type: "table", header: rows[0] ?? [], rows: rows.slice(1) } : { type: "table", header: null, rows };
}

/** An item with its continuation lines, as one paragraph. */
export function itemText(text: string, details: readonly string[]): string {
  return details.length === 0 ? text : `${text} ${details.slice(0, 20).join(" ")}`;
}
