/**
 * All stage kinds by name, and a person's own: modules named by path in a pipeline (`uses: ./my-stage.js`, `kind: ./my-backend.js`), with
 * the same contract as ours.
 *
 * A kind's modules are loaded when a pipeline may use it: loading all of them takes longer than everything else in a run that finds its
 * whole work in the cache.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as zod from "zod";
import type { AnyBackendKind } from "../backends/registry.js";
import { err, ok, type Result } from "../base/result.js";
import { thrown } from "../base/thrown.js";
import type { StageKind } from "../engine/contract.js";

/** In the order in which people are told of them. */
const BUILT_IN: Readonly<Record<string, (own: ReadonlyMap<string, AnyBackendKind>) => Promise<StageKind>>> = {
  "fetch-issues": async () => (await import("./fetch-issues.js")).fetchIssues,
  "resolve-timeline-prs": async () => (await import("./resolve-timeline-prs.js")).resolveTimelinePrs,
  "fetch-pr-files": async () => (await import("./fetch-pr-files.js")).fetchPrFiles,
  "build-dataset": async () => (await import("./build-dataset.js")).buildDatasetStage,
  "import-dataset": async () => (await import("./import-dataset.js")).importDataset,
  checkout: async () => (await import("./checkout.js")).checkout,
  "locate-lines": async () => (await import("./locate-lines.js")).locateLines,
  "index-corpus": async () => {
    const [{ indexCorpusStage }, { builtInIndexTools }, { openCorpus }] = await Promise.all([
      import("./index-corpus.js"),
      import("../backends/index-tools.js"),
      import("../corpus/tree.js"),
    ]);
    return indexCorpusStage(builtInIndexTools, openCorpus);
  },
  "query-backend": async (own) => {
    const [{ queryBackendStage }, { openCorpus }, { builtInBackends }] = await Promise.all([
      import("./query-backend.js"),
      import("../corpus/tree.js"),
      import("../backends/registry.js"),
    ]);
    return queryBackendStage(new Map([...builtInBackends, ...own]), openCorpus);
  },
  "import-answers": async () => {
    const [{ importAnswersStage }, { readAnswers }] = await Promise.all([
      import("./import-answers.js"),
      import("../answers/file.js"),
    ]);
    return importAnswersStage(readAnswers);
  },
  score: async () => (await import("./score.js")).scoreStage,
  bootstrap: async () => (await import("./bootstrap.js")).bootstrapStage,
  compare: async () => (await import("./compare.js")).compareStage,
  report: async () => (await import("./report.js")).reportStage,
};

/**
 * `extensions`: module paths as the pipeline names them, relative to `folder`. `only`: names of the built-in kinds that are wanted; default:
 * all. The error says which module could not be used and why.
 */
export async function stageKinds(from: {
  readonly extensions: readonly string[];
  readonly folder: string;
  readonly only?: (name: string) => boolean;
}): Promise<Result<ReadonlyMap<string, StageKind>, string>> {
  const backends = new Map<string, AnyBackendKind>();
  const own: [string, StageKind][] = [];
  for (const path of from.extensions) {
    const loaded = await loadModule(path, from.folder);
    if (!loaded.ok) return loaded;
    if ("stage" in loaded.value) own.push([path, loaded.value.stage]);
    else backends.set(path, loaded.value.backend);
  }
  const wanted = Object.entries(BUILT_IN).filter(([name]) => from.only?.(name) ?? true);
  const kinds = await Promise.all(wanted.map(async ([name, load]) => [name, await load(backends)] as const));
  return ok(new Map([...kinds, ...own]));
}

async function loadModule(
  path: string,
  folder: string,
): Promise<Result<{ stage: StageKind } | { backend: AnyBackendKind }, string>> {
  let exported: unknown;
  try {
    const module: { default?: unknown } = await import(pathToFileURL(join(folder, path)).href);
    exported = module.default;
  } catch (error) {
    if (!existsSync(join(folder, path))) return err(`there is no module ${path} beside the pipeline file: check the path`);
    const why = error instanceof SyntaxError ? error.message : thrown(error);
    const hint =
      path.endsWith(".ts") && error instanceof Error && "code" in error && error.code === "ERR_UNKNOWN_FILE_EXTENSION"
        ? ". This Node does not read TypeScript: use Node 22.18 or newer, or compile it to JavaScript"
        : "";
    return err(`${path} can't be loaded: ${why}${hint}`);
  }
  const kind = exported as Partial<StageKind & AnyBackendKind> | null | undefined;
  if (typeof kind === "object" && kind !== null && typeof kind.summary === "string") {
    if (kind.shape === "items" || kind.shape === "whole") return ok({ stage: { ...(kind as StageKind), kind: path } });
    if (typeof kind.open === "function" && typeof kind.identityOf === "function") return ownBackend(kind, path);
  }
  return err(
    `${path} has no default export that is a stage kind (shape: "items" or "whole") or a backend kind (open, identityOf)`,
  );
}

/**
 * What a person's backend leaves out has the customary value. Its options may be a function of our `zod`: a module in a folder of its own
 * often has no package to import, and a schema of another copy would not be known as one.
 */
async function ownBackend(kind: Partial<AnyBackendKind>, path: string): Promise<Result<{ backend: AnyBackendKind }, string>> {
  // The whole of it, which is much more than what our own schemas use: only where somebody else may use it.
  const z = await import("zod");
  const given: unknown = kind.options ?? z.strictObject({});
  const options: unknown = typeof given === "function" ? (given as (z: typeof zod) => unknown)(z) : given;
  if (!(options instanceof z.ZodObject)) {
    return err(`${path}: \`options\` must be an object schema, made by a function of zod: (z) => z.strictObject({ ... })`);
  }
  const customary: Partial<AnyBackendKind> = {
    version: 1,
    needsCorpus: false,
    readsTruth: false,
    readsDataset: false,
    prompt: "text",
    concurrency: () => 1,
  };
  const { guarded } = await import("./own-backend.js");
  return ok({ backend: guarded({ ...customary, ...(kind as AnyBackendKind), options, kind: path }, path) });
}
