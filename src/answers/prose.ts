/**
 * The last rung: code spans and running text.
 */
import { type Block, itemText } from "./blocks.js";
import { type Candidate, choose, type TextEntry } from "./candidates.js";
import { mentions, sentences } from "./exclusion.js";
import { fromToken } from "./heads.js";
import { isRefusalOrAbstention } from "./refusals.js";
import { isCamel } from "./tokens.js";
import { readWords } from "./words.js";

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
      if (
        token.kind === "simple" &&
        !(word.quoted ? isCamel(raw) || /^\p{Lu}{2,}$/u.test(raw) : isClassMention(words, from, to, raw))
      )
        continue;
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

/** Names with an inner capital that are no class of anyone's corpus. */
const NO_CLASS =
  /^(?:JavaScript|TypeScript|GitHub|GitLab|BitBucket|GraphRAG|LightRAG|OpenAI|ChatGPT|IntelliJ|MySQL|PostgreSQL|MongoDB|JavaDoc|Javadoc|YouTube|LinkedIn|StackOverflow|NullPointerException|IllegalArgumentException|IllegalStateException|IndexOutOfBoundsException|ClassCastException|RuntimeException|IOException|TypeError|ValueError|KeyError|AttributeError|README|JSON5|UTF8|UTF16|ISO8859)$/;

/** "the class that must change is JSONObject": in running text a bare name needs a sentence that speaks of classes or files. */
function isClassMention(words: readonly { readonly lower: string }[], from: number, to: number, raw: string): boolean {
  if (!isCamel(raw) || NO_CLASS.test(raw)) return false;
  for (let index = from; index < Math.min(to, from + 200); index++) {
    if (
      /^(?:class|classe|classes|interface|enum|record|struct|trait|file|files|fichier|fichiers)$/.test(words[index]?.lower ?? "")
    )
      return true;
  }
  return false;
}
