/** Reading trees and blobs out of a bare repository: `git ls-tree` and `git cat-file --batch`, parsed byte by byte as they come. */
import { err, ok, type Result } from "../base/result.js";
import { type Git, git, gitArguments } from "./git-process.js";
import { TREE_LIMITS } from "./limits.js";
import { LeftOut, treePath } from "./paths.js";
import type { SourceFailure } from "./tools.js";

export interface GitFile {
  readonly path: string;
  /** Object id of the blob. */
  readonly blob: string;
}

/** Every regular file of a commit's tree. Links and submodules are noted, not followed. */
export async function listTree(
  setup: Git,
  folder: string,
  commit: string,
  isSelected: (path: string) => boolean,
  about: string,
): Promise<
  Result<
    {
      readonly selected: readonly GitFile[];
      readonly total: number;
      readonly leftOut: LeftOut;
      readonly submodules: readonly string[];
    },
    SourceFailure
  >
> {
  const listed = await git(setup, folder, ["ls-tree", "-r", "-z", "--full-tree", commit], { about });
  if (!listed.ok) return listed;
  const leftOut = new LeftOut();
  const selected: GitFile[] = [];
  const submodules: string[] = [];
  let total = 0;
  // Names that are no UTF-8 get U+FFFD, which `treePath` refuses.
  for (const record of new TextDecoder().decode(listed.value).split("\0")) {
    const entry = /^(\d{6}) (\w{1,10}) ([0-9a-f]{40,64})\t/.exec(record);
    if (entry === null) continue;
    const [head, mode = "", , blob = ""] = entry;
    const raw = record.slice(head.length);
    const path = treePath(raw);
    if (!path.ok) {
      leftOut.add(path.error, raw);
      continue;
    }
    if (mode === "100644" || mode === "100755" || mode === "100664") {
      total += 1;
      if (isSelected(path.value)) selected.push({ path: path.value, blob });
      continue;
    }
    const isSubmodule = mode === "160000";
    // Also where `include` does not choose the folder itself: files below it could have been chosen.
    if (isSubmodule) submodules.push(path.value);
    if (isSelected(path.value)) {
      leftOut.add(isSubmodule ? "submodules are not followed" : "links are not followed", path.value);
    }
  }
  if (total > TREE_LIMITS.files) {
    return err({ message: `${about} has more than ${TREE_LIMITS.files} files, which no source tree should`, transient: false });
  }
  return ok({ selected, total, leftOut, submodules: submodules.sort() });
}

export interface Blob {
  readonly id: string;
  /** null = the repository lacks it. */
  readonly bytes: Uint8Array | null;
}

/** The contents of blobs, in the order asked for. */
export async function* readBlobs(setup: Git, folder: string, ids: readonly string[]): AsyncGenerator<Blob> {
  if (ids.length === 0) return;
  const { execa } = await import("execa");
  const child = execa("git", gitArguments(folder, ["cat-file", "--batch"]), {
    env: { ...setup.env },
    extendEnv: false,
    input: `${ids.join("\n")}\n`,
    encoding: "buffer",
    buffer: { stdout: false },
    reject: false,
    cancelSignal: setup.signal,
    forceKillAfterDelay: 2000,
    windowsHide: true,
  });
  yield* parseBatch(child.stdout);
  const result = await child;
  setup.signal.throwIfAborted();
  if (result.failed) throw new Error(`git cat-file stopped: ${new TextDecoder().decode(result.stderr).trim().slice(-300)}`);
}

/** The protocol of `cat-file --batch`: `<id> <type> <size>\n<bytes>\n`, or `<id> missing\n`. Chunks may end anywhere. */
export async function* parseBatch(chunks: AsyncIterable<unknown>): AsyncGenerator<Blob> {
  let header = "";
  let current: { id: string; size: number } | null = null;
  let content: Uint8Array[] = [];
  let missing = 0;
  for await (const chunk of chunks) {
    let rest = chunk as Uint8Array;
    while (rest.byteLength > 0) {
      if (current === null) {
        const end = rest.indexOf(0x0a);
        header += new TextDecoder().decode(end === -1 ? rest : rest.subarray(0, end));
        if (header.length > 1000) throw new Error("git cat-file answers in a form that is not known");
        if (end === -1) break;
        rest = rest.subarray(end + 1);
        const found = /^([0-9a-f]{40,64}) \w{1,10} (\d{1,15})$/.exec(header);
        if (found === null) {
          yield { id: header.split(" ", 1)[0] ?? "", bytes: null };
        } else {
          current = { id: found[1] ?? "", size: Number(found[2]) };
          // The line break that follows the content is read as part of it and dropped at the end.
          missing = current.size + 1;
          content = [];
        }
        header = "";
        continue;
      }
      const part = rest.subarray(0, missing);
      content.push(part);
      missing -= part.byteLength;
      rest = rest.subarray(part.byteLength);
      if (missing === 0) {
        yield { id: current.id, bytes: Buffer.concat(content).subarray(0, current.size) };
        current = null;
        content = [];
      }
    }
  }
  if (current !== null || header !== "") throw new Error("git cat-file stopped in the middle of a file");
}
