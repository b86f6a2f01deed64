/**
 * Is a YAML text fit to be handed to the library at all? It composes recursively and, deep enough, brings the whole process down (not an
 * exception). So size and depth are looked at while tokens stream out of its iterative parser, before anything recursive runs.
 */
import { Lexer, Parser } from "yaml";

/** Small files that people write: rules, prices. */
const MOST_CHARACTERS = 256 * 1024;
const MOST_DEPTH = 32;

/** What is wrong, with the offset of the place; null = it may be read. Linear. */
export function yamlProblem(text: string): { readonly message: string; readonly offset: number } | null {
  if (text.length > MOST_CHARACTERS)
    return {
      message: `the file has ${text.length} characters, and at most ${MOST_CHARACTERS} are read: is it the right file?`,
      offset: 0,
    };
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MOST_DEPTH)
      return { message: `it is nested more than ${MOST_DEPTH} levels deep`, offset: parser.offset };
  }
  return null;
}
