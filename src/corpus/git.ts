/**
 * `git: URL or path, at: REF | base`: a bare clone of our own below the cache, and trees read out of it.
 *
 * A clone of an address is blobless (history without file contents); the contents of a tree are then fetched in one request and kept.
 * Nothing is checked out, so no filter, hook or attribute of the repository ever runs. A path is cloned whole.
 */
import { randomUUID } from "node:crypto";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { digestJson } from "../base/json.js";
import { err, ok, type Result } from "../base/result.js";
import { type Git, git, openGit, redactAddress } from "./git-process.js";
import { shownPath } from "./paths.js";
import type { CheckoutTools, SourceFailure } from "./tools.js";

export type GitPlace =
  /** `url` without credentials is what people and keys see. */
  | { readonly kind: "url"; readonly url: string; readonly shown: string }
  | { readonly kind: "path"; readonly path: string; readonly shown: string };

/** `https://…`, `ssh://…`, `user@host:path`, or a path (relative to `baseFolder`). */
export function parsePlace(text: string, baseFolder: string): Result<GitPlace, string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (text === "" || text.startsWith("-") || text.length > 2000 || /[\u0000-\u001f\u007f]/.test(text)) {
    return err("`git` must be an address (https://...) or the path of a repository");
  }
  const scheme = /^([a-z][a-z0-9+.-]{0,30}):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) {
    if (!["https", "http", "ssh", "git", "file"].includes(scheme))
      return err(`git addresses with ${scheme}:// are not allowed: use https, ssh, file or a path`);
    return ok({ kind: "url", url: text, shown: redactAddress(text) });
  }
  if (/^[a-z0-9+.-]+::/i.test(text))
    return err("git's remote helpers (name::address) are not allowed: use https, ssh, file or a path");
  // `C:\x` is a path; `host:x` and `me@host:x` are ssh addresses, as git itself reads them.
  const short = /^(?:[\w.-]+@)?([\w.-]{2,}):(?!\/\/)/.exec(text);
  if (short !== null && !text.slice(0, text.indexOf(":")).includes("/")) {
    return ok({ kind: "url", url: text, shown: text.slice(text.indexOf("@") + 1) });
  }
  const path = isAbsolute(text) ? text : resolve(baseFolder, text);
  return ok({ kind: "path", path, shown: "a local repository" });
}

