/**
 * YAML text -> tree with places.
 *
 * Input is hostile. The library composes recursively and, deep enough, brings the whole process down (not an exception), so
 * depth is limited while tokens stream out of its iterative parser, before anything recursive runs. Aliases are resolved here, with
 * limits on what they expand to. Merge keys stay off, tags are refused, and so is everything that has no faithful JSON form.
 */
import { Composer, type CST, type Document, isAlias, isMap, isScalar, isSeq, Lexer, Parser } from "yaml";
import type { Mistakes, Span } from "./mistakes.js";
import type { Member, SourceNode } from "./tree.js";
import { code } from "./words.js";

export const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;
/** Nodes after aliases are expanded; a pipeline of hundreds of stages has some thousands. */
const MAX_NODES = 200_000;
const MAX_SYNTAX_ERRORS = 20;

/** After these the rest of the tree is as the person meant it; after any other, further checks would be noise. */
const HARMLESS = new Set(["TAB_AS_INDENT", "BAD_SCALAR_START", "TAG_RESOLVE_FAILED", "BAD_DQ_ESCAPE"]);

const ADVICE: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces",
  BAD_SCALAR_START: "put the text in quotes",
  BAD_DQ_ESCAPE: "use single quotes for text with backslashes",
  BLOCK_AS_IMPLICIT_KEY: 'put text that contains ": " in quotes, or start the inner mapping on a new line',
  MULTILINE_IMPLICIT_KEY: "check the indentation of this line and of the one above",
  BAD_INDENT: "check the indentation and that every bracket is closed",
  MISSING_CHAR: "check quotes, brackets and commas from here on",
  TAG_RESOLVE_FAILED: "remove the tag",
};

