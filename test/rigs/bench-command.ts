/** Runs a command in this process, as a shell would call it, with output collected. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Io } from "../../src/cli/contract.js";
import { main } from "../../src/cli/main.js";

export interface Outcome {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function bench(
  cwd: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  columns = 100,
): Promise<Outcome> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const io: Io = {
    stdout: (text) => void stdout.push(text),
    stderr: (text) => void stderr.push(text),
    env,
    cwd,
    terminal: { isTTY: false, columns, colour: false },
    interrupted: new AbortController().signal,
  };
  const exit = await main(argv, io);
  return { exit, stdout: stdout.join(""), stderr: stderr.join("") };
}

/** A new temporary folder with these files. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "bench-test-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
