/**
 * `npm: name@version`: the sources that were published as an npm package.
 *
 * npm itself fetches, so that registries, proxies and credentials are those that npm is configured with; `npm pack` of a registry
 * package downloads the archive and runs nothing of it. The archive is unpacked by `tarball.ts` and never installed.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { visible } from "../base/diagnostics.js";
import { err, ok, type Result } from "../base/result.js";
import { type ChildResult, childEnvironment, runChild } from "./child.js";
import type { SourceFailure } from "./tools.js";

export interface NpmSpec {
  readonly name: string;
  readonly version: string;
}

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const EXACT_VERSION = /^\d{1,16}\.\d{1,16}\.\d{1,16}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/**
 * `name@version` with an exact version. Ranges and tags are refused because they mean another tree tomorrow; folders, addresses and
 * aliases because npm would then run or follow something that is no registry package.
 */
export function parseNpmSpec(text: string): Result<NpmSpec, string> {
  const at = text.lastIndexOf("@");
  const name = at > 0 ? text.slice(0, at) : text;
  const version = at > 0 ? text.slice(at + 1) : "";
  if (text.length > 300 || !NAME.test(name) || name.startsWith("-")) {
    return err(`${visible(text.slice(0, 100))} is no package name: write name@version, such as cordova-android@8.0.0`);
  }
  if (!EXACT_VERSION.test(version)) {
    const what = version === "" ? "has no version" : `names no exact version (${visible(version.slice(0, 60))})`;
    return err(
      `${name} ${what}: write ${name}@1.2.3, so that everyone gets the same sources (\`npm view ${name} versions\` lists them)`,
    );
  }
  return ok({ name, version });
}

/** One `sha512-` entry of a Subresource Integrity value. */
export function isSha512Integrity(text: string): boolean {
  return /^sha512-[A-Za-z0-9+/]{86}==$/.test(text);
}

export function sha512Integrity(bytes: Uint8Array): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

export function sameIntegrity(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

export interface FetchOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder whose `.npmrc` counts beside the user's. */
  readonly cwd: string;
  /** Where a temporary folder may be made; it is gone afterwards. */
  readonly scratch: string;
  /** Use npm's own cache only. */
  readonly offline: boolean;
  readonly signal: AbortSignal;
}

const TIMEOUT_SECONDS = 300;

/** The archive's bytes, compared with the integrity that npm states. */
export async function fetchPackage(
  spec: NpmSpec,
  options: FetchOptions,
): Promise<Result<{ readonly bytes: Uint8Array; readonly integrity: string }, SourceFailure>> {
  await mkdir(options.scratch, { recursive: true });
  const folder = await mkdtemp(join(options.scratch, "pack-"));
  try {
    const result = await runNpm(
      [
        "pack",
        `${spec.name}@${spec.version}`,
        "--ignore-scripts",
        "--json",
        "--dry-run=false",
        "--workspaces=false",
        "--loglevel=error",
        "--update-notifier=false",
        ...(options.offline ? ["--offline"] : []),
        "--pack-destination",
        folder,
      ],
      options,
    );
    if (!result.ok) return err(explain(spec, result, options.offline));
    // The name that npm reports for scoped packages differs between its versions; the folder holds exactly one archive.
    const archives = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
    const archive = archives[0];
    if (archive === undefined || archives.length !== 1) {
      return err({
        message: `npm pack ${spec.name}@${spec.version} wrote ${archives.length} archives instead of one`,
        transient: false,
      });
    }
    const bytes = await readFile(join(folder, archive));
    const integrity = sha512Integrity(bytes);
    const stated = statedIntegrity(result.stdout);
    if (stated !== null && !sameIntegrity(stated, integrity)) {
      return err({
        message: `the archive of ${spec.name}@${spec.version} has ${integrity}, but npm states ${stated}: it was damaged on the way. Run again; if it stays so, \`npm cache verify\``,
        transient: true,
      });
    }
    return ok({ bytes, integrity });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** npm from PATH, else the npm that started us (`npm run`), which need not be in PATH. */
async function runNpm(args: readonly string[], options: FetchOptions): Promise<ChildResult> {
  const child = {
    cwd: options.cwd,
    env: childEnvironment(options.env, (name) => NPM_VARIABLES.has(name) || name.startsWith("NPM_CONFIG_")),
    timeoutSeconds: TIMEOUT_SECONDS,
    signal: options.signal,
  };
  const result = await runChild("npm", args, child);
  const script = options.env.npm_execpath;
  if (result.failure !== "not-found" || script === undefined || basename(script) !== "npm-cli.js") return result;
  return runChild(process.execPath, [script, ...args], child);
}

/** Where npm's configuration lies, and the variables that `.npmrc` files commonly take their credentials from. */
const NPM_VARIABLES = new Set([
  "HOME",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "NODE_EXTRA_CA_CERTS",
  "NPM_TOKEN",
  "NODE_AUTH_TOKEN",
]);

function statedIntegrity(stdout: Uint8Array): string | null {
  const output = parseJson(stdout);
  const first = Array.isArray(output) ? output[0] : undefined;
  const integrity = typeof first === "object" && first !== null ? (first as { integrity?: unknown }).integrity : undefined;
  return typeof integrity === "string" && isSha512Integrity(integrity) ? integrity : null;
}

function parseJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const NETWORK_CODES = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "ETIMEDOUT",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ERR_SOCKET_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "E429",
  "E500",
  "E502",
  "E503",
  "E504",
]);

