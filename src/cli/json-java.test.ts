/** The shipped pipeline for JSON-java: planned whole, and honest about the backend that is not there yet. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MineRig } from "../../test/rigs/mine-rig.js";
import { closedEvent, named, smallRecording } from "../../test/rigs/small-recording.js";

const PIPELINE = "pipelines/json-java.yaml";
let rig: MineRig;
beforeEach(() => {
  rig = new MineRig("not-asked-for");
  cpSync(resolve(import.meta.dirname, "../..", PIPELINE), join(rig.folder, PIPELINE));
});
afterEach(() => rig.remove());

test("bench plan explains it whole", async () => {
  const { exit, stdout } = await rig.bench("plan", PIPELINE, "--json");
  expect(exit).toBe(0);
  const stages = JSON.parse(stdout).stages.map(({ id }: { id: string }) => id);
  expect(stages).toHaveLength(18);
  for (const cell of ["graphrag-local", "graphrag-drift", "bm25", "random"]) {
    expect(stages).toEqual(expect.arrayContaining([`answers[${cell}]`, `scores[${cell}]`, `intervals[${cell}]`]));
  }
});

test("GraphRAG's cells say what is missing; the others are scored", async () => {
  const recording = smallRecording({
    issues: [{ number: 1, body: "File2 breaks", timeline: [named(2), closedEvent()] }],
    pulls: [{ number: 2, body: "Fixes #1" }],
  });
  writeFileSync(join(rig.folder, "pipelines/r.json"), JSON.stringify(recording));
  // The same pipeline over a recording and a folder, so that nothing leaves this machine.
  const text = readFileSync(join(rig.folder, PIPELINE), "utf8")
    .replace("repo: stleary/JSON-java", "repo: O/R")
    .replace(/(limit: "[^"]*") \}/, "$1, recording: r.json }")
    .replace("links: closing }", "links: closing, recording: r.json }")
    .replace("needs: links\n", "needs: links\n    with: { recording: r.json }\n")
    .replace(/git: .*$/m, "folder: ../tree }");
  writeFileSync(join(rig.folder, PIPELINE), text);
  cpSync(resolve(import.meta.dirname), join(rig.folder, "tree"), { recursive: true });
  writeFileSync(join(rig.folder, "tree/File2.java"), "class File2 {}");
  const { exit, stderr, stdout } = await rig.bench("run", PIPELINE, "--json");
  expect(exit).toBe(1);
  expect(stderr).toMatch(/answers\[graphrag-local\], .*: failed: there is no folder .*graphrag: check `dir:`/);
  const { stages, summary } = JSON.parse(stdout);
  const states = new Map(
    stages.map((stage: { label?: string; name: string; state: string }) => [`${stage.name} ${stage.label}`, stage.state]),
  );
  expect(states.get("answers bm25")).toBe("done");
  expect(states.get("answers graphrag-drift")).toBe("failed");
  expect(Object.keys(summary)).toContain("bm25");
});
