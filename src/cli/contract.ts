/** What a command is: one file per command in this folder, listed in `main.ts`, loaded only when it is called. */

/** The outside world of a command. Results go to stdout, everything else to stderr. */
export interface Io {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly terminal: { readonly isTTY: boolean; readonly columns: number; readonly colour: boolean };
  /** Where a person, or a pipe in their place, answers; absent where nothing is read. */
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Aborts on the first Ctrl-C (SIGINT) or SIGTERM. */
  readonly interrupted: AbortSignal;
}

export interface CommandOption {
  /** cac's form: `--rules <name>`, `--json`, `--set <k=v>`. */
  readonly flag: string;
  readonly description: string;
  /** May be given several times; the command then gets an array. */
  readonly repeated?: boolean;
}

export interface Command {
  /** cac's form: `run <pipeline>`, `cache <action> [...args]`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly CommandOption[];
  readonly examples?: readonly string[];
  /**
   * Arguments and option values arrive exactly as typed (strings; `true` for a flag without value; arrays for repeated ones),
   * never coerced to numbers. Returns the exit code.
   */
  readonly run: (args: readonly string[], options: Readonly<Record<string, OptionValue>>, io: Io) => Promise<number>;
}

export type OptionValue = string | boolean | readonly string[] | undefined;

/** A mistake of the person who typed: shown without a stack trace, exit 2. */
export class UsageError extends Error {}

export const EXIT = { done: 0, failed: 1, usage: 2, gate: 3, resumable: 75, interrupted: 130 } as const;
