/**
 * `journal.jsonl`: every event of a run, one JSON object a line, `{time, type, stage?, item?, key?, status?, ...}`.
 * Written through pino with a synchronous destination: the worker transport loses lines when the process is killed.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { destination, pino } from "pino";
import type { EngineEvent, EventSink } from "./events.js";

/** `redact` removes secrets from any text before it is written. */
export function openJournal(
  folder: string,
  now: () => number,
  redact: (text: string) => string,
): { sink: EventSink; close: () => void } {
  mkdirSync(folder, { recursive: true });
  const file = destination({ dest: join(folder, "journal.jsonl"), sync: true });
  const log = pino(
    {
      base: null,
      // pino puts the time behind the level with a comma of the timestamp's own; there is no level here, so there must be no comma either.
      timestamp: () => `"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: () => ({}) },
    },
    { write: (line: string) => file.write(redact(line)) },
  );
  const sink: EventSink = (event) => {
    const line = journalLine(event);
    if (line !== null) log.info(line);
  };
  return { sink, close: () => file.flushSync() };
}

/** Progress ticks and limits seen are for the screen only. */
function journalLine(event: EngineEvent): Record<string, unknown> | null {
  switch (event.type) {
    case "progress":
    case "limit":
      return null;
    case "run-started":
      return { type: event.type, run: event.runId, stages: event.nodes.map(({ id }) => id) };
    case "stage": {
      const { id, kind, state, items, executed, cached, failed, seconds, message } = event.node;
      return { type: event.type, stage: id, uses: kind, status: state, items, executed, cached, failed, seconds, message };
    }
    case "unit":
      return {
        type: event.type,
        stage: event.node.id,
        item: event.unit,
        key: event.key,
        status: event.status,
        seconds: event.seconds,
        message: event.message,
      };
    case "retry":
      return {
        type: event.type,
        stage: event.node.id,
        item: event.unit,
        attempt: event.attempt,
        wait: event.wait,
        message: event.message,
      };
    case "warning":
      return { type: event.type, stage: event.node, message: event.message };
    case "waiting":
      return { ...event, until: event.until === null ? null : new Date(event.until).toISOString() };
    default:
      return { ...event };
  }
}
