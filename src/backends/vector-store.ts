/**
 * Vectors of files, kept below the cache: embedding a tree costs time or money, and most files are the same in the next tree. One file per
 * content and set of options, named by the digest of both and holding its own check sum: what is damaged is simply embedded again.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestBytes, digestJson, type Json } from "../base/json.js";
import type { LineRange } from "./ranked.js";

/** Stretches of a file with their vectors; empty for a file without text. */
export type FileVectors = readonly { readonly lines: LineRange; readonly vector: Float32Array }[];

const CHECK = 64;

export interface VectorStore {
  readonly get: (content: string) => Promise<FileVectors | null>;
  readonly put: (content: string, vectors: FileVectors) => Promise<void>;
}

/** `folder` null = nothing is kept. `identity`: what of the options shapes vectors; `content`: a file's digest. */
export function vectorStore(folder: string | null, identity: Json): VectorStore {
  const pathOf = (content: string) => {
    const name = digestJson(["vectors", identity, content]);
    return join(folder ?? "", name.slice(0, 2), `${name}.bin`);
  };
  return {
    get: async (content) => (folder === null ? null : decode(await readFile(pathOf(content)).catch(() => null))),
    put: async (content, vectors) => {
      if (folder === null) return;
      const path = pathOf(content);
      const temporary = `${path}.${randomUUID()}.tmp`;
      await mkdir(dirname(path), { recursive: true });
      try {
        await writeFile(temporary, encode(vectors));
        await rename(temporary, path);
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}

/** Check sum, then numbers: stretches, length of a vector, and for each stretch its first and last line and its vector. Little endian. */
function encode(vectors: FileVectors): Buffer {
  const length = vectors[0]?.vector.length ?? 0;
  const body = Buffer.alloc(8 + vectors.length * (8 + length * 4));
  body.writeUInt32LE(vectors.length, 0);
  body.writeUInt32LE(length, 4);
  let at = 8;
  for (const { lines, vector } of vectors) {
    body.writeUInt32LE(lines[0], at);
    body.writeUInt32LE(lines[1], at + 4);
    at += 8;
    for (const value of vector) at = body.writeFloatLE(value, at);
  }
  return Buffer.concat([Buffer.from(digestBytes(body), "latin1"), body]);
}

function decode(stored: Buffer | null): FileVectors | null {
  if (stored === null || stored.length < CHECK + 8) return null;
  const body = stored.subarray(CHECK);
  if (digestBytes(body) !== stored.toString("latin1", 0, CHECK)) return null;
  const [count, length] = [body.readUInt32LE(0), body.readUInt32LE(4)];
  let at = 8;
  return Array.from({ length: count }, () => {
    const lines = [body.readUInt32LE(at), body.readUInt32LE(at + 4)] as const;
    const vector = Float32Array.from({ length }, (_, i) => body.readFloatLE(at + 8 + i * 4));
    at += 8 + length * 4;
    return { lines, vector };
  });
}
