/**
 * `index-corpus`: a backend's own index of each source tree, built once per tree and tool.
 *
 * An index is what a system under test makes of a tree before it can answer, often with paid model calls, so it is kept as answers are:
 * under a key of the tree's content and the tool's identity, with what the tool wrote stored by content. An attempt that was broken off leaves its
 * work folder, so that a tool that can resume does.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { filesDigest, type Index, storeIndex } from "../backends/index-folder.js";
import type { IndexOutcome } from "../backends/index-tool.js";
import { type AnyIndexTool, type IndexToolConfig, indexToolConfigSchema } from "../backends/index-tools.js";
import { digestJson, type Json } from "../base/json.js";
import { type KeyPart, part } from "../cache/key.js";
import { type Tree, treeSchema } from "../corpus/contract.js";
import { treeDigest, treeFolder } from "../corpus/tree.js";
import { itemStage, type StageKind, type StageTools, type Unit, type UnitOutcome } from "../engine/contract.js";
import { isTimeout, workWithin } from "./ask-within.js";
import type { OpenCorpus } from "./case-trees.js";
import { contentOf, missingIn } from "./fingerprint.js";

interface Config {
  readonly tool: IndexToolConfig;
  readonly timeout?: number | undefined;
}

interface Prepared {
  readonly tool: AnyIndexTool;
  /** Why it can't be used; null = it can. */
  readonly missing: string | null;
  readonly options: unknown;
  readonly seconds: number | null;
  /** What the work folder's name is made of, beside the tree. */
  readonly identity: Json;
  /** Where the tree's copy will lie; null unless the index holds that path. */
  readonly place: (tree: Tree) => string | null;
}

/** The stage kind over these tools. */
export function indexCorpusStage(tools: ReadonlyMap<string, AnyIndexTool>, openCorpus: OpenCorpus): StageKind {
  const toolOf = ({ tool: config }: Config): { tool: AnyIndexTool; options: unknown } => {
    const { kind, name: _label, ...options } = config;
    const tool = tools.get(kind);
    if (tool === undefined) throw new Error(`the checked configuration names an unknown index tool ${kind}`);
    return { tool, options };
  };
  const identityOf = (config: Config): Json => {
    const { tool, options } = toolOf(config);
    return { kind: tool.kind, version: tool.version, identity: tool.identityOf(options) };
  };

  return itemStage<Config, Prepared>({
    kind: "index-corpus",
    summary: "Builds a backend's own index of each source tree (GraphRAG, LightRAG, colgrep, octocode).",
    version: 1,
    shape: "items",
    config: z.strictObject({
      tool: indexToolConfigSchema(tools).describe("What builds the index: its kind, which is the backend's, and its options."),
      timeout: z.number().positive().optional().describe("Seconds per attempt, instead of the tool's own."),
    }),
    produces: "index",
    consumes: { corpus: "one" },
    over: "corpus",
    precious: true,
    keyConfig: (config) => ({ tool: identityOf(config) }),
    identify: async (config, stageTools) => {
      const { tool, options } = toolOf(config);
      const content = await contentOf(() => tool.fingerprint?.(options, stageTools));
      return content === undefined ? [] : [part("content", content)];
    },
    resource: (config) => {
      const { tool, options } = toolOf(config);
      return { name: `index:${tool.kind}`, concurrency: tool.concurrency(options) };
    },
    doctor: async (config, environment) => {
      const { tool, options } = toolOf(config);
      return (await tool.doctor?.(options, environment)) ?? [];
    },
    prepare: async (config, _inputs, stageTools) => {
      const { tool, options } = toolOf(config);
      const content = await contentOf(() => tool.fingerprint?.(options, stageTools));
      const missing = missingIn(content);
      if (missing !== null) stageTools.warn(`${tool.kind} can't build an index: ${missing}`);
      return {
        tool,
        options,
        missing,
        seconds: config.timeout ?? tool.timeout(options),
        identity: [identityOf(config), content ?? null],
        place: (tree) => (tool.pathBound ? treeFolder(tree, stageTools) : null),
      };
    },
    parts: () => [],
    units: ({ place }, _item, value) => {
      const tree = treeSchema.parse(value);
      const parts: KeyPart[] = [part("source tree", treeDigest(tree)), part("tree", tree.id)];
      const folder = place(tree);
      if (folder !== null) parts.push(part("source tree's folder", folder));
      return [{ id: tree.id, parts, data: tree }];
    },
    execute: (prepared, unit, stageTools, signal) => build(prepared, unit, stageTools, signal, openCorpus),
    finish: async ({ tool }, items) => ({ tool: tool.kind, indexes: items.length }),
  });
}

async function build(
  prepared: Prepared,
  unit: Unit,
  tools: StageTools,
  signal: AbortSignal,
  openCorpus: OpenCorpus,
): Promise<UnitOutcome> {
  const { tool, options, seconds, identity, missing } = prepared;
  if (missing !== null) return { type: "failed", status: "failed", message: missing, asked: false };
  const tree = unit.data as Tree;
  const corpus = openCorpus(tree, tools);
  const name = `${tool.kind}-${digestJson([identity, corpus.digest, prepared.place(tree)]).slice(0, 32)}`;
  const folder = join(tools.cacheFolder("indexing"), name);
  await mkdir(folder, { recursive: true });
  const outcome = await workWithin<IndexOutcome>(
    seconds,
    (limited) =>
      tool.build(
        options,
        { corpus, folder },
        {
          clock: () => tools.clock.now() / 1000,
          sleep: (milliseconds, aborted) => tools.clock.sleep(milliseconds, aborted),
          env: tools.env,
          baseFolder: tools.baseFolder,
          cacheFolder: tools.cacheFolder,
          warn: tools.warn,
        },
        limited,
      ),
    () => ({
      type: "failed",
      message: `no index within ${seconds} s: raise \`timeout\`; what was done is kept, and the next attempt goes on`,
    }),
    tools.clock,
    signal,
  );
  if (outcome.type === "failed") {
    if (!isTimeout(signal.reason)) signal.throwIfAborted();
    return {
      type: "failed",
      status: "failed",
      message: `${tool.kind}: ${outcome.message}`,
      ...(outcome.retry === undefined ? {} : { retry: outcome.retry }),
    };
  }
  const files = await storeIndex(folder, outcome.keep, tools.putBytes);
  if (!files.ok) return { type: "failed", status: "failed", message: `${tool.kind}: ${files.error}` };
  if (files.value.length === 0 && outcome.digest === undefined) {
    return {
      type: "failed",
      status: "failed",
      message: `${tool.kind} wrote no index: see what it was given (an empty source tree?)`,
    };
  }
  const index: Index = {
    id: tree.id,
    tool: tool.kind,
    tree: corpus.digest,
    digest: outcome.digest ?? filesDigest(files.value),
    files: files.value,
    facts: { ...outcome.facts },
  };
  await rm(folder, { recursive: true, force: true });
  return { type: "done", items: [{ id: tree.id, value: index }] };
}
