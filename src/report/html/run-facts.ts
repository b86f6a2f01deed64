/**
 * The course of a run for its page, from the run's record and journal. Times of work are those of units (an event tells when a unit ended
 * and how long it took): a stage is `running` from the moment it may start, which in a streaming run is the beginning for all of them.
 */
import * as z from "zod";
import type { RunFacts, RunNode } from "./page-data.js";

/** The members of `run.json` that the page shows. */
const recordSchema = z.object({
  run_id: z.string(),
  name: z.string(),
  command: z.array(z.string()),
  state: z.string(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  counts: z.record(z.string(), z.number()),
  warnings: z.array(z.string()),
  nodes: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      uses: z.string(),
      needs: z.array(z.string()).default([]),
      state: z.string(),
      items: z.number(),
      executed: z.number(),
      cached: z.number(),
      failed: z.number(),
    }),
  ),
});

const eventSchema = z.object({
  time: z.string(),
  type: z.string(),
  stage: z.string().optional(),
  seconds: z.number().optional(),
  resource: z.string().optional(),
  until: z.string().nullish(),
  why: z.string().optional(),
});

const MOST_WAITS = 200;

/** `record`: the parsed `run.json`; `journal`: the text of `journal.jsonl`, whose last line may be cut. Null where the record is none. */
export function runFacts(record: unknown, journal: string): RunFacts | null {
  const read = recordSchema.safeParse(record);
  if (!read.success) return null;
  const { run_id, name, command, state, started_at, finished_at, counts, warnings, nodes } = read.data;
  const begin = Date.parse(started_at);
  const spans = new Map<string, { from: number; to: number }>();
  const waits: { resource: string; from: number; to: number | null; why: string }[] = [];
  let last = 0;
  let retries = 0;
  for (const event of eventsOf(journal)) {
    const at = Math.max(0, Date.parse(event.time) - begin);
    if (!Number.isFinite(at)) continue;
    last = Math.max(last, at);
    if (event.type === "retry") retries += 1;
    if (event.type === "unit" && event.stage !== undefined) {
      const from = Math.max(0, at - (event.seconds ?? 0) * 1000);
      const span = spans.get(event.stage);
      if (span === undefined) spans.set(event.stage, { from, to: at });
      else {
        span.from = Math.min(span.from, from);
        span.to = Math.max(span.to, at);
      }
    }
    if (event.type === "waiting" && event.resource !== undefined) {
      const open = waits.findLast((wait) => wait.resource === event.resource && wait.to === null);
      if (event.until == null) {
        if (open !== undefined) open.to = at;
      } else if (open === undefined && waits.length < MOST_WAITS) {
        waits.push({ resource: event.resource, from: at, to: null, why: event.why ?? "" });
      }
    }
  }
  const rounded = (milliseconds: number) => Math.round(milliseconds);
  return {
    id: run_id,
    pipeline: name,
    command: command.join(" "),
    state,
    startedAt: started_at,
    finishedAt: finished_at,
    counts,
    retries,
    warnings,
    waits,
    length: rounded(Math.max(last, finished_at === null ? 0 : Date.parse(finished_at) - begin, 1)),
    nodes: nodes.map((node): RunNode => {
      const span = spans.get(node.id);
      return { ...node, from: span === undefined ? null : rounded(span.from), to: span === undefined ? null : rounded(span.to) };
    }),
  };
}

function* eventsOf(journal: string): Generator<z.infer<typeof eventSchema>> {
  for (const line of journal.split("\n")) {
    if (line === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // A killed run may leave half a line.
      continue;
    }
    const read = eventSchema.safeParse(value);
    if (read.success) yield read.data;
  }
}
