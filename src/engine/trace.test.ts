import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { EngineEvent, NodeProgress } from "./events.js";
import { openTrace } from "./trace.js";

const folder = mkdtempSync(join(tmpdir(), "bench-trace-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Span {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly args: Record<string, unknown>;
}

const node: NodeProgress = {
  ...{ id: "answers@bm25", stage: "answers", label: "bm25", kind: "query-backend", state: "running" },
  ...{ items: 0, units: 0, executed: 0, cached: 0, failed: 0, statuses: {}, seconds: 0, message: null },
};
const unit = (id: string, seconds: number): EngineEvent => ({
  ...{ type: "unit", node, unit: id, key: "k", status: "completed", seconds },
});

/** Events, each at its time (milliseconds). */
function traced(events: readonly (readonly [number, EngineEvent])[], close = true): { text: string; spans: Span[] } {
  const path = join(folder, "below", "trace.json");
  let time = 1_000;
  const trace = openTrace(
    path,
    () => time,
    (text) => text.replaceAll("s3cret", "***"),
  );
  for (const [at, event] of events) {
    time = at;
    trace.sink(event);
  }
  if (close) trace.close();
  const text = readFileSync(path, "utf8");
  return { text, spans: close ? (JSON.parse(text) as Span[]) : [] };
}

const started: EngineEvent = { type: "run-started", runId: "r1", nodes: [node] };

describe("a run's trace", () => {
  test("has a complete span for each stage and each item, in microseconds since the beginning", () => {
    const { spans } = traced([
      [1_000, started],
      [1_500, unit("o/r#1", 0.25)],
      [2_000, { type: "stage", node: { ...node, state: "done", seconds: 1 } }],
    ]);
    const complete = spans.filter(({ ph }) => ph === "X");
    expect(complete).toEqual([
      expect.objectContaining({ name: "o/r#1", cat: "item", pid: 1, ts: 250_000, dur: 250_000 }),
      expect.objectContaining({ name: "answers@bm25", cat: "stage", pid: 1, ts: 0, dur: 1_000_000 }),
    ]);
    expect(complete[0]?.args).toMatchObject({ stage: "answers@bm25", status: "completed", key: "k" });
    expect(spans.filter(({ name }) => name === "thread_name").map(({ args }) => args.name)).toEqual([
      "answers@bm25",
      "answers@bm25 1",
    ]);
    expect(spans.find(({ name }) => name === "process_name")?.args).toEqual({ name: "r1" });
  });

  test("items that were at work at once stand in rows of their own, the others share one", () => {
    const { spans } = traced([
      [1_000, started],
      [1_400, unit("a", 0.4)],
      [1_500, unit("b", 0.4)],
      [1_900, unit("c", 0.3)],
    ]);
    const rows = Object.fromEntries(spans.filter(({ cat }) => cat === "item").map(({ name, tid }) => [name, tid]));
    expect(rows.a).not.toBe(rows.b);
    expect(rows.c).toBe(rows.a);
  });

  test("a stage that is only running has no span yet; waits, retries and warnings are moments", () => {
    const { spans } = traced([
      [1_000, started],
      [1_100, { type: "stage", node }],
      [1_200, { type: "waiting", resource: "github", until: 9_000, why: "limit" }],
      [1_300, { type: "retry", node, unit: "a", attempt: 1, wait: 2, message: "502" }],
      [1_400, { type: "warning", message: "a key is s3cret" }],
    ]);
    expect(spans.filter(({ ph }) => ph === "X")).toEqual([]);
    expect(spans.filter(({ ph }) => ph === "i").map(({ name, ts }) => [name, ts])).toEqual([
      ["github waits", 200_000],
      ["retry a", 300_000],
      ["warning", 400_000],
    ]);
    expect(JSON.stringify(spans)).not.toContain("s3cret");
  });

  test("a run that was killed leaves what was written: an array without its end", () => {
    const many = Array.from({ length: 2_000 }, (_, index) => [2_000 + index, unit(`item ${index}`, 0.001)] as const);
    const { text } = traced([[1_000, started], ...many], false);
    const whole = text.slice(0, text.lastIndexOf("},\n") + 1);
    expect((JSON.parse(`${whole}]`) as Span[]).length).toBeGreaterThan(300);
  });
});
