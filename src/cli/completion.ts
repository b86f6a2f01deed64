/**
 * `bench completion bash|zsh|fish`: a script for the shell, made of the commands' own definitions, so that it can't name what is not there. Files and
 * runs are completed by the shell itself: nothing of bench is started at a key press.
 */
import { COMMANDS } from "./commands.js";
import { type Command, type CommandOption, EXIT, type Io, UsageError } from "./contract.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

export const command: Command = {
  usage: "completion <shell>",
  summary: "Write the completion of commands and options for bash, zsh or fish",
  options: [],
  examples: [
    "bench completion bash > ~/.local/share/bash-completion/completions/bench",
    "bench completion zsh > ~/.zfunc/_bench",
    "bench completion fish > ~/.config/fish/completions/bench.fish",
  ],
  run: async ([shell = ""], _options, io: Io) => {
    if (!SHELLS.some((known) => known === shell))
      throw new UsageError(`${JSON.stringify(shell)} is none of ${SHELLS.join(", ")}`);
    const known = await Promise.all(
      Object.entries(COMMANDS).map(async ([name, { load, summary }]) => ({ name, summary, command: (await load()).command })),
    );
    io.stdout(shell === "bash" ? bash(known) : shell === "zsh" ? zsh(known) : fish(known));
    return EXIT.done;
  },
};

interface Known {
  readonly name: string;
  readonly summary: string;
  readonly command: Command;
}

interface Flag {
  readonly name: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly repeated: boolean;
}

function flagsOf({ options }: Command): Flag[] {
  const flags = options.flatMap(({ flag, description, repeated }: CommandOption) =>
    [...flag.matchAll(/--([a-z][a-z-]*)/g)].map(([, name = ""]) => ({
      name,
      description,
      takesValue: flag.includes("<"),
      repeated: repeated === true,
    })),
  );
  return [...flags, { name: "help", description: "What the command does, and its options", takesValue: false, repeated: false }];
}

/** What the positional arguments are: pipeline files, runs, or any files. */
function placeOf({ usage }: Command): "pipeline" | "run" | "file" {
  if (/[<[](?:\.\.\.)?pipeline/.test(usage)) return "pipeline";
  return /[<[](?:\.\.\.)?run/.test(usage) ? "run" : "file";
}

/** Within single quotes of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function bash(known: readonly Known[]): string {
  const cases = known.map(
    ({ name, command: one }) =>
      `    ${name}) flags=${quoted(
        flagsOf(one)
          .map((flag) => `--${flag.name}`)
          .join(" "),
      )}; place=${placeOf(one)} ;;`,
  );
  return `# Completion of bench for bash, written by: bench completion bash
_bench() {
  local current=\${COMP_WORDS[COMP_CWORD]} flags= place=file
  COMPREPLY=()
  if [ "$COMP_CWORD" -le 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(known.map(({ name }) => name).join(" "))} -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join("\n")}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [ "$place" = pipeline ]; then
    COMPREPLY=($(compgen -f -X '!*.@(yaml|yml)' -- "$current") $(compgen -d -- "$current"))
  elif [ "$place" = run ]; then
    COMPREPLY=($(compgen -W "latest $(ls evaluation_results 2>/dev/null)" -- "$current") $(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
shopt -s extglob
complete -o filenames -F _bench bench
`;
}

function zsh(known: readonly Known[]): string {
  // In a specification of _arguments brackets and colons end the description.
  const described = (text: string) =>
    text
      .replace(/[[\]:]/g, " ")
      .replace(/\s+/g, " ")
      .trim();
  const action = { pipeline: "_files -g '*.(yaml|yml)'", run: "_bench_runs", file: "_files" };
  const cases = known.map(({ name, command: one }) => {
    const specs = flagsOf(one).map((flag) =>
      quoted(
        `${flag.repeated ? "*" : ""}--${flag.name}[${described(flag.description)}]${flag.takesValue ? `:${flag.name}:_files` : ""}`,
      ),
    );
    return `    ${name}) _arguments ${specs.join(" ")} ${quoted(`*:argument:${action[placeOf(one)]}`)} ;;`;
  });
  return `#compdef bench
# Completion of bench for zsh, written by: bench completion zsh
_bench_runs() {
  compadd latest
  [ -d evaluation_results ] && compadd -- evaluation_results/*(N:t)
  _files
}
_bench() {
  local -a commands
  commands=(${known.map(({ name, summary }) => quoted(`${name}:${described(summary)}`)).join(" ")})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = _bench ]; then _bench "$@"; else compdef _bench bench; fi
`;
}

function fish(known: readonly Known[]): string {
  const quote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = known.flatMap(({ name, summary, command: one }) => {
    const seen = `-n ${quote(`__fish_seen_subcommand_from ${name}`)}`;
    const runs = placeOf(one) === "run" ? [`complete -c bench ${seen} -a 'latest (ls evaluation_results 2>/dev/null)'`] : [];
    return [
      `complete -c bench -f -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
      ...flagsOf(one).map(
        (flag) => `complete -c bench ${seen} -l ${flag.name}${flag.takesValue ? " -r" : ""} -d ${quote(flag.description)}`,
      ),
      ...runs,
    ];
  });
  return `# Completion of bench for fish, written by: bench completion fish\n${lines.join("\n")}\n`;
}
