/** Stored rows: which may be used, and the output that a stage's row stands for. */
import type { Digest } from "../base/json.js";
import type { ActionRow, StageRow } from "../cache/actions.js";
import type { StageNode } from "../pipeline/model.js";
import type { NodeOutput } from "./channel.js";
import type { Manifest, RunContext } from "./context.js";
import type { StageOutput } from "./contract.js";

/** A row may be used: it is fresh, not forced, and (after damage) the bytes behind it are intact. */
export async function isUsable(context: RunContext, node: StageNode, row: ActionRow): Promise<boolean> {
  const { options, world } = context;
  if ((options.forced.has(node.id) || options.refreshed.has(node.id)) && row.at < options.startedAt) return false;
  const freshness = node.common.freshness;
  if (freshness === "always" && row.at < options.startedAt) return false;
  if (typeof freshness === "number" && world.clock.now() - row.at > freshness * 1000) return false;
  if (!context.verifyHits) return true;

  const wanted =
    row.type === "unit"
      ? [row.shared, ...row.out.map(([, digest]) => digest)]
      : [row.output, ...(row.trace === null ? [] : [row.trace]), ...row.files.map(({ text }) => text)];
  const found = await intact(context, wanted);
  if (found === null) return false;
  if (row.type === "unit") return true;
  const manifest = JSON.parse(Buffer.from(found.get(row.output) ?? []).toString("utf8")) as Manifest;
  const items = manifest.items.map(([, digest]) => digest as Digest);
  for (let start = 0; start < items.length; start += 500) {
    if ((await intact(context, items.slice(start, start + 500))) === null) return false;
  }
  return true;
}

/** The objects, if all are there and none of them names one that is known to be lost (a source tree names its files' contents). */
async function intact(context: RunContext, digests: readonly Digest[]): Promise<Map<Digest, Uint8Array> | null> {
  const found = await context.cache.objects.getMany(digests);
  if (digests.some((digest) => !found.has(digest))) return null;
  if (context.lost.size === 0) return found;
  for (const bytes of found.values()) {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const digest of context.lost) if (content.includes(digest)) return null;
  }
  return found;
}

export function outputOf(context: RunContext, row: Pick<StageRow, "output" | "items" | "notes">): NodeOutput {
  let loaded: Promise<StageOutput> | undefined;
  return {
    digest: row.output,
    count: row.items,
    load: () => {
      loaded ??= context.cache.getJson(row.output).then((json) => {
        const manifest = json as unknown as Manifest;
        const all = manifest.items.map(([id, digest]) => ({ id, digest: digest as Digest }));
        return { digest: row.output, items: all, all, meta: manifest.meta, notes: row.notes };
      });
      return loaded;
    },
  };
}
