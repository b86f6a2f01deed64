/**
 * Takes away what a model thought before it answered. Thinking is never an answer, however many files it names.
 *
 * Forms seen in the wild: tagged blocks (also nested, also with the opening or the closing tag missing), the channels of
 * harmony-style models, and the `Thinking... / ...done thinking.` lines that a terminal client prints.
 */

const NAMES =
  "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue|internal|chain_of_thought|cot|raisonnement|réflexion";
/** `<think>`, `</think>`, `[THINK]`, `<|begin_of_thought|>`, `◁think▷`, one expression so that one pass finds all. */
const TAG = new RegExp(
  `<\\s{0,2}(/?)\\s{0,2}(?:antml:)?(${NAMES})(?:\\s[^<>\\n]{0,200})?>|\\[(/?)(THINK|THINKING|REASONING)\\]|<\\|(begin|end)_of_thought\\|>|◁(/?)(think)▷`,
  "gi",
);

/** The text without thinking. An unclosed opening tag takes everything after it, a lone closing tag everything before it. */
export function stripThinking(text: string): string {
  return stripTerminalThinking(stripTags(stripChannels(text)));
}

function stripTags(text: string): string {
  const kept: string[] = [];
  let depth = 0;
  let from = 0;
  for (const match of text.matchAll(TAG)) {
    const at = match.index;
    const end = at + match[0].length;
    // An answer may speak about the tag: `<think>` in a code span is a word.
    if (text.charAt(at - 1) === "`" && text.charAt(end) === "`") continue;
    const closing = match[1] === "/" || match[3] === "/" || match[5]?.toLowerCase() === "end" || match[6] === "/";
    if (closing) {
      if (depth === 0) kept.length = 0; // All before it was thinking, whose opening tag the template swallowed.
      depth = Math.max(0, depth - 1);
      if (depth === 0) from = end;
    } else {
      if (depth === 0) kept.push(text.slice(from, at));
      depth++;
    }
  }
  if (depth === 0) kept.push(text.slice(from));
  return kept.join("\n");
}

const CHANNEL = /<\|channel\|>\s*([a-z]+)[^<\n]{0,100}(?:<\|message\|>)?/gi;

/** Of channelled output only what was said in the last `final` channel; none said means nothing was answered. */
function stripChannels(text: string): string {
  const channels = [...text.matchAll(CHANNEL)];
  if (channels.length === 0) return text;
  const final = channels.findLast((match) => match[1]?.toLowerCase() === "final");
  if (final === undefined) return "";
  const rest = text.slice(final.index + final[0].length);
  const end = rest.search(/<\|(?:end|return|start|channel|call)\|>/);
  return end < 0 ? rest : rest.slice(0, end);
}

function stripTerminalThinking(text: string): string {
  const done = /^[ \t]*\.{3}\s?done thinking\.?[ \t]*$/im.exec(text);
  if (done !== null) {
    return text.slice(done.index + done[0].length);
  }
  // Cut inside: the marker stands alone on the first line and never ends.
  return /^\s{0,100}Thinking\.{3}[ \t]*\r?\n/i.test(text) ? "" : text;
}
