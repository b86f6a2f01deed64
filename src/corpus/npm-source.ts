/**
 * From `npm: name@version` to a tree, with the archive kept: other globs, or a lost tree, never fetch the package again.
 *
 * The archive's digest is remembered under its name, and its integrity is checked on every use, so a remembered archive is as good
 * as a fetched one or is fetched anew.
 */
import { join } from "node:path";
import { type Digest, isDigest, type Json } from "../base/json.js";
import { err, ok, type Result } from "../base/result.js";
import type { Tree } from "./contract.js";
import { fetchPackage, type NpmSpec, sameIntegrity, sha512Integrity } from "./npm.js";
import { type Globs, nothingSelected, selectionNote, selector } from "./select.js";
import { unpackTarball } from "./tarball.js";
import type { CheckoutTools, SourceFailure } from "./tools.js";
import { storeFiles } from "./tree.js";

/** `integrity`: a `sha512-` value that the archive must have, whatever the registry says. */
export async function npmTree(
  spec: NpmSpec,
  options: Globs & { readonly integrity?: string | undefined },
  tools: CheckoutTools,
  signal: AbortSignal,
): Promise<Result<Tree, SourceFailure>> {
  const archive = await packageArchive(spec, options.integrity, tools, signal);
  if (!archive.ok) return archive;
  const source = `npm:${spec.name}@${spec.version}`;
  const unpacked = await unpackTarball(archive.value);
  if (!unpacked.ok) return err({ message: `${source}: ${unpacked.error}`, transient: false });
  const isSelected = selector(options);
  const files = unpacked.value.files.filter(({ path }) => isSelected(path));
  const total = unpacked.value.files.length;
  if (files.length === 0) return err({ message: nothingSelected(source, total, options), transient: false });
  return ok({
    id: "all",
    source,
    revision: spec.version,
    files: await storeFiles(files, tools),
    notes: [...selectionNote(files.length, total), ...unpacked.value.notes],
  });
}

async function packageArchive(
  spec: NpmSpec,
  pinned: string | undefined,
  tools: CheckoutTools,
  signal: AbortSignal,
): Promise<Result<Uint8Array, SourceFailure>> {
  const memory = tools.memory("packages");
  const name = `${spec.name}@${spec.version}`;
  const remembered = tools.refresh ? null : readMemory(await memory.get(name));
  if (remembered !== null) {
    // A missing or damaged archive is no reason to stop: it can be fetched again, which also stores it again.
    const bytes = await tools.getBytes(remembered.archive).catch(() => null);
    if (bytes !== null && sameIntegrity(sha512Integrity(bytes), remembered.integrity)) {
      return checkPinned(name, bytes, remembered.integrity, pinned);
    }
  }
  if (!tools.offline) tools.count("requests");
  const fetched = await fetchPackage(spec, {
    env: tools.env,
    cwd: tools.baseFolder,
    scratch: join(tools.cacheFolder("packages"), "tmp"),
    offline: tools.offline,
    signal,
  });
  if (!fetched.ok) return fetched;
  const checked = checkPinned(name, fetched.value.bytes, fetched.value.integrity, pinned);
  if (!checked.ok) return checked;
  const archive = await tools.putBytes(fetched.value.bytes);
  await memory.set(name, { archive, integrity: fetched.value.integrity });
  return checked;
}

function checkPinned(
  name: string,
  bytes: Uint8Array,
  integrity: string,
  pinned: string | undefined,
): Result<Uint8Array, SourceFailure> {
  if (pinned === undefined || sameIntegrity(integrity, pinned)) return ok(bytes);
  return err({
    message: `${name} has integrity ${integrity}, but the pipeline pins ${pinned}: it is not the archive that was meant. If the new one is right, change \`integrity\``,
    transient: false,
  });
}

function readMemory(value: Json | undefined): { archive: Digest; integrity: string } | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { archive, integrity } = value as { archive?: Json; integrity?: Json };
  return typeof archive === "string" && isDigest(archive) && typeof integrity === "string" ? { archive, integrity } : null;
}
