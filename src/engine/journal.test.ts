import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openJournal } from "./journal.js";

test("every line is one JSON object that begins with its time, and secrets are not in it", () => {
  const folder = mkdtempSync(join(tmpdir(), "bench-journal-"));
  try {
    const journal = openJournal(
      folder,
      () => 0,
      (text) => text.replaceAll("s3cret", "[TOKEN]"),
    );
    journal.sink({ type: "run-started", runId: "r", nodes: [] });
    journal.sink({ type: "warning", message: 'a "quoted" s3cret\n\u0000', node: "answers" });
    journal.sink({ type: "limit", resource: "github", left: 1, of: 2, resetAt: null });
    journal.sink({ type: "run-finished", state: "done" });
    journal.close();
    const lines = readFileSync(join(folder, "journal.jsonl"), "utf8").trimEnd().split("\n");
    const time = "1970-01-01T00:00:00.000Z";
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time, type: "run-started", run: "r", stages: [] },
      { time, type: "warning", stage: "answers", message: 'a "quoted" [TOKEN]\n\u0000' },
      { time, type: "run-finished", state: "done" },
    ]);
    expect(lines[0]?.startsWith('{"time":')).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
