/** A bench that is killed leaves nobody behind: not even a child that ignores TERM, and reads and writes nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project } from "./rigs/cli.js";

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test.each(["per-question", "json-lines"])("a killed bench's children end, those of theirs too (%s)", async (protocol) => {
  const home = mkdtempSync(join(tmpdir(), "bench-orphans-"));
  const socket = join(home, "s");
  // Each process says that it is there and holds the connection for as long as it lives.
  let arrived = 0;
  let gone = 0;
  const both = deferred();
  const nobody = deferred();
  const server = createServer((connection) => {
    connection.on("error", () => {});
    if (++arrived === 2) both.resolve();
    connection.once("close", () => {
      if (++gone === 2) nobody.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const made = project();
  made.write(
    "pipelines/p.yaml",
    `name: p
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers:
    uses: query-backend
    needs: dataset
    with: { backend: { kind: command, run: [node, ./stubborn.mjs], protocol: ${protocol}, concurrency: 1, version: "1" } }
`,
  );
  const cases = ["a", "b"].map((id) => JSON.stringify({ id, title: "t", targets: [{ path: "x.c" }] }));
  made.write("pipelines/cases.jsonl", cases.join("\n"));
  made.write(
    "pipelines/stubborn.mjs",
    `import { connect } from "node:net";
import { spawn } from "node:child_process";
process.on("SIGTERM", () => {});
connect(${JSON.stringify(socket)}).on("error", () => {});
if (process.argv[2] !== "child") spawn(process.execPath, [import.meta.filename, "child"], { stdio: "ignore" });
setInterval(() => {}, 1 << 30);
`,
  );
  const { pid } = made.start(["run", "pipelines/p.yaml"]);
  await both.promise;
  process.kill(pid, "SIGKILL");
  await nobody.promise;
  expect([arrived, gone]).toEqual([2, 2]);
  server.close();
  rmSync(home, { recursive: true });
  made.remove();
});
