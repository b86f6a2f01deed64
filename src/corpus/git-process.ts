/**
 * Running `git` on repositories that nobody vouches for: no system or personal configuration, no hooks, no prompts, no transports
 * beyond the usual ones, and nothing that a repository says is taken for an option.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { visible } from "../base/diagnostics.js";
import { err, ok, type Result } from "../base/result.js";
import { type ChildResult, childEnvironment, runChild } from "./child.js";
import type { SourceFailure } from "./tools.js";

export interface Git {
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** `home`: a folder of our own that stands for the home folder, made on demand. */
export async function openGit(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  signal: AbortSignal,
): Promise<Git> {
  await mkdir(home, { recursive: true });
  // Repositories of another owner may be read: git's check protects against their configuration and hooks, which are off anyway.
  const config = join(home, "config");
  // Renamed into place and then left alone: another process may be reading it.
  if ((await readFile(config, "utf8").catch(() => null)) !== CONFIG) {
    const making = `${config}.${randomUUID()}.tmp`;
    await writeFile(making, CONFIG);
    await rename(making, config);
  }
  return {
    signal,
    env: {
      ...childEnvironment(env, (name) => GIT_VARIABLES.has(name)),
      HOME: home,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: config,
      GIT_ATTR_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_ASKPASS: "",
      SSH_ASKPASS: "",
      GIT_SSH_COMMAND: "ssh -o BatchMode=yes",
      GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file",
      // Fetches what is missing only when we ask for it, all at once (git 2.45 and newer; older ones ignore it).
      GIT_NO_LAZY_FETCH: "1",
      GIT_OPTIONAL_LOCKS: "0",
      LC_ALL: "C",
    },
  };
}

const CONFIG = "[safe]\n\tdirectory = *\n";

const GIT_VARIABLES = new Set(["SSH_AUTH_SOCK", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "CURL_CA_BUNDLE", "USERPROFILE"]);

const ALWAYS = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "gc.auto=0",
  "-c",
  "maintenance.auto=false",
  "-c",
  "protocol.ext.allow=never",
  "-c",
  "core.quotePath=false",
];

const TIMEOUT_SECONDS = 1800;

/** stdout of `git args`; the failure names the repository and what git said. */
export async function git(
  setup: Git,
  folder: string | null,
  args: readonly string[],
  options: { readonly input?: string; readonly about: string; readonly maxOutput?: number },
): Promise<Result<Uint8Array, SourceFailure>> {
  const result = await runChild("git", gitArguments(folder, args), {
    env: setup.env,
    signal: setup.signal,
    timeoutSeconds: TIMEOUT_SECONDS,
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.maxOutput === undefined ? {} : { maxOutput: options.maxOutput }),
  });
  return result.ok ? ok(result.stdout) : err(explain(result, options.about));
}

/** `folder`: the repository (bare, or a working tree's); given as `--git-dir` so that no other is ever searched for. */
export function gitArguments(folder: string | null, args: readonly string[]): string[] {
  return [...ALWAYS, ...(folder === null ? [] : [`--git-dir=${folder}`]), ...args];
}

function explain(result: ChildResult, about: string): SourceFailure {
  switch (result.failure) {
    case "not-found":
      return {
        message: `git was not found in PATH: it is needed to read ${about}. Install git, or use \`folder\` or \`npm\``,
        transient: false,
      };
    case "timed-out":
      return { message: `git did not finish with ${about} within ${TIMEOUT_SECONDS / 60} minutes`, transient: true };
    case "cancelled":
      return { message: `git was stopped while it read ${about}`, transient: false };
    case "too-much-output":
      return { message: `${about} has more files than can be read`, transient: false };
    default: {
      const said = firstComplaint(result.stderr);
      return { message: `git can't read ${about}: ${said}${advice(said)}`, transient: isTransient(said) };
    }
  }
}

/** The line that says why: git's progress and warnings come before it. */
function firstComplaint(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines.at(-1) ?? "it gave no reason";
  return redactAddress(visible(line.replace(/^(?:fatal|error): /, ""))).slice(0, 300);
}

function isTransient(said: string): boolean {
  return /could not resolve host|couldn't connect|failed to connect|could not connect|timed out|connection (?:reset|refused)|early eof|hung up|unreachable|HTTP 5\d\d|error: 5\d\d/i.test(
    said,
  );
}

function advice(said: string): string {
  if (/could not read Username|Authentication failed|Permission denied|terminal prompts disabled/i.test(said)) {
    return ". It may not exist, or it needs credentials, which are not used here: clone it yourself and give the path of the clone";
  }
  if (/could not resolve host|couldn't connect|failed to connect|unreachable/i.test(said))
    return ". Run again when there is a network";
  if (/transport '.{0,40}' not allowed/i.test(said)) return ". Use https, ssh, file or a path";
  return "";
}

/** An address without user name, password and query. */
export function redactAddress(text: string): string {
  return text.replace(/\/\/[^/@\s]{1,300}@/g, "//").replace(/(:\/\/[^\s?#']{1,2000})[?#][^\s']{1,2000}/g, "$1");
}
