/**
 * What of the repository a chat model is shown beside the issue: nothing, the list of its files, or the text of the files that another
 * backend ranks best ("BM25, then a model").
 */
import { parseAnswer } from "../answers/parse.js";
import { type Entry, FINAL_STATUSES } from "../answers/schema.js";
import { err, ok, type Result } from "../base/result.js";
import type { Corpus } from "../corpus/contract.js";
import { type BackendContext, type ChatOptions, type InnerKinds, innerOf } from "./chat-options.js";
import type { AnyKind, BackendEnvironment, Question, RawAnswer } from "./contract.js";
import { renderPrompt } from "./prompt.js";

export interface Shown {
  /** Empty = nothing. */
  readonly text: string;
  /** For the answer's details; null = there is nothing to say. */
  readonly details: Readonly<Record<string, unknown>> | null;
}

export interface ContextSource {
  /** The error is the answer: the retriever failed, and a question without its files would be another question. */
  readonly show: (question: Question, signal: AbortSignal) => Promise<Result<Shown, RawAnswer>>;
  readonly close: () => Promise<void>;
}

export async function openContext(
  context: ChatOptions["context"],
  kinds: InnerKinds,
  environment: BackendEnvironment,
): Promise<ContextSource> {
  if (context === "none") return { show: async () => ok({ text: "", details: null }), close: async () => {} };
  if (context === "files") {
    return {
      show: async ({ corpus }) => {
        const tree = needed(corpus).tree;
        return ok({ text: fileList(tree.files.map(({ path }) => path)), details: { shown: "files", files: tree.files.length } });
      },
      close: async () => {},
    };
  }
  const { kind, options } = innerOf(context, kinds);
  const backend = await kind.open(options, environment);
  return {
    show: async (question, signal) => {
      const answer = await backend.ask({ ...question, prompt: innerPrompt(kind, options, question) }, signal);
      if (!FINAL_STATUSES.has(answer.status)) {
        return err({
          ...answer,
          response: "",
          error: `${kind.kind}, which finds the files to show, gave none: ${answer.error ?? answer.status}`,
        });
      }
      return ok(await contents(needed(question.corpus), rankedPaths(answer, question), context, kind.kind));
    },
    close: () => backend.close(),
  };
}

function needed(corpus: Corpus | undefined): Corpus {
  if (corpus === undefined) throw new Error("chat was asked to show files without a source tree");
  return corpus;
}

function innerPrompt(kind: AnyKind, options: unknown, { prompt, blocks }: Question): string {
  const template = typeof kind.prompt === "function" ? kind.prompt(options) : kind.prompt;
  if (template === "text+format") return prompt;
  return renderPrompt(template, { title: blocks?.title ?? "", body: blocks?.description ?? "" });
}

export function fileList(paths: readonly string[]): string {
  return `Files of the repository, one per line:\n${paths.join("\n")}`;
}

/** Paths in the order of the answer, as the retriever spells them. */
function rankedPaths({ response, status }: RawAnswer, { prompt }: Question): string[] {
  const reading = parseAnswer(response, { truncated: status === "truncated", prompt });
  const entries: readonly Entry[] = reading.kind === "answered" ? reading.entries : [];
  return entries.map(({ raw }) => raw);
}

/** The named files that the tree has, best first, up to the limits. */
async function contents(corpus: Corpus, names: readonly string[], limits: BackendContext, kind: string): Promise<Shown> {
  const paths = [...new Set(resolved(names, corpus))].slice(0, limits.files);
  const blocks: string[] = [];
  const shown: string[] = [];
  let left = limits.max_characters;
  let cut: string | null = null;
  for (const path of paths) {
    const text = await corpus.text(path);
    // A NUL early on, as Git decides it: no text. Its name alone is shown.
    const whole = text.slice(0, 8000).includes("\0") ? "(not a text file)" : text;
    const part = whole.length <= left ? whole : atLineEnd(whole, left);
    blocks.push(`=== ${path}${part === whole ? "" : " (beginning)"} ===\n${part}`);
    shown.push(path);
    left -= part.length;
    if (part !== whole) cut = path;
    if (left <= 0 || cut !== null) break;
  }
  const details = { shown: "contents", retriever: kind, files: shown, cut, left_out: paths.length - shown.length };
  if (blocks.length === 0) return { text: "", details };
  const heading = "Files of the repository that a search found for this issue, best match first. Others may be concerned, too.";
  return { text: [heading, ...blocks].join("\n\n"), details };
}

/** At most `limit` characters, whole lines where there is one. */
function atLineEnd(text: string, limit: number): string {
  const end = text.lastIndexOf("\n", limit);
  return end > 0 ? text.slice(0, end) : text.slice(0, limit);
}

/** A path of the tree, or what is the end of exactly one of them. */
function resolved(names: readonly string[], { tree }: Corpus): string[] {
  const all = new Set(tree.files.map(({ path }) => path));
  return names.flatMap((name) => {
    const path = name.trim().replaceAll("\\", "/").replace(/^\.\//, "");
    if (all.has(path)) return [path];
    const ends = tree.files.filter((file) => file.path.endsWith(`/${path}`));
    return ends.length === 1 && ends[0] !== undefined ? [ends[0].path] : [];
  });
}

/** Characters that the context will have at most, without asking the retriever. */
export function contextCharacters(context: ChatOptions["context"], corpus: Corpus | undefined): number {
  if (context === "none" || corpus === undefined) return 0;
  if (context === "files") return corpus.tree.files.reduce((sum, { path }) => sum + path.length + 1, 0);
  const largest = corpus.tree.files.map(({ size }) => size).sort((a, b) => b - a);
  const most = largest.slice(0, context.files).reduce((sum, size) => sum + size, 0);
  return Math.min(context.max_characters, most) + context.files * 80;
}
