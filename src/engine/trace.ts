/**
 * `--trace FILE`: the run as a Chrome trace (loads in chrome://tracing and in Perfetto), made of the events that the journal has too.
 *
 * A stage has a row of its own, and below it as many rows as it had items at work at once: spans of one row must not overlap. Events are
 * written as they come, so that memory does not grow with the items, and a killed run leaves a file that both programs still open (the
 * closing bracket may be missing by the format's definition).
 *
 * Format: "Trace Event Format", Google, 2016; times in microseconds.
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { EngineEvent, EventSink, NodeProgress } from "./events.js";

const BUFFERED = 64 * 1024;
/** One process: the run. */
const PID = 1;

interface Rows {
  readonly tid: number;
  /** For each row of items, when its last span ended (milliseconds). */
  readonly lanes: { readonly tid: number; end: number }[];
}

/** Throws where the file can't be written. `redact` removes secrets from any text before it is written. */
export function openTrace(
  path: string,
  now: () => number,
  redact: (text: string) => string,
): { readonly sink: EventSink; readonly close: () => void } {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "w");
  const began = now();
  const stages = new Map<string, Rows>();
  let rows = 0;
  let buffer = "[";
  let separator = "\n";
  const flush = () => {
    // A full disk must not end the run: the trace is for looking at.
    try {
      writeSync(file, buffer);
    } catch {}
    buffer = "";
  };
  const write = (event: Record<string, unknown>) => {
    buffer += separator + redact(JSON.stringify({ pid: PID, ...event }));
    separator = ",\n";
    if (buffer.length >= BUFFERED) flush();
  };
  const microseconds = (time: number) => Math.max(0, Math.round((time - began) * 1000));
  const newRow = (name: string): number => {
    const tid = ++rows;
    write({ ph: "M", name: "thread_name", tid, args: { name } });
    write({ ph: "M", name: "thread_sort_index", tid, args: { sort_index: tid } });
    return tid;
  };
  const rowsOf = (id: string): Rows => {
    let own = stages.get(id);
    if (own === undefined) {
      own = { tid: newRow(id), lanes: [] };
      stages.set(id, own);
    }
    return own;
  };
  const span = (name: string, cat: string, tid: number, seconds: number, args: Record<string, unknown>) => {
    const end = microseconds(now());
    const ts = Math.max(0, end - Math.round(seconds * 1e6));
    write({ ph: "X", name, cat, tid, ts, dur: end - ts, args });
  };
  const ended = ({ state, seconds, id, kind, items, executed, cached, failed, message }: NodeProgress) => {
    if (state === "waiting" || state === "running") return;
    span(id, "stage", rowsOf(id).tid, seconds, { uses: kind, state, items, executed, cached, failed, message });
  };
  const unit = (event: Extract<EngineEvent, { type: "unit" }>) => {
    const { node, seconds, key, status, message } = event;
    const { lanes } = rowsOf(node.id);
    const end = now();
    const start = end - seconds * 1000;
    let lane = lanes.find((one) => one.end <= start);
    if (lane === undefined) {
      lane = { tid: newRow(`${node.id} ${lanes.length + 1}`), end };
      lanes.push(lane);
    }
    lane.end = end;
    span(event.unit, "item", lane.tid, seconds, { stage: node.id, status, key, ...(message === undefined ? {} : { message }) });
  };
  const moment = (name: string, tid: number, args: Record<string, unknown>) =>
    write({ ph: "i", name, tid, ts: microseconds(now()), s: tid === 0 ? "g" : "t", args });

  const sink: EventSink = (event) => {
    switch (event.type) {
      case "run-started":
        write({ ph: "M", name: "process_name", tid: 0, args: { name: event.runId } });
        for (const { id } of event.nodes) rowsOf(id);
        break;
      case "stage":
        ended(event.node);
        break;
      case "unit":
        unit(event);
        break;
      case "retry":
        moment(`retry ${event.unit}`, rowsOf(event.node.id).tid, {
          attempt: event.attempt,
          wait: event.wait,
          message: event.message,
        });
        break;
      case "waiting":
        moment(event.until === null ? `${event.resource} goes on` : `${event.resource} waits`, 0, { why: event.why });
        break;
      case "restart":
        moment("restart", 0, { why: event.why });
        break;
      case "warning":
        moment("warning", 0, { message: event.message });
        break;
      default:
    }
  };
  const close = () => {
    buffer += "\n]\n";
    flush();
    closeSync(file);
  };
  return { sink, close };
}
