/**
 * Classes and functions of source files, by tree-sitter grammars compiled to WebAssembly: no compiler, no native add-on, the same result on
 * every machine. Parser and grammars are loaded when the first file of a language is read, and once.
 *
 * A grammar reads on behind syntax errors, so a file that does not compile has definitions all the same.
 */
import { fileURLToPath } from "node:url";
import type { Node, Parser, Tree } from "web-tree-sitter";
import type { Definition } from "../base/definitions.js";
import { type Language, languageOf } from "./languages.js";

/** Raised when the same text would give other definitions: part of the key of whatever is made of them. */
export const GRAMMARS_VERSION = 1;

/** UTF-16 code units; a larger file is generated, or a trap. */
const MAX_TEXT = 4_000_000;
/** Steps of the parser (each a hundred operations) before it gives up: a count and no time, so that slow machines give up on the same files. */
const MAX_STEPS = 400_000;
/** Deeper nesting is no program that a person wrote. */
const MAX_NAME = 1000;

const parsers = new Map<string, Promise<Parser>>();

/** In the order of the file. Null where no grammar reads the file, or the parser gave up on it. */
export async function definitionsOf(path: string, text: string): Promise<Definition[] | null> {
  const language = languageOf(path);
  if (language === null || text.length > MAX_TEXT) return null;
  const parser = await parserOf(language.grammar);
  let steps = 0;
  const tree = parser.parse(text, null, {
    progressCallback: () => {
      steps += 1;
      return steps > MAX_STEPS;
    },
  });
  if (tree === null) {
    parser.reset();
    return null;
  }
  try {
    return collect(tree, language);
  } finally {
    tree.delete();
  }
}

function parserOf(grammar: string): Promise<Parser> {
  const known = parsers.get(grammar);
  if (known !== undefined) return known;
  const made = load(grammar);
  parsers.set(grammar, made);
  made.catch(() => parsers.delete(grammar));
  return made;
}

async function load(grammar: string): Promise<Parser> {
  const { Language: Grammar, Parser: Reader } = await import("web-tree-sitter");
  await Reader.init();
  const file = fileURLToPath(import.meta.resolve(`tree-sitter-wasms/out/tree-sitter-${grammar}.wasm`));
  const parser = new Reader();
  parser.setLanguage(await Grammar.load(file));
  return parser;
}

interface Scope {
  readonly depth: number;
  readonly name: string;
}

/** A cursor and no recursion: files may nest deeper than a stack. */
function collect(tree: Tree, language: Language): Definition[] {
  const definitions: Definition[] = [];
  const scopes: Scope[] = [];
  const cursor = tree.walk();
  let depth = 0;
  try {
    for (;;) {
      const found = visit(cursor.nodeType, () => cursor.currentNode, language);
      if (found !== null && found !== "opaque") {
        const around = scopes.at(-1)?.name;
        const name = around === undefined ? found.name : `${around}.${found.name}`;
        if (found.kind !== "scope" && name.length <= MAX_NAME) definitions.push({ kind: found.kind, name, lines: found.lines });
        scopes.push({ depth, name: name.slice(0, MAX_NAME + 1) });
      }
      if (found !== "opaque" && cursor.gotoFirstChild()) {
        depth += 1;
        continue;
      }
      for (;;) {
        if (scopes.at(-1)?.depth === depth) scopes.pop();
        if (cursor.gotoNextSibling()) break;
        if (!cursor.gotoParent()) return definitions;
        depth -= 1;
      }
    }
  } finally {
    cursor.delete();
  }
}

interface Found {
  readonly kind: Definition["kind"] | "scope";
  readonly name: string;
  readonly lines: Definition["lines"];
}

function visit(type: string, current: () => Node, language: Language): Found | "opaque" | null {
  if (language.opaque.has(type)) return "opaque";
  const holds = language.holders.get(type);
  const kind = language.classes.has(type)
    ? "class"
    : language.functions.has(type)
      ? "function"
      : language.scopes.has(type)
        ? "scope"
        : null;
  if (kind === null && holds === undefined) return null;
  const node = current();
  if (!node.isNamed) return null;
  if (kind !== null) {
    const name = nameOf(node, language);
    return name === null ? null : { kind, name, lines: linesOf(node, language) };
  }
  const held = holds === undefined ? null : node.childForFieldName(holds);
  if (held === null) return null;
  const isClass = held.type === "class";
  if (!isClass && !["arrow_function", "function_expression", "generator_function"].includes(held.type)) return null;
  const name = nameOfHolder(node);
  return name === null ? null : { kind: isClass ? "class" : "function", name, lines: linesOf(node, language) };
}

function nameOf(node: Node, { names }: Language): string | null {
  const known = names.get(node.type);
  if (typeof known === "string") return known;
  const child =
    known === undefined
      ? node.childForFieldName("name")
      : (node.namedChildren.find((one) => one !== null && known.includes(one.type)) ?? null);
  return child === null ? null : plainName(child.text);
}

/** Of what holds a function: a variable, a member, or the last part of what is assigned to (`A.prototype.run` is `A.run`). */
function nameOfHolder(node: Node): string | null {
  const target = ["name", "property", "key", "left"]
    .map((field) => node.childForFieldName(field))
    .find((child) => child !== null);
  if (target === undefined || target === null) return null;
  const parts = plainName(target.text)?.split(".") ?? [];
  const own = parts.filter((part) => !["prototype", "module", "exports", "this", "window"].includes(part));
  return own.length === 0 ? null : own.join(".");
}

/** Quotes taken off; a computed or destructured name is none. */
function plainName(text: string): string | null {
  const plain = text.replace(/^(["'`])(.*)\1$/, "$2");
  return plain.length <= 300 && /^[#@$\p{L}_][$\p{L}\p{N}_.\-/]*$/u.test(plain) ? plain : null;
}

function linesOf(node: Node, { wrappers }: Language): Definition["lines"] {
  const { parent } = node;
  const from = parent !== null && wrappers.has(parent.type) ? parent : node;
  const { row, column } = node.endPosition;
  // What ends at the beginning of a line does not have that line.
  const last = column === 0 && row > from.startPosition.row ? row - 1 : row;
  return [from.startPosition.row + 1, last + 1];
}
