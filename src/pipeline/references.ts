/**
 * `${params.x}`, `${env.X}` and `${matrix.key}` in a value.
 *
 * A text that is wholly one reference takes the referenced value with its type; inside a text it is put in as text. `$${` is
 * a literal `${`. What was put in is never scanned again, so that no value can smuggle in a reference.
 */
import type { Mistakes, Span } from "./mistakes.js";
import { member, type Origin, type ScalarNode, type SourceNode, sizeOf, transplant } from "./tree.js";
import { code } from "./words.js";

const SPACES = ["params", "env", "matrix"] as const;
export type Space = (typeof SPACES)[number];

export type TextPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reference"; readonly space: Space; readonly path: readonly string[]; readonly written: string }
  | { readonly type: "broken"; readonly written: string; readonly message: string; readonly suggestion: string };

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Parts of a text, in order. Linear in its length. */
export function splitReferences(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let literal = "";
  let at = 0;
  const flush = (): void => {
    if (literal !== "") parts.push({ type: "text", text: literal });
    literal = "";
  };
  while (at < text.length) {
    const next = text.indexOf("${", at);
    if (next === -1) break;
    if (next > at && text[next - 1] === "$") {
      literal += `${text.slice(at, next - 1)}\${`;
      at = next + 2;
      continue;
    }
    literal += text.slice(at, next);
    flush();
    const end = text.indexOf("}", next);
    if (end === -1) {
      const suggestion = "close it with }, or write $${ for a literal ${";
      parts.push({ type: "broken", written: text.slice(next), message: "a reference is not closed", suggestion });
      return parts;
    }
    parts.push(parseReference(text.slice(next, end + 1)));
    at = end + 1;
  }
  literal += text.slice(at);
  flush();
  return parts;
}

function parseReference(written: string): TextPart {
  const inner = written.slice(2, -1).trim();
  const [space, ...path] = inner.split(".");
  const known = SPACES.find((candidate) => candidate === space);
  if (
    known !== undefined &&
    path.length > 0 &&
    path.every((name) => NAME.test(name) || (known !== "env" && /^[0-9]+$/.test(name)))
  ) {
    if (known !== "env" || path.length === 1) return { type: "reference", space: known, path, written };
  }
  const literal = "write $${ for a literal ${";
  if (known !== undefined) {
    return {
      type: "broken",
      written,
      message: `${code(written)} is not a reference`,
      suggestion: `write \${${known}.NAME}; ${literal}`,
    };
  }
  const wanted = NAME.test(inner) ? ` (did you mean \${params.${inner}} or \${env.${inner}}?)` : "";
  const forms = `references are \${params.NAME}, \${env.NAME} and \${matrix.KEY}`;
  return { type: "broken", written, message: `${code(written)} is not a reference${wanted}`, suggestion: `${forms}; ${literal}` };
}

export type Resolution =
  | { readonly type: "found"; readonly node: SourceNode; readonly hidden: boolean; readonly typed: boolean }
  /** Its mistake has been reported where it was made. */
  | { readonly type: "unknown" }
  | { readonly type: "missing"; readonly message: string; readonly suggestion?: string };

export interface Scope {
  resolve(space: Space, path: readonly string[]): Resolution;
  readonly mistakes: Mistakes;
  /** Counts down the nodes that references may still put in, over the whole file. */
  readonly budget: { nodes: number };
}

const MAX_TEXT = 256 * 1024;

/** The value with all references replaced. Mistakes are reported, and leave an unknown value behind. */
export function substitute(node: SourceNode, scope: Scope): SourceNode {
  switch (node.type) {
    case "unknown":
      return node;
    case "list":
      return { ...node, items: node.items.map((item) => substitute(item, scope)) };
    case "map": {
      const members = node.members.map((each) => {
        const broken = splitReferences(each.key).find(({ type }) => type !== "text");
        if (broken !== undefined) {
          scope.mistakes.error(each.keySpan, "references are replaced in values only, not in keys", "write the key out");
        }
        return { ...each, value: substitute(each.value, scope) };
      });
      return { ...node, members };
    }
    case "scalar":
      return typeof node.value === "string" && node.value.includes("${") ? substituteText(node, node.value, scope) : node;
  }
}

