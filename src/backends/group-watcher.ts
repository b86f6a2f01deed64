/**
 * Ends process groups when this process is gone, however it went.
 *
 * A KILL runs no handler, and a child that leads its own group and reads no pipe lives on: a search tool of hours, a paid model's client. So one
 * small process waits at the other end of a pipe and is told which groups are alive; when the pipe closes, they get TERM and, after a
 * moment, KILL. It is started with the first group and costs nothing to those that start none.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";

/** What the watcher runs. Text and not a file, so that it is there wherever this module was bundled to. */
const PROGRAM = `
const groups = new Set();
let rest = "";
process.stdin.setEncoding("latin1");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const pid = Number(line.slice(1));
    if (line[0] === "+") groups.add(pid);
    else groups.delete(pid);
  }
});
const end = (signal) => { for (const pid of groups) { try { process.kill(-pid, signal); } catch {} } };
process.stdin.on("close", () => {
  if (groups.size === 0) process.exit(0);
  end("SIGTERM");
  setTimeout(() => { end("SIGKILL"); process.exit(0); }, 1000);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
`;

let watcher: Writable | null | undefined;

/** `+`: the group is alive; `-`: it is over. */
export function tellWatcher(what: "+" | "-", pid: number): void {
  if (watcher === undefined) {
    if (what === "-") return;
    watcher = start();
  }
  if (watcher?.writable === true) watcher.write(`${what}${pid}\n`);
}

/** null: it can't be started; then only an orderly end ends the groups. */
function start(): Writable | null {
  let child: ChildProcess;
  try {
    // A group of its own: a Ctrl-C at the terminal must not end it before its work.
    child = spawn(process.execPath, ["-e", PROGRAM], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: {},
      windowsHide: true,
    });
  } catch {
    return null;
  }
  const { stdin } = child;
  child.on("error", () => {});
  child.unref();
  stdin?.on("error", () => {});
  // Neither the watcher nor its pipe keeps this process alive.
  if (stdin !== null && "unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return stdin;
}
