/**
 * What stands in an answer without being part of it: terminal colours, log lines of the tool, citations, tool calls,
 * stack traces, and echoes of the question. All of them may name files, none of them predicts one.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes are the subject here
const ANSI = /\u001b\[[0-9;?]{0,20}[A-Za-z]/g;

/** Line ends become `\n`, terminal escapes, marks of byte order and zero-width characters go. */
export function plainText(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(ANSI, "")
    .replace(/[\ufeff\u200b\u2060]/g, "");
}

const SUCCESS = /^[ \t]*SUCCESS: (?:Global|Local|DRIFT|Basic) Search Response:[ \t]*/gim;
const LOGGED = / - INFO - graphrag\.cli\.query - (?:Global|Local|DRIFT|Basic) Search Response:[ \t]*\n?/g;
const LOG_LINE =
  /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d{0,9}(?: ?[-|:]? ?\[?| - )(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)\b/m;

/** Only what follows the last announcement of a search response, up to the next log line; the text itself where there is none. */
export function searchResponse(text: string): string {
  let start = -1;
  for (const mark of [SUCCESS, LOGGED]) {
    for (const match of text.matchAll(mark)) start = Math.max(start, match.index + match[0].length);
    if (start >= 0) break;
  }
  if (start < 0) return text;
  const rest = text.slice(start);
  const next = LOG_LINE.exec(rest);
  return next === null ? rest : rest.slice(0, next.index);
}

/** `[Data: Sources (1, 2); Entities (5, +more)]` and its kin are pointers into an index, never files. */
export function stripCitations(text: string): string {
  return text.replace(/\[\^?(?:Data|Sources?|Reports?|Entities|Relationships|Claims|References?)\s?:[^[\]\n]{0,2000}\]/gi, " ");
}

const TOOL_TAGS =
  /<(\/?)(?:antml:)?(tool_call|tool_calls|tool_use|tool_result|tool_results|tool_response|tool_output|function_call|function_calls|function_results|function_result|function_response|invoke|execute_ipython|execute_bash|execute_command|observation|command|environment_details|search_results|file_contents?|read_file|list_files|search_files)(?:[\s=][^<>\n]{0,300})?>/gi;

/** Tool calls and what tools gave back, as tags. An unclosed one takes the rest: the answer ended inside the call. */
function stripToolTags(text: string): string {
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  for (const match of text.matchAll(TOOL_TAGS)) {
    const end = match.index + match[0].length;
    if (match[1] === "/") {
      if (depth === 0) continue;
      depth--;
      if (depth === 0) from = end;
    } else {
      if (depth === 0) kept.push(text.slice(from, match.index));
      depth++;
    }
  }
  if (depth === 0) kept.push(text.slice(from));
  return kept.join("\n");
}

/** What a wrapped answer says it is: the content of the last `<answer>`; the text itself where there is none. */
function answerTag(text: string): string {
  const last = [...text.matchAll(/<(answer|final_answer|final)>/gi)].at(-1);
  if (last === undefined) return text;
  const start = last.index + last[0].length;
  const close = text.indexOf(`</${last[1]}>`, start);
  const inner = text.slice(start, close < 0 ? undefined : close);
  return inner.trim() === "" ? text : inner;
}

const LOG_STARTS = [
  LOG_LINE,
  /^\s{0,8}\[?(?:TRACE|DEBUG|INFO|WARN|WARNING)\]?\s?[:\]]/,
  /^\s{0,8}(?:\$|%|❯|>>>)\s+\S/,
  /^\s{0,8}>\s+(?:cat|grep|rg|find|ls|git|sed|head|tail|cd|open|read|search)\s/,
  /^\s{0,8}(?:creating llm client|Reading settings from)\b/i,
];
const TOOL_STARTS =
  /^\s{0,8}(?:[-*]\s)?(?:\*\*)?\[?(?:Action|Action Input|Observation|Tool|Tool call|Tool output|Tool result|Tool use|Function call|Running|Calling|Executing|Command|Searching|Reading|Opening|Viewing)\]?(?:\*\*)?\s?(?::|\.\.\.|…)/i;
/** These announce output that goes on to the next blank line. */
const TOOL_BLOCKS =
  /^\s{0,8}(?:\*\*)?\[?(?:Observation|Tool|Tool output|Tool result|Tool call|Function call|Action Input)\]?(?:\*\*)?\s?:/i;

const TRACE_LINES = [
  /^\s{0,40}at\s+[^\s(][^(\n]{0,400}\([^)\n]{0,400}\)?\s*$/,
  /^\s{0,40}at\s+\S{1,400}:\d+(?::\d+)?\)?\s*$/,
  /^\s{0,40}(?:File|Fichier) "[^"\n]{1,400}", line \d+/,
  /^\s{0,40}(?:Caused by|Exception in thread|Suppressed|Traceback \(most recent call last\)|panic|thread '[^'\n]{0,100}' panicked)\b/,
  /^\s{0,40}\.\.\. \d+ (?:more|common frames omitted)/,
  /^\s{0,40}#\d+\s+0x[0-9a-f]+/,
  /^\s{0,40}goroutine \d+ \[/,
];

/** `org.json.JSONException: message` is the head of a trace only if a frame follows; else it may well be an entry. */
const TRACE_HEAD = /^\s{0,40}[\w.$]{1,300}(?:Exception|Error|Throwable|Warning)(?::\s.*)?$/;