function substituteText(node: ScalarNode, value: string, scope: Scope): SourceNode {
  const parts = splitReferences(value);
  const unknown: SourceNode = { type: "unknown", span: node.span };
  const place = placeFinder(node, scope.mistakes);
  let failed = false;
  let text = "";
  let hidden = false;
  const names: string[] = [];
  for (const part of parts) {
    if (part.type === "text") {
      text += part.text;
      continue;
    }
    const span = place(part.written);
    const resolved = part.type === "broken" ? null : scope.resolve(part.space, part.path);
    if (part.type === "broken" || resolved?.type === "missing") {
      const { message, suggestion } = part.type === "broken" ? part : (resolved as Resolution & { type: "missing" });
      scope.mistakes.error(span, message, suggestion);
      failed = true;
      continue;
    }
    if (resolved?.type !== "found") {
      failed = true;
      continue;
    }
    // Reported once: every later reference would say the same.
    if (scope.budget.nodes < 0) return unknown;
    scope.budget.nodes -= sizeOf(resolved.node);
    if (scope.budget.nodes < 0) {
      scope.mistakes.error(span, "references make this file too large", "put fewer or smaller values in");
      return unknown;
    }
    const origin: Origin = { reference: part.written, hidden: resolved.hidden, typed: resolved.typed };
    if (parts.length === 1) return transplant(resolved.node, node.span, origin);
    hidden ||= resolved.hidden;
    names.push(part.written);
    const put = resolved.node;
    if (put.type === "scalar" && put.value !== null) text += put.text;
    else if (put.type !== "unknown") {
      const what = put.type === "scalar" ? "nothing" : put.type === "map" ? "a mapping" : "a list";
      scope.mistakes.error(
        span,
        `${code(part.written)} is ${what}, which can't be put inside a text`,
        "let the value be the reference alone",
      );
      failed = true;
    } else failed = true;
  }
  if (failed) return unknown;
  if (text.length > MAX_TEXT) {
    scope.mistakes.error(node.span, "with its references put in, this text is too long", "put fewer or smaller values in");
    return unknown;
  }
  const written = { ...node, value: text, text };
  return names.length === 0 ? written : { ...written, origin: { reference: names.join(" "), hidden, typed: false } };
}

/** Places of successive references within a scalar's text; its whole place where quoting or folding hides one. */
function placeFinder(node: ScalarNode, mistakes: Mistakes): (written: string) => Span {
  const { text } = mistakes.source;
  let from = node.span.start;
  return (written) => {
    const line = written.split("\n", 1)[0] ?? written;
    const start = text.indexOf(line, from);
    if (node.origin !== undefined || start === -1 || start >= node.span.end) return node.span;
    from = Math.min(start + line.length, node.span.end);
    return { start, end: from };
  };
}

/** Follows a path into a value: `${params.server.port}`. */
export function descend(root: SourceNode, path: readonly string[]): SourceNode | undefined {
  let node: SourceNode | undefined = root;
  for (const name of path) {
    if (node === undefined || node.type === "unknown") return node;
    node = node.type === "map" ? member(node, name)?.value : node.type === "list" ? node.items[Number(name)] : undefined;
  }
  return node;
}

/** Names used as `${matrix.NAME}` anywhere in a value. */
export function matrixNames(node: SourceNode | undefined, into: Set<string> = new Set()): Set<string> {
  if (node === undefined) return into;
  if (node.type === "list") for (const item of node.items) matrixNames(item, into);
  if (node.type === "map") for (const { value } of node.members) matrixNames(value, into);
  if (node.type === "scalar" && typeof node.value === "string" && node.value.includes("${")) {
    for (const part of splitReferences(node.value)) {
      if (part.type === "reference" && part.space === "matrix") into.add(part.path[0] ?? "");
    }
  }
  return into;
}
