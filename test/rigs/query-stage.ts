/** The stage `query-backend` without an engine: prepares it, makes its units and their keys, executes on demand. */
import * as z from "zod";
import type { BackendKind, Question, RawAnswer } from "../../src/backends/contract.js";
import { type AnyBackendKind, builtInBackends } from "../../src/backends/registry.js";
import { keyDigest } from "../../src/cache/key.js";
import type { Corpus, Tree } from "../../src/corpus/contract.js";
import { type Case, caseSchema } from "../../src/dataset/schema.js";
import type { ItemStageKind, StageOutput, StageTools, Unit } from "../../src/engine/contract.js";
import { queryBackendStage } from "../../src/stages/query-backend.js";
import type { Prepared } from "../../src/stages/query-unit.js";
import { memoryTree, treeDigest } from "./memory-corpus.js";
import { type StageToolsRig, stageInputs, stageToolsRig } from "./stage-tools.js";

export const A = "src/A.java";
export const B = "src/B.java";
/** Has both of them. */
export const tree = memoryTree({ [A]: "class A", [B]: "class B" });

export const said = async (): Promise<RawAnswer> => ({ status: "completed", response: "said" });

/** A case whose one target is `A`. */
export function issue(id: string, more: Partial<z.input<typeof caseSchema>> = {}): Case {
  const targets = [{ path: A, role: "source" as const }];
  return caseSchema.parse({ id, repository: "o/r", number: 1, title: `Title ${id}`, body: "Body", targets, ...more });
}

/** A backend that does as the test says. */
export function puppet(
  answer: (question: Question, signal: AbortSignal) => Promise<RawAnswer>,
  more: Partial<BackendKind<{ model: string; speed: number }>> = {},
): AnyBackendKind {
  const kind: BackendKind<{ model: string; speed: number }> = {
    kind: "puppet",
    summary: "Does as it is told.",
    version: 1,
    options: z.strictObject({ model: z.string().default("m"), speed: z.number().default(1) }),
    identityOf: ({ model }) => ({ model }),
    needsCorpus: false,
    readsTruth: false,
    readsDataset: false,
    prompt: "text",
    concurrency: ({ speed }) => speed,
    open: async () => ({ ask: answer, close: async () => {} }),
    ...more,
  };
  return kind;
}

export interface Setup {
  readonly kinds?: readonly AnyBackendKind[];
  readonly config: Record<string, unknown>;
  readonly cases: readonly Case[];
  readonly trees?: readonly Tree[];
  readonly tools?: StageToolsRig;
}

export interface Planned {
  readonly stage: ItemStageKind<unknown, Prepared>;
  readonly tools: StageToolsRig;
  readonly prepared: Prepared;
  readonly units: Unit[];
  /** Files whose text was asked for, in order. */
  readonly texts: string[];
  /** Key of each unit, made of all that the contract calls a part. */
  readonly keys: Record<string, string>;
  execute(unit: Unit | undefined, tools?: StageTools, signal?: AbortSignal): ReturnType<ItemStageKind["execute"]>;
}

/** What the engine does up to the keys. */
export async function plan({ kinds = [], config, cases, trees, tools = stageToolsRig() }: Setup): Promise<Planned> {
  const all = new Map([...builtInBackends, ...kinds.map((kind) => [kind.kind, kind] as const)]);
  const texts: string[] = [];
  const openCorpus = (opened: Tree): Corpus => ({
    tree: opened,
    digest: treeDigest(opened),
    text: async (path) => {
      texts.push(path);
      return "words";
    },
    folder: async () => "/nowhere",
  });
  const stage = queryBackendStage(all, openCorpus) as ItemStageKind<unknown, Prepared>;
  const checked = stage.config.parse(config);
  const dataset: StageOutput = tools.output(cases.map((value) => ({ id: value.id, value })));
  const corpus = trees === undefined ? {} : { corpus: tools.output(trees.map((value) => ({ id: value.id, value }))) };
  const shared = [
    { name: "config", value: JSON.parse(JSON.stringify(stage.keyConfig?.(checked))) },
    ...((await stage.identify?.(checked, tools)) ?? []),
  ];
  const prepared = await stage.prepare(checked, stageInputs({ dataset, ...corpus }), tools);
  const values = await tools.load(dataset.items);
  const units = dataset.items.flatMap((ref, i) => [...(stage.units?.(prepared, ref, values[i]) ?? [])]);
  const keys = Object.fromEntries(units.map(({ id, parts }) => [id, keyDigest([...shared, ...stage.parts(prepared), ...parts])]));
  return {
    stage,
    tools,
    prepared,
    units,
    texts,
    keys,
    execute: (unit, otherTools = tools, signal = new AbortController().signal) =>
      stage.execute(prepared, unit ?? missing(), otherTools, signal),
  };
}

function missing(): never {
  throw new Error("no such unit");
}
