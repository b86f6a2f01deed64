#!/usr/bin/env node
/** The command line: finds the command, hands it the outside world, turns its result into an exit code. */
import { setMaxListeners } from "node:events";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cac } from "cac";
import { redactor } from "../base/env-secrets.js";
import { nearest } from "../base/nearest.js";
import { CacheUnwritable } from "../cache/errors.js";
import { COMMANDS } from "./commands.js";
import { type Command, EXIT, type Io, UsageError } from "./contract.js";
import { readArguments } from "./options.js";
import { benchVersion } from "./project.js";

export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    io.stdout(overview(await benchVersion()));
    return EXIT.done;
  }
  if (name === "--version" || name === "-v") {
    io.stdout(`${await benchVersion()}\n`);
    return EXIT.done;
  }
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) {
    const near = nearest(name, Object.keys(COMMANDS));
    io.stderr(
      `bench: unknown command ${JSON.stringify(name)}${near === undefined ? "" : `; did you mean "${near}"?`} (bench --help lists them)\n`,
    );
    return EXIT.usage;
  }
  const { command } = await entry.load();
  const helpAt = rest.findIndex((token) => token === "--help" || token === "-h");
  const end = rest.indexOf("--");
  if (helpAt !== -1 && (end === -1 || helpAt < end)) {
    io.stdout(await help(command));
    return EXIT.done;
  }
  try {
    const { args, options } = readArguments(command, rest);
    checkArguments(command, args);
    return await command.run(args, options, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.stderr(`bench ${name}: ${error.message}\n`);
      return EXIT.usage;
    }
    if (error instanceof CacheUnwritable) {
      io.stderr(`bench ${name}: ${error.message}. Make room, mind the folder's permissions, or give another --cache.\n`);
      return EXIT.failed;
    }
    // The system refused something that a person can mend: no stack trace.
    if (isSystemError(error)) {
      io.stderr(`bench ${name}: ${error.message}\n`);
      return EXIT.failed;
    }
    throw error;
  }
}

const MENDABLE = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOSPC",
  "ENOENT",
  "ENOTDIR",
  "EISDIR",
  "EEXIST",
  "ENOTEMPTY",
  "EMFILE",
  "ENFILE",
  "ELOOP",
  "ENAMETOOLONG",
]);

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error && MENDABLE.has(String(error.code));
}

/** `<x>` must be there, `[x]` may, `[...x]` may be many. */
function checkArguments(command: Command, args: readonly string[]): void {
  const places = command.usage.split(" ").slice(1);
  const required = places.filter((place) => place.startsWith("<"));
  const open = places.some((place) => place.includes("..."));
  if (args.length < required.length) throw new UsageError(`missing ${required[args.length]}; usage: bench ${command.usage}`);
  if (!open && args.length > places.length)
    throw new UsageError(`unexpected ${JSON.stringify(args[places.length])}; usage: bench ${command.usage}`);
}

function overview(version: string): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `bench ${version}: cached, resumable pipelines that benchmark code search and issue localisation

Usage: bench <command> [options]

${lines.join("\n")}

bench <command> --help says more about each. Start with: bench run pipelines/quickstart.yaml
Exit codes: 0 done, 1 something failed, 2 wrong usage or pipeline, 3 a gate was missed, 75 stopped but resumable, 130 interrupted.
`;
}

async function help(command: Command): Promise<string> {
  const cli = cac("bench");
  const entry = cli.command(command.usage, command.summary);
  for (const { flag, description } of command.options) entry.option(flag, description);
  for (const example of command.examples ?? []) entry.example(example);
  const lines: string[] = [];
  const log = console.info;
  // cac prints its help itself; what it prints is taken here, so that it goes where stdout goes.
  console.info = (text: unknown) => void lines.push(String(text));
  try {
    cli.matchedCommand = entry;
    cli.help();
    cli.outputHelp();
  } finally {
    console.info = log;
  }
  return `${command.summary}\n\n${lines.join("\n").trim()}\n`;
}

function processIo(): Io {
  const controller = new AbortController();
  // Every unit at work listens to it; the default warns of a leak at eleven.
  setMaxListeners(0, controller.signal);
  const interrupt = () => {
    // The second one means it: leave at once. Finished answers are on disk already.
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new Error("interrupted"));
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  // A closed pipe (`bench ... | head`) is no error of ours.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(EXIT.done);
      throw error;
    });
  }
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    // Touched only when something is read: opening it would keep a pipe's writer waiting.
    get stdin() {
      return process.stdin;
    },
    env: process.env,
    cwd: process.cwd(),
    terminal: {
      isTTY: process.stderr.isTTY === true,
      columns: process.stderr.columns ?? process.stdout.columns ?? 80,
      colour: process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb",
    },
    interrupted: controller.signal,
  };
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const code = await main(process.argv.slice(2), processIo()).catch((error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    // A report is posted where everybody reads it.
    process.stderr.write(`bench: internal error (please report it with this text)\n${redactor(process.env)(text)}\n`);
    return EXIT.failed;
  });
  process.exitCode = code;
  // Output to a pipe is written asynchronously: leave only when it is out, and then without waiting for stray handles.
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
  process.exit(code);
}
