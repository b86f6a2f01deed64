/** From a commit to a tree: list, fetch what is missing, read, store. */
import type { Digest } from "../base/json.js";
import { err, ok, type Result } from "../base/result.js";
import type { Tree, TreeFile } from "./contract.js";
import type { Clone } from "./git.js";
import { listTree, readBlobs } from "./git-objects.js";
import { TREE_LIMITS } from "./limits.js";
import { collisionNotes, shownPath } from "./paths.js";
import { type Globs, nothingSelected, selectionNote, selector } from "./select.js";
import type { CheckoutTools, SourceFailure } from "./tools.js";

/**
 * What is known of blobs that were read before. The trees of neighbouring commits share nearly all of their files, so each is read and
 * stored once. It must not outlive the store that it speaks of.
 */
export type BlobMemo = Map<string, { readonly digest: Digest; readonly size: number; readonly isPointer: boolean } | "too-large">;

/** `id` of the tree: `all`, or the commit where each case has its own. */
export async function gitTree(
  clone: Clone,
  commit: string,
  id: string,
  globs: Globs,
  memo: BlobMemo,
  tools: Pick<CheckoutTools, "putBytes">,
): Promise<Result<Tree, SourceFailure>> {
  const about = `${clone.place.kind === "url" ? clone.place.shown : shownPath(clone.place.path)} at ${commit.slice(0, 12)}`;
  const listed = await listTree(clone.git, clone.folder, commit, selector(globs), about);
  if (!listed.ok) return listed;
  const { selected, total, leftOut, submodules } = listed.value;
  if (selected.length === 0) return err({ message: nothingSelected(about, total, globs), transient: false });
  const wanted = [...new Set(selected.map(({ blob }) => blob).filter((blob) => !memo.has(blob)))];
  const fetched = await clone.fetchBlobs(commit, wanted);
  if (!fetched.ok) return fetched;
  let totalBytes = 0;
  for await (const { id: blob, bytes } of readBlobs(clone.git, clone.folder, wanted)) {
    if (bytes === null) {
      return err({
        message: `${about} is incomplete: the file with id ${blob.slice(0, 12)} is missing. Run again to fetch it`,
        transient: true,
      });
    }
    if (bytes.byteLength > TREE_LIMITS.fileBytes) {
      memo.set(blob, "too-large");
      continue;
    }
    totalBytes += bytes.byteLength;
    if (totalBytes > TREE_LIMITS.totalBytes) {
      return err({
        message: `${about} holds more than ${TREE_LIMITS.totalBytes} bytes: choose files with include and exclude`,
        transient: false,
      });
    }
    memo.set(blob, { digest: await tools.putBytes(bytes), size: bytes.byteLength, isPointer: isLfsPointer(bytes) });
  }
  const files: TreeFile[] = [];
  const pointers: string[] = [];
  for (const { path, blob } of selected) {
    const known = memo.get(blob);
    if (known === undefined || known === "too-large") leftOut.add(`larger than ${TREE_LIMITS.fileBytes} bytes`, path);
    else {
      files.push({ path, digest: known.digest, size: known.size });
      if (known.isPointer) pointers.push(path);
    }
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return ok({
    id,
    source: clone.place.kind === "url" ? `git:${clone.place.shown}` : "git",
    revision: commit,
    files,
    notes: [
      ...selectionNote(selected.length, total),
      ...pointerNote(pointers),
      ...collisionNotes(files.map(({ path }) => path)),
      ...leftOut.notes(),
    ],
    ...(submodules.length === 0 ? {} : { submodules: [...submodules] }),
  });
}

function pointerNote(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, 5).map(shownPath).join(", ");
  return [
    `${paths.length} files are Git LFS pointers and no source text, their contents were not fetched: ${shown}${paths.length > 5 ? " ..." : ""}`,
  ];
}

function isLfsPointer(bytes: Uint8Array): boolean {
  if (bytes.byteLength > 1024) return false;
  return new TextDecoder().decode(bytes).startsWith("version https://git-lfs.github.com/spec/v1\n");
}
