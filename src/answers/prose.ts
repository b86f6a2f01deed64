/**
 * The last rung: code spans and running text.
 */
import { type Block, itemText } from "./blocks.js";
import { type Candidate, choose, type TextEntry } from "./candidates.js";
import { mentions, sentences } from "./exclusion.js";
import { fromToken, type HeadEntry } from "./heads.js";
import { isRefusalOrAbstention } from "./refusals.js";
import { isCamel } from "./tokens.js";
import { isEntryToken, readWords, type Word } from "./words.js";

interface Mentioned extends Candidate {
  readonly quoted: boolean;
  reason: boolean;
  /** Its sentence draws a conclusion. */
  readonly concludes: boolean;
}

/**
 * Code spans and running text. What the sentence excludes is out; what it names as a reason counts only if nothing else is
 * named; and only the best kind found counts (paths before qualified names before class names), for an answer that gives
 * paths uses names to explain.
 */
export function fromProse(blocks: readonly Block[]): readonly TextEntry[] {
  const found: Mentioned[] = [];
  let paragraph: string[] = [];
  let at: Block | undefined;
  const flush = (): void => {
    if (at !== undefined && paragraph.length > 0) found.push(...readParagraph(paragraph.join(" "), at));
    paragraph = [];
  };
  for (const block of blocks) {
    if (block.type === "line" && at?.section === block.section && at.final === block.final) paragraph.push(block.text);
    else {
      flush();
      at = block;
      if (block.type === "line") paragraph.push(block.text);
      else if (block.type === "item") found.push(...readParagraph(itemText(block.text, block.details), block));
      else if (block.type === "heading") found.push(...readParagraph(block.text, block));
    }
  }
  flush();
  // "Therefore ...": what was named before led there.
  const conclusion = found.findLastIndex((one) => one.concludes);
  const start = conclusion < 0 ? -1 : found.findIndex((one) => one.concludes && one.entry.kind === found[conclusion]?.entry.kind);
  if (start > 0) for (const one of found.slice(0, start)) one.reason = true;
  const stated = found.filter((one) => !one.reason);
  const pool = stated.length > 0 ? stated : found;
  for (const kind of ["path", "qualified", "simple"] as const) {
    const best = choose(pool.filter((one) => one.entry.kind === kind));
    if (best.length > 0) return best;
  }
  return [];
}

function readParagraph(text: string, block: Block): Mentioned[] {
  if (block.section === "excluded" || block.section === "dropped") return [];
  const words = readWords(text, { prose: true });
  markNames(words);
  const result: Mentioned[] = [];
  for (const [from, to] of sentences(words)) {
    const said = mentions(words, from, to);
    if (said.length === 0) continue;
    if (
      isRefusalOrAbstention(
        words
          .slice(from, to)
          .map((word) => word.text)
          .join(" "),
      )
    )
      continue;
    for (const one of said) {
      const word = words[one.index];
      if (one.excluded || word?.token === undefined || word.token === null) continue;
      const { token } = word;
      const raw = token.raw;
      if (token.kind === "simple" && !(word.quoted ? isCamel(raw) || /^\p{Lu}{2,}$/u.test(raw) : word.named === true)) continue;
      if (token.kind === "qualified" && (/^javax?\./.test(raw) || (!/\p{Lu}/u.test(raw) && raw.split(/\.|::/).length < 3)))
        continue;
      result.push({
        entry: { ...fromToken(token), readBy: word.quoted ? "code-span" : "prose" },
        section: block.section,
        final: block.final,
        quoted: word.quoted,
        reason: one.reason,
        concludes:
          /^(?:therefore|thus|hence|consequently|accordingly|donc|ainsi)$/.test(words[from]?.lower ?? "") &&
          !words.slice(from, to).some((word) => /^(?:also|too|aussi|both)$/.test(word.lower)),
      });
    }
  }
  return result;
}

const CHANGE =
  /^(?:must|should|needs?|requires?|chang\p{L}*|modif\p{L}*|adapt\p{L}*|updat\p{L}*|fix\p{L}*|adjust\p{L}*|affected|impacted|extended|doit|doivent|faut|corrig\p{L}*)$/u;

/** Paths that a remark says must change; what it excludes or gives as a reason is none. */
export function statedChange(text: string): readonly HeadEntry[] {
  const words = readWords(text, { prose: true });
  const [range] = sentences(words);
  if (range === undefined || !words.slice(...range).some((word) => CHANGE.test(word.lower))) return [];
  return mentions(words, ...range).flatMap((one) => {
    const token = words[one.index]?.token;
    return one.excluded || one.reason || token?.kind !== "path" ? [] : [fromToken(token)];
  });
}

/** Names with capitals that are no class of anyone's corpus. */
const NO_CLASS =
  /^(?:JavaScript|TypeScript|Java|Python|Kotlin|GitHub|GitLab|BitBucket|GraphRAG|LightRAG|OpenAI|ChatGPT|IntelliJ|MySQL|PostgreSQL|MongoDB|JavaDoc|Javadoc|YouTube|LinkedIn|StackOverflow|NullPointerException|IllegalArgumentException|IllegalStateException|IndexOutOfBoundsException|ClassCastException|RuntimeException|IOException|TypeError|ValueError|KeyError|AttributeError|README|JSON5|UTF8|UTF16|ISO8859|API|HTTP|URL|LLM|AI|I|PR)$/;

/** "The change touches Cookie": behind these a capitalised word is a name. */
const NAMING_WORD =
  /^(?:touch|touches|affect|affects|impact|impacts|modify|modifies|update|updates|change|changes|fix|fixes|involve|involves|class|classes|classe|touche|concerne|modifie|impacte|interface|enum)$/;

/**
 * Marks bare class names: those with an inner capital, those behind a naming word, and what a list joins to either of them.
 * So "touches CartTest, Yearly and Order" names three, and "Yearly reports are wrong" none.
 */
function markNames(words: readonly Word[]): void {
  const bare = (word: Word | undefined): boolean =>
    word?.token?.kind === "simple" && isEntryToken(word.token) && !NO_CLASS.test(word.token.raw);
  const isAnd = (at: number): boolean => /^(?:and|or|et|ou|&)$/.test(words[at]?.lower ?? "");
  const joins = (at: number): boolean => /,/.test(words[at]?.stop ?? "") || isAnd(at + 1);
  words.forEach((word, at) => {
    if (bare(word)) word.named = isCamel(word.token?.raw ?? "") || NAMING_WORD.test(words[at - 1]?.lower ?? "");
  });
  const spread = (at: number, from: number): void => {
    const word = words[at];
    if (word !== undefined && bare(word) && words[from]?.named === true) word.named = true;
  };
  for (let at = 0; at < words.length; at++) if (joins(at)) spread(isAnd(at + 1) ? at + 2 : at + 1, at);
  for (let at = words.length - 1; at > 0; at--) {
    const before = isAnd(at - 1) ? at - 2 : at - 1;
    // The first word of a sentence is capitalised anyway.
    if (before > 0 && joins(before) && !/[.!?]/.test(words[before - 1]?.stop ?? ".")) spread(before, at);
  }
}
