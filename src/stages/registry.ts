/**
 * All stage kinds by name, and a person's own: modules named by path in a pipeline (`uses: ./my-stage.js`, `kind: ./my-backend.js`), with
 * the same contract as ours.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { readAnswers } from "../answers/file.js";
import { builtInIndexTools } from "../backends/index-tools.js";
import { type AnyBackendKind, builtInBackends } from "../backends/registry.js";
import { err, ok, type Result } from "../base/result.js";
import { openCorpus } from "../corpus/tree.js";
import type { StageKind } from "../engine/contract.js";
import { bootstrapStage } from "./bootstrap.js";
import { buildDatasetStage } from "./build-dataset.js";
import { checkout } from "./checkout.js";
import { compareStage } from "./compare.js";
import { fetchIssues } from "./fetch-issues.js";
import { fetchPrFiles } from "./fetch-pr-files.js";
import { importAnswersStage } from "./import-answers.js";
import { importDataset } from "./import-dataset.js";
import { indexCorpusStage } from "./index-corpus.js";
import { locateLines } from "./locate-lines.js";
import { queryBackendStage } from "./query-backend.js";
import { reportStage } from "./report.js";
import { resolveTimelinePrs } from "./resolve-timeline-prs.js";
import { scoreStage } from "./score.js";

function builtIn(backends: ReadonlyMap<string, AnyBackendKind>): StageKind[] {
  return [
    fetchIssues,
    resolveTimelinePrs,
    fetchPrFiles,
    buildDatasetStage,
    importDataset,
    checkout,
    locateLines,
    indexCorpusStage(builtInIndexTools, openCorpus),
    queryBackendStage(backends, openCorpus),
    importAnswersStage(readAnswers),
    scoreStage,
    bootstrapStage,
    compareStage,
    reportStage,
  ];
}

/** `extensions`: module paths as the pipeline names them, relative to `folder`. The error says which module could not be used and why. */
export async function stageKinds(from: {
  readonly extensions: readonly string[];
  readonly folder: string;
}): Promise<Result<ReadonlyMap<string, StageKind>, string>> {
  const backends = new Map(builtInBackends);
  const own: [string, StageKind][] = [];
  for (const path of from.extensions) {
    const loaded = await loadModule(path, from.folder);
    if (!loaded.ok) return loaded;
    if ("stage" in loaded.value) own.push([path, loaded.value.stage]);
    else backends.set(path, loaded.value.backend);
  }
  return ok(new Map([...builtIn(backends).map((kind) => [kind.kind, kind] as const), ...own]));
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
    const why = error instanceof Error ? error.message : String(error);
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
function ownBackend(kind: Partial<AnyBackendKind>, path: string): Result<{ backend: AnyBackendKind }, string> {
  const given: unknown = kind.options ?? z.strictObject({});
  const options: unknown = typeof given === "function" ? (given as (zod: typeof z) => unknown)(z) : given;
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
  return ok({ backend: { ...customary, ...(kind as AnyBackendKind), options, kind: path } });
}