/** The single document's tree; null when there is none that further checks could use (the reason has been reported). */
export function readYaml(mistakes: Mistakes): SourceNode | null {
  const { text } = mistakes.source;
  const start: Span = { start: 0, end: 0 };
  if (text.length > MAX_BYTES) {
    mistakes.error(
      start,
      `the file is too large: ${text.length} characters, at most ${MAX_BYTES} are read`,
      "is this a pipeline file?",
    );
    return null;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject here
  const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.exec(text);
  if (control !== null) {
    const codePoint = control[0].charCodeAt(0).toString(16).padStart(4, "0").toUpperCase();
    const suggestion = control[0] === "\u0000" ? "save the file as UTF-8 (is it UTF-16?)" : "remove it";
    mistakes.error(at(control.index, 1), `control character U+${codePoint} in the file`, suggestion);
    return null;
  }
  const document = compose(mistakes);
  if (document === null) return null;
  if (document === "empty") {
    mistakes.error(start, "the file has no content", "a pipeline file has at least `stages:`");
    return null;
  }
  const sound = reportSyntax(document, mistakes);
  if (document.contents === null) {
    if (sound) mistakes.error(start, "the file has no content", "a pipeline file has at least `stages:`");
    return null;
  }
  const root = new Converter(mistakes).convert(document.contents).node;
  if (!reportEncoding(mistakes)) return null;
  return sound ? root : null;
}

function at(start: number, length: number): Span {
  return { start, end: start + length };
}

function compose(mistakes: Mistakes): Document.Parsed | "empty" | null {
  const { text } = mistakes.source;
  const lexer = new Lexer();
  const parser = new Parser();
  const composer = new Composer({
    prettyErrors: false,
    uniqueKeys: false,
    merge: false,
    schema: "core",
    resolveKnownTags: false,
    logLevel: "silent",
  });
  const documents: Document.Parsed[] = [];
  let strays = 0;
  const feed = (tokens: Iterable<CST.Token>): boolean => {
    for (const token of tokens) {
      // Stray brackets after the content come as one error each, however many there are.
      if (token.type === "error" && ++strays > MAX_SYNTAX_ERRORS) return false;
      for (const document of composer.next(token)) documents.push(document);
      if (documents.length > 1) return false;
    }
    return true;
  };
  let more = true;
  for (const lexeme of lexer.lex(text)) {
    more = feed(parser.next(lexeme));
    if (!more) break;
    if (parser.stack.length > MAX_DEPTH) {
      const place = at(parser.offset, 1);
      mistakes.error(place, `nested more than ${MAX_DEPTH} levels deep`, "a pipeline file needs no more than ten");
      return null;
    }
  }
  if (more) more = feed(parser.end());
  if (documents.length < 2) for (const document of composer.end(false, text.length)) documents.push(document);
  const [first, second] = documents;
  if (second !== undefined) {
    const marker = text.lastIndexOf("---", second.range[0]);
    const place = at(marker === -1 ? second.range[0] : marker, 3);
    mistakes.error(
      place,
      "a second document starts here; a pipeline file is one YAML document",
      "remove the `---`, or make it a file of its own",
    );
  }
  if (first !== undefined) return first;
  const { errors } = composer.streamInfo();
  for (const error of errors.slice(0, MAX_SYNTAX_ERRORS)) mistakes.error(spanOf(error.pos), error.message, ADVICE[error.code]);
  return errors.length > 0 ? null : "empty";
}

function spanOf(pos: readonly [number, number]): Span {
  const start = Math.max(0, pos[0]);
  return { start, end: Math.max(start + 1, pos[1]) };
}

function reportSyntax(document: Document.Parsed, mistakes: Mistakes): boolean {
  const problems = [...document.errors, ...document.warnings];
  for (const { pos, code: name, message } of problems.slice(0, MAX_SYNTAX_ERRORS)) {
    mistakes.error(spanOf(pos), message === "" ? `YAML: ${name}` : message, ADVICE[name]);
  }
  const { explicit, version } = document.directives.yaml;
  if (explicit && version !== "1.2") {
    const place = Math.max(0, mistakes.source.text.indexOf("%YAML"));
    mistakes.error(at(place, 5), `YAML ${version} is not supported: pipeline files are YAML 1.2`, "remove the directive");
  }
  return problems.every(({ code: name }) => HARMLESS.has(name));
}

/** Bytes that were not UTF-8 arrive as U+FFFD: an error, for a name or path with one in it can't be right. */
function reportEncoding(mistakes: Mistakes): boolean {
  const place = mistakes.source.text.indexOf("\ufffd");
  if (place === -1) return true;
  mistakes.error(at(place, 1), "the file is not valid UTF-8 here", "save the file as UTF-8");
  return false;
}

interface Converted {
  readonly node: SourceNode;
  /** Levels below, and nodes in all, with aliases expanded. */
  readonly height: number;
  readonly size: number;
}

class Converter {
  readonly #mistakes: Mistakes;
  readonly #anchors = new Map<string, Converted | "open">();

  constructor(mistakes: Mistakes) {
    this.#mistakes = mistakes;
  }

  convert(yaml: unknown, missingAt = 0): Converted {
    if (isAlias(yaml)) return this.#alias(yaml.source, rangeOf(yaml));
    const anchor = isScalar(yaml) || isMap(yaml) || isSeq(yaml) ? yaml.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, "open");
    const converted = this.#plain(yaml, missingAt);
    if (anchor !== undefined) this.#anchors.set(anchor, converted);
    return converted;
  }

  #alias(name: string, span: Span): Converted {
    const target = this.#anchors.get(name);
    if (target !== undefined && target !== "open") return target;
    const why = target === "open" ? "refers to the value that it is part of" : "has no anchor before it";
    this.#mistakes.error(span, `the alias ${code(`*${name}`)} ${why}`, "put text that starts with * in quotes");
    return leaf({ type: "unknown", span });
  }

  #plain(yaml: unknown, missingAt: number): Converted {
    if (isScalar(yaml)) return leaf(this.#scalar(yaml.value, yaml.source, rangeOf(yaml), yaml.tag));
    if (isSeq(yaml)) {
      const items = yaml.items.map((item) => this.convert(item));
      return this.#collection({ type: "list", span: rangeOf(yaml), items: items.map(({ node }) => node) }, items, yaml.tag);
    }
    if (isMap(yaml)) {
      const parts: Converted[] = [];
      const members = new Map<string, Member>();
      for (const { key, value } of yaml.items) {
        const read = this.#key(key, members);
        const converted = this.convert(value, isScalar(key) ? rangeOf(key).end : 0);
        parts.push(converted);
        if (read !== null) members.set(read.key, { ...read, value: converted.node });
      }
      return this.#collection({ type: "map", span: rangeOf(yaml), members: [...members.values()] }, parts, yaml.tag);
    }
    // A key without a value: `{ a }`, or `? a` alone.
    return leaf({ type: "scalar", span: at(missingAt, 0), value: null, text: "" });
  }

  #collection(node: SourceNode, parts: readonly Converted[], tag: string | undefined): Converted {
    if (tag !== undefined && !this.#taggedAs(tag, node)) return leaf({ type: "unknown", span: node.span });
    const size = parts.reduce((sum, part) => sum + part.size, 1);
    const height = parts.reduce((most, part) => Math.max(most, part.height), 0) + 1;
    if (size <= MAX_NODES && height <= MAX_DEPTH) return { node, size, height };
    const limit = size > MAX_NODES ? `more than ${MAX_NODES} values` : `more than ${MAX_DEPTH} levels`;
    this.#mistakes.error(node.span, `aliases expand this to ${limit}`, "write the values out, or fewer of them");
    return leaf({ type: "unknown", span: node.span });
  }

  #taggedAs(tag: string, node: SourceNode): boolean {
    if (tag === "tag:yaml.org,2002:map" || tag === "tag:yaml.org,2002:seq") return true;
    this.#mistakes.error(node.span, `the YAML tag ${code(tag)} has no meaning in a pipeline file`, "remove the tag");
    return false;
  }

  #key(key: unknown, members: ReadonlyMap<string, Member>): Omit<Member, "value"> | null {
    if (!isScalar(key)) {
      const span = isMap(key) || isSeq(key) || isAlias(key) ? rangeOf(key) : at(0, 1);
      this.#mistakes.error(
        span,
        "a key must be text, not a list, a mapping or an alias",
        "put text that starts with [ { or * in quotes",
      );
      return null;
    }
    const keySpan = rangeOf(key);
    const { value } = key;
    if (typeof value !== "string") {
      const shown = key.source === undefined || key.source === "" ? "nothing" : code(key.source);
      this.#mistakes.error(keySpan, `a key must be text, found ${shown}`, "put the key in quotes");
      return null;
    }
    if (value === "<<") {
      this.#mistakes.error(keySpan, "merge keys (`<<`) are not supported", "write the members out, or use a matrix");
      return null;
    }
    if (value === "__proto__") {
      this.#mistakes.error(keySpan, "`__proto__` can't be a key", "choose another name");
      return null;
    }
    const first = members.get(value);
    if (first !== undefined) {
      const { line } = this.#mistakes.source.position(first.keySpan.start);
      this.#mistakes.error(keySpan, `the key ${code(value)} stands here twice (first in line ${line})`, "keep one of them");
      return null;
    }
    return { key: value, keySpan };
  }

  #scalar(value: unknown, source: string | undefined, span: Span, tag: string | undefined): SourceNode {
    const text = source ?? "";
    if (typeof value === "number") {
      if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
        const why = Number.isFinite(value) ? "is too large to be kept exactly" : "is not a finite number";
        this.#mistakes.error(span, `${code(text)} ${why}`, "put it in quotes if it is text");
        return { type: "unknown", span };
      }
      return { type: "scalar", span, value: Object.is(value, -0) ? 0 : value, text };
    }
    if (value === null || typeof value === "boolean") return { type: "scalar", span, value, text };
    if (typeof value === "string") return { type: "scalar", span, value, text: value };
    this.#mistakes.error(span, `the YAML tag ${code(tag ?? "?")} has no meaning in a pipeline file`, "remove the tag");
    return { type: "unknown", span };
  }
}

function leaf(node: SourceNode): Converted {
  return { node, size: 1, height: 1 };
}

function rangeOf(node: { readonly range?: readonly [number, number, number] | null | undefined }): Span {
  return { start: node.range?.[0] ?? 0, end: node.range?.[1] ?? node.range?.[0] ?? 0 };
}
