/** Values, types and names in plain words, for messages. */
import { visible } from "../base/diagnostics.js";
import type { SourceNode } from "./tree.js";

const MAX_QUOTED = 60;

/** Cut and without control characters: what is quoted comes from a file that anyone may have written. */
export function quoted(text: string): string {
  const shown = visible(text);
  return `"${shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED - 1)}…` : shown}"`;
}

/** A name as code: `needs`. */
export function code(name: string): string {
  const shown = visible(name).replaceAll("`", "'");
  return `\`${shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED - 1)}…` : shown}\``;
}

export function listed(names: readonly string[], joint: "or" | "and" = "or", most = 12): string {
  const shown = names.slice(0, most).map(code);
  if (names.length > most) return `${shown.join(", ")}, … (${names.length} in all)`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} ${joint} ${shown.at(-1)}`;
}

/** What stands there: `the text "ten"`, `a list`. The value of an environment variable is never shown. */
export function found(node: SourceNode): string {
  const from = node.origin === undefined ? "" : ` (from ${node.origin.reference})`;
  switch (node.type) {
    case "map":
      return `a mapping${from}`;
    case "list":
      return `${node.items.length === 0 ? "an empty list" : "a list"}${from}`;
    case "unknown":
      return `an unknown value${from}`;
    case "scalar":
      if (node.origin?.hidden) return `a text${from}`;
      if (node.value === null) return `nothing${from}`;
      if (typeof node.value === "string")
        return `${node.value === "" ? "an empty text" : `the text ${quoted(node.value)}`}${from}`;
      if (typeof node.value === "number") return `the number ${visible(node.text).slice(0, MAX_QUOTED)}${from}`;
      return `the value ${node.value}${from}`;
  }
}