function explain(spec: NpmSpec, result: ChildResult, offline: boolean): SourceFailure {
  const what = `${spec.name}@${spec.version}`;
  switch (result.failure) {
    case "not-found":
      return {
        message: `npm was not found in PATH: it is needed once to fetch ${what}. It comes with Node.js`,
        transient: false,
      };
    case "timed-out":
      return {
        message: `npm pack ${what} did not finish within ${TIMEOUT_SECONDS} seconds. Is the registry reachable?`,
        transient: true,
      };
    case "cancelled":
      return { message: `npm pack ${what} was stopped`, transient: false };
    default:
  }
  const { code, summary } = npmError(result);
  const detail = summary === "" ? "" : ` (${summary})`;
  if (code === "E404" || code === "ETARGET") {
    const missing = code === "E404" ? "there is no such package" : "the package has no such version";
    return { message: `${what}: ${missing} in the registry that npm is configured with${detail}`, transient: false };
  }
  if (code === "ENOTCACHED" || (offline && NETWORK_CODES.has(code))) {
    return {
      message: `${what} is not in the cache, and this run is offline: run once without --offline, or \`npm cache add ${what}\``,
      transient: false,
    };
  }
  if (code === "E401" || code === "E403") {
    return { message: `${what}: the registry refuses access; see \`npm login\` and .npmrc${detail}`, transient: false };
  }
  if (NETWORK_CODES.has(code)) {
    return {
      message: `${what} could not be fetched, the registry can't be reached: ${code}${detail}. Run again when there is a network`,
      transient: true,
    };
  }
  return {
    message: `npm pack ${what} failed: ${code === "" ? "no reason given" : code}${detail}`,
    transient: code === "EINTEGRITY",
  };
}

/** From npm's JSON, which is on stdout or stderr depending on its version, else from its `npm error code` lines. */
function npmError(result: ChildResult): { code: string; summary: string } {
  for (const bytes of [result.stdout, Buffer.from(result.stderr)]) {
    const output = parseJson(bytes);
    const error = typeof output === "object" && output !== null ? (output as { error?: unknown }).error : undefined;
    if (typeof error === "object" && error !== null) {
      const { code, summary } = error as { code?: unknown; summary?: unknown };
      return { code: typeof code === "string" ? code : "", summary: typeof summary === "string" ? brief(summary) : "" };
    }
  }
  const code = /npm (?:error|ERR!) code (\S{1,60})/.exec(result.stderr)?.[1] ?? "";
  const line = /npm (?:error|ERR!) (?!code )([^\n]{1,300})/.exec(result.stderr)?.[1] ?? "";
  return { code, summary: brief(line) };
}

/** One line, no control characters, and no credentials of an address. */
function brief(text: string): string {
  return visible(text.split("\n", 1)[0] ?? "")
    .replace(/\/\/[^/@\s]{1,300}@/g, "//")
    .slice(0, 300);
}
