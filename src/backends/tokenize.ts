/**
 * Text and source code to index terms, whatever the language.
 *
 * People write "the plugin manager", code says `PluginManager`, a stack trace says `pluginManager.onResume`: an identifier therefore
 * gives its parts *and* itself. It is split at changes of case (`XMLParser` -> `xml`, `parser`), at `_` and `$`, and between
 * letters and digits. Nothing is stemmed and no word is dropped as too common: BM25's idf already weighs those down, and a
 * list of stop words would belong to one language. Single letters and digits are dropped: they are loop variables and pieces
 * of version numbers. (Letters without case are kept: one ideograph is a word.)
 */

/** A longer run of letters is data (base64, minified code) and not a name that anybody types: only its parts count. */
const LONGEST_WHOLE_WORD = 64;

const WORD = /[\p{L}\p{M}\p{N}_$]+/gu;
// The lookahead gives back at most one capital (`XMLP|arser`), so that matching stays linear.
const PART = /\p{Lu}[\p{Ll}\p{M}]+|\p{Lu}+(?![\p{Ll}\p{M}])|[\p{Ll}\p{M}\p{Lo}\p{Lm}\p{Lt}]+|\p{N}+/gu;

const SINGLE = /^[\p{Lu}\p{Ll}\p{M}\p{N}]$/u;

/** Lower-case terms in the order of the text: for each word its parts, after the whole word where there are several parts. */
export function tokenize(text: string): string[] {
  const terms: string[] = [];
  // Composed and decomposed spellings of one name are the same name.
  for (const [word] of text.normalize("NFC").matchAll(WORD)) {
    const parts = word.match(PART);
    if (parts === null) continue;
    if (parts.length > 1 && word.length <= LONGEST_WHOLE_WORD) terms.push(word.toLowerCase());
    for (const part of parts) if (part.length > 1 || !SINGLE.test(part)) terms.push(part.toLowerCase());
  }
  return terms;
}