/** What is wrong with a ref, or null. A branch, tag or commit id; nothing that git would read as an option, a range or an expression. */
export function refProblem(ref: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  const plain = ref.length <= 250 && !/[\u0000-\u0020\u007f~^:?*[\\]/.test(ref) && !ref.includes("..") && !ref.includes("@{");
  if (ref !== "" && plain && !ref.startsWith("-") && !ref.startsWith("/") && !ref.endsWith("/") && !ref.endsWith(".lock"))
    return null;
  return "`at` must be `base`, a branch, a tag or a commit id";
}

export function isCommitId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Lets those who share it do one thing after the other: two fetches into one clone get in each other's way. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(action: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(action);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/** A clone that is there and open. Its fetches go one after the other; reading needs no turn. */
export interface Clone {
  readonly git: Git;
  readonly folder: string;
  readonly place: GitPlace;
  /** The commit that `ref` names, fetched if it is not there yet. `fresh`: ask for the ref's present commit first. */
  readonly commit: (ref: string, fresh: boolean) => Promise<Result<string, SourceFailure>>;
  /** Makes the blobs of a commit's tree that are not here yet available, those of `wanted` only, in one request. */
  readonly fetchBlobs: (commit: string, wanted: readonly string[]) => Promise<Result<null, SourceFailure>>;
}

type CloneTools = Pick<CheckoutTools, "cacheFolder" | "env" | "offline" | "count">;

/** `turns`: shared by everyone in this process who opens this clone. */
export async function openClone(
  place: GitPlace,
  tools: CloneTools,
  turns: Turns,
  signal: AbortSignal,
): Promise<Result<Clone, SourceFailure>> {
  const parent = tools.cacheFolder("git");
  const setup = await openGit(tools.env, join(parent, "home"), signal);
  const given = place.kind === "url" ? place.url : place.path;
  // Credentials are no part of the name, nor stored: git would write them into the clone's configuration.
  const origin = place.kind === "url" ? redactAddress(given) : given;
  const credentials = origin === given ? [] : ["-c", `url.${given}.insteadOf=${origin}`];
  const folder = join(parent, `${digestJson([place.kind, origin]).slice(0, 32)}.git`);
  const about = aboutPlace(place);
  const reach = (): Result<null, SourceFailure> => {
    if (place.kind === "path") return ok(null);
    if (tools.offline) {
      return err({
        message: `${about} is needed from the network, and this run is offline: run once without --offline`,
        transient: false,
      });
    }
    tools.count("requests");
    return ok(null);
  };
  const made = await turns.take(async () => {
    if (await exists(join(folder, "HEAD"))) return ok(null);
    const reached = reach();
    return reached.ok ? makeClone(setup, place, [...credentials, "clone"], origin, parent, folder, about) : reached;
  });
  if (!made.ok) return made;
  const fetch = (args: readonly string[], input?: string): Promise<Result<null, SourceFailure>> =>
    turns.take(async () => {
      const reached = reach();
      if (!reached.ok) return reached;
      const filter = place.kind === "url" ? ["--filter=blob:none"] : [];
      const fetched = await git(
        setup,
        folder,
        [...credentials, "fetch", "--quiet", "--no-write-fetch-head", "--recurse-submodules=no", ...filter, ...args],
        { about, ...(input === undefined ? {} : { input }) },
      );
      return fetched.ok ? ok(null) : fetched;
    });
  const refs = (): Promise<Result<null, SourceFailure>> =>
    fetch(["--force", "--tags", "--", "origin", "+refs/heads/*:refs/heads/*"]);
  const find = (ref: string) => findCommit(setup, folder, ref, about);
  return ok({
    git: setup,
    folder,
    place,
    async commit(ref, fresh) {
      const problem = refProblem(ref);
      if (problem !== null) return err({ message: problem, transient: false });
      const known = fresh && !isCommitId(ref) ? null : await find(ref);
      if (known !== null) return ok(known);
      // A commit that no branch holds any more (a pull request's base after a forced push) can still be asked for by its id.
      const fetched = await refs();
      const found = (await find(ref)) ?? (isCommitId(ref) && (await fetch(["--", "origin", ref])).ok ? await find(ref) : null);
      if (found !== null) return ok(found);
      if (!fetched.ok) return fetched;
      return err({ message: `${about} has no branch, tag or commit ${shownPath(ref)}`, transient: false, absent: true });
    },
    async fetchBlobs(commit, wanted) {
      if (place.kind === "path" || wanted.length === 0) return ok(null);
      const listed = await git(
        setup,
        folder,
        ["rev-list", "--objects", "--no-object-names", "--missing=print", "--no-walk", "--end-of-options", commit],
        { about },
      );
      if (!listed.ok) return listed;
      const missing = new Set(
        new TextDecoder()
          .decode(listed.value)
          .split("\n")
          .filter((line) => line.startsWith("?"))
          .map((line) => line.slice(1)),
      );
      const ids = wanted.filter((id) => missing.has(id));
      if (ids.length === 0) return ok(null);
      return fetch(["--no-tags", "--stdin", "--", "origin"], `${[...new Set(ids)].join("\n")}\n`);
    },
  });
}

/** `rev-list` and not `rev-parse`: only it can be kept from asking the network for an object that a blobless clone lacks. */
async function findCommit(setup: Git, folder: string, ref: string, about: string): Promise<string | null> {
  const found = await git(
    setup,
    folder,
    ["rev-list", "--no-walk", "--max-count=1", "--missing=allow-any", "--end-of-options", ref, "--"],
    { about },
  );
  const id = found.ok ? new TextDecoder().decode(found.value).trim() : "";
  return isCommitId(id) ? id : null;
}

function aboutPlace(place: GitPlace): string {
  return place.kind === "url" ? place.shown : `the repository ${shownPath(place.path)}`;
}

async function makeClone(
  setup: Git,
  place: GitPlace,
  command: readonly string[],
  origin: string,
  parent: string,
  folder: string,
  about: string,
): Promise<Result<null, SourceFailure>> {
  await mkdir(parent, { recursive: true });
  const making = join(parent, `${randomUUID()}.tmp`);
  try {
    const how = place.kind === "url" ? ["--filter=blob:none"] : ["--no-hardlinks"];
    const cloned = await git(setup, null, [...command, "--quiet", "--bare", "--template=", ...how, "--", origin, making], {
      about,
    });
    if (!cloned.ok) return cloned;
    await rename(making, folder).catch(async (error: unknown) => {
      // Another process was faster; its clone is as good.
      if (!(await exists(join(folder, "HEAD")))) throw error;
    });
    return ok(null);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/**
 * Every commit that is part of `commit`'s history, itself included: a fix whose merge commit is among them is in its tree. A clone has the
 * whole history, so a commit that is not there can't be one of them.
 */
export async function historyOf(
  { git: setup, folder, place }: Pick<Clone, "git" | "folder" | "place">,
  commit: string,
): Promise<Result<ReadonlySet<string>, SourceFailure>> {
  const listed = await git(setup, folder, ["rev-list", "--end-of-options", commit], { about: aboutPlace(place) });
  if (!listed.ok) return listed;
  return ok(new Set(new TextDecoder().decode(listed.value).split("\n").filter(isCommitId)));
}

/** The commit that a ref names in somebody's own repository now: no clone, no network. */
export async function localCommit(
  path: string,
  ref: string,
  tools: Pick<CheckoutTools, "cacheFolder" | "env">,
  signal: AbortSignal,
): Promise<Result<string, SourceFailure>> {
  const problem = refProblem(ref);
  if (problem !== null) return err({ message: problem, transient: false });
  const about = `the repository ${shownPath(path)}`;
  const setup = await openGit(tools.env, join(tools.cacheFolder("git"), "home"), signal);
  const folder = (await exists(join(path, ".git"))) ? join(path, ".git") : path;
  const opened = await git(setup, folder, ["rev-parse", "--git-dir"], { about });
  if (!opened.ok) return opened;
  const id = await findCommit(setup, folder, ref, about);
  return id !== null ? ok(id) : err({ message: `${about} has no branch, tag or commit ${shownPath(ref)}`, transient: false });
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