function isTrace(line: string, next: string | undefined): boolean {
  if (/^\s{0,8}(?:[-*]|\d+[.)])\s/.test(line)) return false;
  if (TRACE_LINES.some((frame) => frame.test(line))) return true;
  return next !== undefined && TRACE_HEAD.test(line) && TRACE_LINES.some((frame) => frame.test(next));
}

/** Lines that are logs, tool calls, or stack traces become blank, so that the lines around keep their places. */
export function stripLogs(text: string): string {
  const lines = stripHtmlComments(answerTag(stripToolTags(text))).split("\n");
  let inTool = false;
  let inCommand = false;
  let afterFrame = false;
  let inTrace = false;
  return lines
    .map((line, index) => {
      const blank = line.trim() === "";
      if (blank) {
        inTool = false;
        inCommand = false;
        afterFrame = false;
        inTrace = false;
        return line;
      }
      if (inTool) return "";
      if (TOOL_BLOCKS.test(line)) {
        inTool = true;
        return "";
      }
      if (LOG_STARTS.some((start) => start.test(line))) {
        inCommand = /^\s{0,8}(?:\$|%|❯)\s/.test(line);
        return "";
      }
      // Output of a command, up to a blank line or the end of its block.
      if (inCommand && !/^\s{0,3}(?:```|~~~)/.test(line)) return "";
      inCommand = false;
      if (TOOL_STARTS.test(line)) return "";
      // Python names the error below its frames, Java above them.
      if (isTrace(line, lines[index + 1]) || (inTrace && TRACE_HEAD.test(line))) {
        inTrace = true;
        afterFrame = /^\s{0,40}File "/.test(line);
        return "";
      }
      if (afterFrame && /^\s{4,}/.test(line)) {
        afterFrame = false;
        return ""; // The source line that Python prints below a frame.
      }
      afterFrame = false;
      inTrace = false;
      return line;
    })
    .join("\n");
}

const BLOCK_TAGS =
  /<\/?(?:li|ul|ol|p|br|div|tr|td|th|table|tbody|thead|h[1-6]|files?|paths?|class|classes|items?|entry|entries|locations?|predictions?|results?|output|response|answers?)(?:\s[^<>\n]{0,200})?\/?>/gi;
const INLINE_TAGS = /<\/?[a-zA-Z][a-zA-Z0-9-]{0,30}(?:\s[^<>\n]{0,200})?\/?>/g;
const EXPLAINING_TAGS =
  /<(reason|reasons|explanation|justification|description|rationale|snippet|evidence|notes?|code_snippet)>[^<]{0,20000}<\/\1>/gi;
const ATTRIBUTES =
  /<(?:file|class|path|location|item|entry)\s{1,5}(?:path|file|name|src|href|class)\s?=\s?"([^"<>\n]{1,500})"[^<>\n]{0,200}>/gi;

/** Markup that isn't markdown: list tags become lines, explaining tags go with what they hold, `\boxed{x}` is x. */
export function stripMarkup(text: string): string {
  if (!/[<\\]/.test(text)) return text;
  return text
    .replace(EXPLAINING_TAGS, " ")
    .replace(ATTRIBUTES, "\n$1\n")
    .replace(BLOCK_TAGS, "\n")
    .replace(INLINE_TAGS, "")
    .replace(/\\(?:boxed|texttt|text)\{([^{}\n]{1,500})\}/g, "$1");
}

function stripHtmlComments(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let open = text.indexOf("<!--"); open >= 0; open = text.indexOf("<!--", from)) {
    kept.push(text.slice(from, open));
    const close = text.indexOf("-->", open + 4);
    from = close < 0 ? text.length : close + 3;
    if (close < 0) break;
  }
  kept.push(text.slice(from));
  return kept.join(" ");
}

/** Shorter prompts are no echo when they come back: they could be a file's name. */
const MIN_ECHO = 20;

/**
 * Takes echoes of the question away: the whole prompt, and single lines of several words that the prompt has too.
 * A line that is nothing but an entry stays even if the question has it: a model that answers with a file which the issue
 * names has answered.
 */
export function stripEcho(text: string, prompt: string | null): string {
  if (prompt === null) return text;
  const question = plainText(prompt).trim();
  if (question.length < MIN_ECHO) return text;
  const rest = text.split(question).join("\n");
  const asked = new Set<string>();
  for (const line of question.split("\n")) {
    const bare = bareLine(line);
    if (bare.length >= MIN_ECHO && words(bare) >= 3) asked.add(bare);
  }
  if (asked.size === 0) return rest;
  return rest
    .split("\n")
    .map((line) => (asked.has(bareLine(line)) ? "" : line))
    .join("\n");
}

/** Is this piece of JSON part of the question (the format's example, a sample of the issue)? Blanks don't count. */
export function isEchoOf(prompt: string | null): (piece: string) => boolean {
  if (prompt === null) return () => false;
  const squeezed = prompt.replace(/\s+/g, "");
  return (piece) => {
    const bare = piece.replace(/\s+/g, "");
    return bare.length > 2 && bare.length <= squeezed.length && squeezed.includes(bare);
  };
}

function bareLine(line: string): string {
  return line
    .replace(/^[\s>]{1,50}/, "")
    .trim()
    .replace(/\s+/g, " ");
}

function words(line: string): number {
  return line.split(" ").length;
}
