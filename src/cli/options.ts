/**
 * Options as typed. cac turns values that look like numbers into numbers (`007` into 7, a commit id such as `12e5` into 1200000), so it
 * decides what is known and writes the help, and the values are read again from the raw arguments here.
 */
import { nearest } from "../base/nearest.js";
import { type Command, type OptionValue, UsageError } from "./contract.js";

interface Declared {
  readonly name: string;
  readonly takes: "nothing" | "value" | "optional";
  readonly repeated: boolean;
}

function declared(command: Command): Declared[] {
  return command.options.flatMap(({ flag, repeated }) => {
    const takes = flag.includes("<") ? "value" : flag.includes("[") ? "optional" : "nothing";
    return [...flag.matchAll(/(?:^|[\s,])--([a-z][a-z-]*)/g)].map(
      (match) => ({ name: match[1] ?? "", takes, repeated: repeated === true }) as const,
    );
  });
}

/** Positional arguments and options of `argv` (what follows the command's name). Throws `UsageError` for what is not declared. */
export function readArguments(
  command: Command,
  argv: readonly string[],
): { args: string[]; options: Record<string, OptionValue> } {
  const known = new Map(declared(command).map((option) => [option.name, option]));
  const args: string[] = [];
  const options: Record<string, OptionValue> = {};
  for (let index = 0; index < argv.length; index++) {
    const token = argv[index] as string;
    if (token === "--") {
      args.push(...argv.slice(index + 1));
      break;
    }
    if (!token.startsWith("-") || token === "-") {
      args.push(token);
      continue;
    }
    const [written, inline] = token.includes("=")
      ? [token.slice(0, token.indexOf("=")), token.slice(token.indexOf("=") + 1)]
      : [token, undefined];
    const name = written.replace(/^--?/, "");
    const option = written.startsWith("--") ? known.get(name) : undefined;
    if (option === undefined) {
      const near = nearest(name, known.keys());
      throw new UsageError(
        `unknown option ${written}${near === undefined ? "" : `; did you mean --${near}?`} (bench ${command.usage.split(" ")[0]} --help lists them)`,
      );
    }
    let value: string | true;
    if (option.takes === "nothing") {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
      value = true;
    } else {
      const next = argv[index + 1];
      const takesNext = inline === undefined && next !== undefined && (next === "-" || !next.startsWith("--"));
      if (inline === undefined && !takesNext && option.takes === "value") throw new UsageError(`--${name} needs a value`);
      value = inline ?? (takesNext ? (next as string) : true);
      if (takesNext) index++;
    }
    if (!option.repeated) options[name] = value;
    else options[name] = [...((options[name] as readonly string[] | undefined) ?? []), String(value)];
  }
  return { args, options };
}

export function text(options: Readonly<Record<string, OptionValue>>, name: string): string | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw new UsageError(`--${name} needs a value`);
  return value;
}

/** Values of a repeatable option, each of which may itself be a comma-separated list. */
export function list(options: Readonly<Record<string, OptionValue>>, name: string): string[] {
  const value = options[name];
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [String(value)])
    .flatMap((entry) => entry.split(","))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

export function flag(options: Readonly<Record<string, OptionValue>>, name: string): boolean {
  return options[name] === true;
}

export function count(
  options: Readonly<Record<string, OptionValue>>,
  name: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least || number > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new UsageError(`--${name} needs a whole number ${range}, not ${JSON.stringify(value)}`);
  }
  return number;
}

/** `90`, `90s`, `15m`, `1h`, `1d` in milliseconds. */
export function duration(options: Readonly<Record<string, OptionValue>>, name: string): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)(s|m|h|d)?$/.exec(value);
  if (match === null) throw new UsageError(`--${name} needs a duration such as 90s, 15m or 1h, not ${JSON.stringify(value)}`);
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }[match[2] ?? "s"] ?? 1;
  return Number(match[1]) * unit * 1000;
}
