/** What `bench mine` says at its end: what was kept and dropped by which rule, what it cost, and how to go on. */
import { relative } from "node:path";
import * as z from "zod";
import { visible } from "../base/diagnostics.js";
import { datasetHeaderSchema } from "../dataset/schema.js";
import type { StageOutput } from "../engine/contract.js";
import type { RunResult } from "../engine/run.js";
import { plural } from "../report/numbers.js";

export type RepositoryState = Exclude<RunResult["state"], "running">;

export interface LimitSeen {
  readonly left: number;
  readonly of: number | null;
  /** Epoch milliseconds. */
  readonly resetAt: number | null;
}

export interface MinedRepository {
  /** `owner/name` as typed. */
  readonly repository: string;
  readonly state: RepositoryState;
  /** Why it failed or stopped. */
  readonly message: string | null;
  /** Epoch milliseconds from which the same command goes on. */
  readonly resumeAt: number | null;
  readonly requests: number;
  /** Answers taken from below the units instead of asking. */
  readonly saved: number;
  /** Pages, issues and pull requests that were there already. */
  readonly fromCache: number;
  readonly dataset: MinedDataset | null;
  /** Absolute paths of the mined file and of the audit beside it; null where none was written. */
  readonly file: string | null;
  readonly audit: string | null;
}

/** Members have the names that they have in `--json`. */
export interface MinedDataset {
  readonly links: string | null;
  readonly scanned: number | null;
  readonly kept: number;
  readonly dataset_digest: string;
  readonly dropped: readonly { readonly rule: string; readonly removed: number; readonly what: string }[];
  readonly notes: readonly string[];
}

const metaSchema = datasetHeaderSchema.extend({ digest: z.string() });

/** From the output of `build-dataset`. */
export function minedDataset({ meta, items }: Pick<StageOutput, "meta" | "items">): MinedDataset {
  const { links, scanned, audit, notes, digest } = metaSchema.parse(meta);
  return {
    links,
    scanned,
    kept: items.length,
    dataset_digest: digest,
    dropped: audit.map(({ rule, removed, what }) => ({ rule, removed, what })),
    notes,
  };
}

/** For stdout: one repository. Nothing where there is nothing to show. */
export function renderMined({ repository, state, dataset, file, audit }: MinedRepository, cwd: string): string {
  if (dataset === null || state !== "done") return "";
  const { kept, scanned, links, dropped, notes } = dataset;
  const lines = [`${repository}: ${kept} of ${scanned ?? "?"} closed issues kept (links: ${links})`];
  for (const path of [file, audit]) if (path !== null) lines.push(`  ${relative(cwd, path)}`);
  const width = Math.max(0, ...dropped.map(({ removed }) => String(removed).length));
  const names = Math.max(0, ...dropped.map(({ rule }) => rule.length));
  if (dropped.length > 0) lines.push("  left out, by rule:");
  for (const { rule, removed, what } of dropped)
    lines.push(`    ${String(removed).padStart(width)}  ${rule.padEnd(names)}  ${visible(what)}`);
  for (const note of notes) lines.push(`  note: ${visible(note)}`);
  return `${lines.join("\n")}\n`;
}

/** For stderr: what it cost, what went wrong, how to go on. */
export function renderEnding(
  results: readonly MinedRepository[],
  limits: ReadonlyMap<string, LimitSeen>,
  quiet: boolean,
): string {
  const lines: string[] = [];
  for (const { repository, state, message } of results) {
    if (state === "failed") lines.push(`failed: ${visible(repository)}: ${visible(message ?? "see the lines above")}`);
    if (state === "stopped") lines.push(`stopped: ${repository}: ${visible(message ?? "a limit was reached")}`);
  }
  const sum = (pick: (result: MinedRepository) => number) => results.reduce((total, result) => total + pick(result), 0);
  if (!quiet) {
    const requests = sum((result) => result.requests);
    lines.push(
      `${plural(requests, "request")} made, ${sum((result) => result.saved)} saved by kept answers, ${sum((result) => result.fromCache)} pages, issues and pull requests from the cache.`,
    );
    for (const [server, limit] of limits) lines.push(`${server}: ${limitText(limit)}`);
  }
  const stopped = results.filter(({ state }) => state === "stopped");
  if (stopped.length > 0) {
    const times = stopped.flatMap(({ resumeAt }) => (resumeAt === null ? [] : [resumeAt]));
    const when = times.length === 0 ? "later" : `from ${new Date(Math.max(...times)).toISOString()}`;
    lines.push(`Nothing is lost. Go on ${when} with the same command.`);
  } else if (results.some(({ state }) => state === "interrupted")) {
    lines.push("Interrupted, nothing is lost. Go on with the same command.");
  } else if (results.some(({ state }) => state === "failed")) {
    lines.push("What failed is tried again by the same command; what was fetched is kept.");
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function limitText({ left, of, resetAt }: LimitSeen): string {
  const total = of === null ? "" : ` of ${of}`;
  return `${left}${total} ${(of ?? left) === 1 ? "request" : "requests"} left${resetAt === null ? "" : ` until ${new Date(resetAt).toISOString()}`}`;
}
