/** Hand-made tar archives: unlike a packer, this writes whatever it is told, also what no honest archive holds. */
import { gzipSync } from "node:zlib";

export interface TarEntry {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** `0` file, `1` hard link, `2` symbolic link, `3` device, `5` folder. */
  readonly type?: string;
  readonly link?: string;
  /** A size that is not the content's. */
  readonly claimedSize?: number;
}

export function tarBytes(entries: readonly TarEntry[]): Buffer {
  const blocks: Buffer[] = [];
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "");
    blocks.push(header(entry, content.byteLength), content, Buffer.alloc((512 - (content.byteLength % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export function tarball(entries: readonly TarEntry[]): Buffer {
  return gzipSync(tarBytes(entries));
}

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(entry.path, 0, 100);
  block.write("0000644\0", 100);
  block.write("0000000\0", 108);
  block.write("0000000\0", 116);
  block.write(`${(entry.claimedSize ?? size).toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write("        ", 148);
  block.write(entry.type ?? "0", 156);
  block.write(entry.link ?? "", 157, 100);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
