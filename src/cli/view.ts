/**
 * `bench view [RUN]`: all runs in the browser, and the one that is under way as it goes. On this machine alone: it listens on 127.0.0.1, answers only
 * requests that name it so (another site's page must not read runs through the browser), and serves only files that lie in a run's folder.
 */
import { execFile } from "node:child_process";
import { type FSWatcher, watch } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { readRunRecord } from "../engine/record.js";
import { type Command, EXIT, type Io, type OptionValue, UsageError } from "./contract.js";
import { count, flag, text } from "./options.js";
import { findProjectRoot, findRun, outFolder } from "./project.js";
import { indexPage, type ListedRun, progressOf, runPage, SCRIPT, STYLE } from "./view-pages.js";

export const command: Command = {
  usage: "view [run]",
  summary: "Show runs in the browser, the one under way as it goes (on this machine alone)",
  options: [
    { flag: "--port <n>", description: "Port on 127.0.0.1 (default: a free one)" },
    { flag: "--runs <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--open", description: "Open it in the browser" },
  ],
  examples: ["bench view", "bench view latest --open"],
  run: view,
};

async function view([run]: readonly string[], options: Readonly<Record<string, OptionValue>>, io: Io): Promise<number> {
  const runs = text(options, "runs");
  const out = outFolder(runs === undefined ? {} : { out: runs }, findProjectRoot(io.cwd), io.cwd);
  const port = count(options, "port", 0) ?? 0;
  if (port > 65_535) throw new UsageError(`--port ${port}: ports go up to 65535`);
  const start = run === undefined ? "/" : `/run/${encodeURIComponent(basename(await findRun(run, out, io.cwd)))}/`;
  const server = createServer((request, response) => {
    answer(request, response, out).catch(() => send(response, 500, "text/plain", "this could not be read\n"));
  });
  const failed = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once("error", resolve);
    server.listen(port, "127.0.0.1", () => resolve(null));
  });
  if (failed !== null) throw new UsageError(`127.0.0.1:${port} can't be listened on (${failed.code}): give another --port`);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${start}`;
  io.stdout(`${url}\n`);
  io.stderr("Ctrl-C ends it.\n");
  if (flag(options, "open")) {
    const program = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
    execFile(program, [url], () => {});
  }
  await new Promise<void>((resolve) => {
    if (io.interrupted.aborted) resolve();
    else io.interrupted.addEventListener("abort", () => resolve(), { once: true });
  });
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return EXIT.done;
}

async function answer(request: IncomingMessage, response: ServerResponse, out: string): Promise<void> {
  const { port } = request.socket.address() as AddressInfo;
  // A name that somebody else's server has pointed here (DNS rebinding) is not ours.
  if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(request.headers.host ?? ""))
    return send(response, 403, "text/plain", "not from here\n");
  if (request.method !== "GET" && request.method !== "HEAD") return send(response, 405, "text/plain", "only to be read\n");
  let path: string[];
  try {
    // Not through URL, which would make sense of `..` and of a second host.
    path = ((request.url ?? "/").split(/[?#]/)[0] ?? "/").split("/").slice(1).map(decodeURIComponent);
  } catch {
    return send(response, 400, "text/plain", "this is no address\n");
  }
  const [first = "", second = "", third] = path;
  if (path.length === 1 && first === "") return send(response, 200, "text/html", indexPage(await listed(out), await tables(out)));
  if (path.length === 1 && first === "view.css") return send(response, 200, "text/css", STYLE);
  if (path.length === 1 && first === "view.js") return send(response, 200, "text/javascript", SCRIPT);
  if (path.length === 2 && first === "all") {
    const name = (await tables(out)).find((one) => one === second);
    if (name !== undefined) return send(response, 200, "text/plain", await readFile(join(out, name, "RESULTS.md"), "utf8"));
  }
  const run = first === "run" && path.length === 3 ? (await folders(out)).find((one) => one === second) : undefined;
  if (run === undefined) return send(response, 404, "text/plain", "there is nothing of that name\n");
  const folder = join(out, run);
  if (third === "events") return events(request, response, folder);
  const files = await filesOf(folder);
  if (third === "") {
    const record = await readRunRecord(folder);
    return record === null
      ? send(response, 200, "text/plain", "the record of this run can't be read\n")
      : send(response, 200, "text/html", runPage(run, record, files));
  }
  const file = files.find((one) => one === third);
  if (file === undefined) return send(response, 404, "text/plain", "there is no such file in this run\n");
  const content = await readFile(join(folder, file));
  // A page of ours has its own policy inside; it must not be shown in another's frame.
  if (file === "report.html") return send(response, 200, "text/html", content, "frame-ancestors 'none'");
  return send(response, 200, file.endsWith(".json") ? "application/json" : "text/plain", content);
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function send(response: ServerResponse, status: number, type: string, body: string | Uint8Array, policy = POLICY): void {
  if (response.headersSent) return void response.end();
  response.writeHead(status, {
    "content-type": `${type}; charset=utf-8`,
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  response.end(body);
}

/** Names are looked for among those that are there, and never joined to a path as they come. */
async function folders(out: string): Promise<string[]> {
  const entries = await readdir(out, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && /^\d{8}T/.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

async function tables(out: string): Promise<string[]> {
  const entries = await readdir(out, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isDirectory() && !/^\d{8}T/.test(entry.name))
    .map(({ name }) => name)
    .sort();
  const there = await Promise.all(
    names.map((name) =>
      stat(join(out, name, "RESULTS.md")).then(
        () => name,
        () => null,
      ),
    ),
  );
  return there.filter((name) => name !== null);
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp"))
    .map(({ name }) => name)
    .sort();
}

async function listed(out: string): Promise<ListedRun[]> {
  return Promise.all(
    (await folders(out)).map(async (id) => {
      const folder = join(out, id);
      return { id, record: await readRunRecord(folder), hasPage: (await filesOf(folder)).includes("report.html") };
    }),
  );
}

/** Changes within this time are told together. */
const PAUSE_MS = 200;

/** The run's progress whenever its record or journal changes, until the reader goes or the run has ended. */
function events(request: IncomingMessage, response: ServerResponse, folder: string): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  // One write may be noticed more than once.
  let told = "";
  const end = () => {
    clearTimeout(timer);
    watcher?.close();
    response.end();
  };
  const tell = async () => {
    const record = await readRunRecord(folder);
    // Between two writes there may be none; the next change tells.
    if (record === null) return;
    const progress = progressOf(record, await endedUnits(folder));
    const text = JSON.stringify(progress);
    if (text !== told) response.write(`data: ${text}\n\n`);
    told = text;
    if (progress.state !== "running") end();
  };
  const later = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      tell().catch(end);
    }, PAUSE_MS);
  };
  try {
    watcher = watch(folder, later);
    watcher.on("error", end);
  } catch {
    // Where folders can't be watched the page shows what is, and a reload the rest.
  }
  request.on("close", end);
  tell().catch(end);
}

async function endedUnits(folder: string): Promise<Map<string, { done: number; failed: number }>> {
  const ended = new Map<string, { done: number; failed: number }>();
  const journal = await readFile(join(folder, "journal.jsonl"), "utf8").catch(() => "");
  for (const line of journal.split("\n")) {
    if (!line.includes('"type":"unit"')) continue;
    try {
      const { stage, status } = JSON.parse(line) as { stage?: unknown; status?: unknown };
      if (typeof stage !== "string") continue;
      const counts = ended.get(stage) ?? { done: 0, failed: 0 };
      ended.set(stage, counts);
      if (status === "completed" || status === "truncated") counts.done += 1;
      else counts.failed += 1;
    } catch {
      // The last line may be half written.
    }
  }
  return ended;
}
