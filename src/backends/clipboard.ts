/**
 * Puts text on the clipboard with the first program that can, as the systems have it.
 *
 * Not run like a search tool: `wl-copy`, `xclip` and `xsel` leave a process behind that serves the clipboard, which must outlive them (and
 * us), and which holds their output open. So nothing of theirs is read, and nothing of theirs is ended.
 */
import { spawn } from "node:child_process";
import { type Env, passedOn } from "./tool-process.js";

/** In the order in which they are tried. */
export const CLIPBOARDS: readonly (readonly string[])[] = [
  ["pbcopy"],
  ["wl-copy"],
  ["xclip", "-selection", "clipboard"],
  ["xsel", "--clipboard", "--input"],
  ["clip"],
];
const DISPLAY = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];
/** A program that is still busy after this long has no display to talk to. */
const PATIENCE_MS = 2000;

/** The name of the program that took the text, or null where none did. */
export async function copyToClipboard(
  text: string,
  env: Env,
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>,
): Promise<string | null> {
  for (const [program = "", ...args] of CLIPBOARDS) {
    if (await took(program, args, text, env, sleep)) return program;
  }
  return null;
}

async function took(
  program: string,
  args: readonly string[],
  text: string,
  env: Env,
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const child = spawn(program, args, { env: passedOn(env, DISPLAY), detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const ended = new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
  child.stdin.on("error", () => {});
  child.stdin.end(text);
  const timer = new AbortController();
  const late = sleep(PATIENCE_MS, timer.signal).then(
    () => false,
    () => false,
  );
  const done = await Promise.race([ended, late]);
  timer.abort();
  child.unref();
  return done;
}
