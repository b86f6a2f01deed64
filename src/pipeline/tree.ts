/**
 * The tree of a pipeline file: plain mappings, lists and scalars, each with its place in the text.
 *
 * The checker works on this tree and not on YAML's own, because values from parameters, matrices and the command line are
 * put into it, and a mistake in any of them must still point at the place that a person can mend.
 */
import type { Json } from "../base/json.js";
import type { Span } from "./mistakes.js";

/** Where a value came from when it does not stand in the text as such. */
export interface Origin {
  /** As written: `${params.limit}`. */
  readonly reference: string;
  /** Contains the value of a secret-looking environment variable: never shown in a message or a label. */
  readonly hidden: boolean;
  /** Came from the command line, where quotes are a nuisance: may be read as text where text is wanted. */
  readonly typed: boolean;
}

interface Place {
  readonly span: Span;
  readonly origin?: Origin;
}
export interface ScalarNode extends Place {
  readonly type: "scalar";
  readonly value: string | number | boolean | null;
  /** As written, for text made of it: `1.10` stays `1.10`. Equals `value` for strings. */
  readonly text: string;
}
interface ListNode extends Place {
  readonly type: "list";
  readonly items: readonly SourceNode[];
}
export interface Member {
  readonly key: string;
  readonly keySpan: Span;
  /** Where the value stands if not beside the key: a cell's value in the list of its matrix. */
  readonly valueSpan?: Span;
  readonly value: SourceNode;
}
export interface MapNode extends Place {
  readonly type: "map";
  readonly members: readonly Member[];
}
/** A value that could not be made out; its mistake has been reported, and nothing more is said about it. */
interface UnknownNode extends Place {
  readonly type: "unknown";
}
export type SourceNode = ScalarNode | ListNode | MapNode | UnknownNode;

export function member(map: MapNode, key: string): Member | undefined {
  return map.members.find((candidate) => candidate.key === key);
}

/** Where a wrong value is pointed at: itself, or its key if it is a mapping (long, and not what is wrong) or there is no text. */
export function placeOf({ keySpan, value }: Pick<Member, "keySpan" | "value">): Span {
  return value.type === "map" || value.span.end <= value.span.start ? keySpan : value.span;
}

/** An unknown value is undefined: left out of a mapping, `null` in a list (whose length must not change). */
export function toJson(node: SourceNode): Json | undefined {
  switch (node.type) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map((item) => toJson(item) ?? null);
    case "map": {
      const entries: [string, Json][] = [];
      for (const { key, value } of node.members) {
        const json = toJson(value);
        if (json !== undefined) entries.push([key, json]);
      }
      return Object.fromEntries(entries);
    }
    case "unknown":
      return undefined;
  }
}

/** The same value at another place: every part of it is shown where it was put in. What was hidden stays so. */
export function transplant(node: SourceNode, span: Span, from: Origin): SourceNode {
  const origin = node.origin?.hidden === true ? { ...from, hidden: true } : from;
  switch (node.type) {
    case "scalar":
    case "unknown":
      return { ...node, span, origin };
    case "list":
      return { ...node, span, origin, items: node.items.map((item) => transplant(item, span, from)) };
    case "map": {
      const members = node.members.map(({ key, value }) => ({ key, keySpan: span, value: transplant(value, span, from) }));
      return { ...node, span, origin, members };
    }
  }
}

export function hasUnknown(node: SourceNode): boolean {
  if (node.type === "unknown") return true;
  if (node.type === "list") return node.items.some(hasUnknown);
  return node.type === "map" && node.members.some(({ value }) => hasUnknown(value));
}

/** Number of nodes, to keep values that are put in many times from growing without bounds. */
export function sizeOf(node: SourceNode): number {
  if (node.type === "list") return node.items.reduce((sum, item) => sum + sizeOf(item), 1);
  if (node.type === "map") return node.members.reduce((sum, { value }) => sum + sizeOf(value), 1);
  return 1;
}
