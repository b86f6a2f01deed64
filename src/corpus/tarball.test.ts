import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type TarEntry, tarBytes, tarball } from "../../test/rigs/tar.js";
import { TREE_LIMITS } from "./limits.js";
import { unpackTarball } from "./tarball.js";

async function unpack(entries: readonly TarEntry[], limits = TREE_LIMITS) {
  const result = await unpackTarball(tarball(entries), limits);
  if (!result.ok) throw new Error(result.error);
  return { paths: result.value.files.map(({ path }) => path), ...result.value };
}

describe("unpackTarball", () => {
  test("gives regular files without their first folder, sorted, with their bytes", async () => {
    const { files, notes } = await unpack([
      { path: "package/", type: "5" },
      { path: "package/src/B.java", content: "class B {}" },
      { path: "package/A.bin", content: new Uint8Array([0, 255, 10]) },
      { path: "package/empty", content: "" },
    ]);
    expect(files.map(({ path, bytes }) => [path, [...bytes].length])).toEqual([
      ["A.bin", 3],
      ["empty", 0],
      ["src/B.java", 10],
    ]);
    expect(notes).toEqual([]);
  });

  test("a hostile archive yields its honest files and a note for everything else", async () => {
    const { paths, notes } = await unpack([
      { path: "package/ok.txt", content: "ok" },
      { path: "package/link", type: "2", link: "/etc/passwd" },
      { path: "package/hard", type: "1", link: "package/ok.txt" },
      { path: "package/device", type: "3" },
      { path: "/etc/passwd", content: "root" },
      { path: "../outside", content: "x" },
      { path: "package/../../outside", content: "x" },
      { path: "package/a\\..\\b", content: "x" },
      { path: "package/.git/config", content: "[core]fsmonitor=evil" },
      { path: "package/ok.txt", content: "second" },
      { path: "package/OK.TXT", content: "third" },
      { path: "package/\u001b[2Jx", content: "x" },
    ]);
    expect(paths).toEqual(["ok.txt"]);
    const text = notes.join("\n");
    for (const reason of [
      "2 left out (links are not followed)",
      "1 left out (not a regular file)",
      "absolute",
      "leads out of its folder",
      "backslash",
      ".git folder",
      "in the archive twice",
      "only in letter case",
      "control characters",
    ]) {
      expect(text).toContain(reason);
    }
    expect(text).not.toContain("\u001b");
  });

  test("of two entries with one name the first counts", async () => {
    const { files } = await unpack([
      { path: "package/a", content: "first" },
      { path: "package/a", content: "second" },
    ]);
    expect(Buffer.from(files[0]?.bytes ?? []).toString()).toBe("first");
  });

  test("limits: too many entries and too many bytes refuse the archive, one large file is left out", async () => {
    const many = tarball(Array.from({ length: 11 }, (_, index) => ({ path: `package/${index}`, content: "x" })));
    expect(await unpackTarball(many, { ...TREE_LIMITS, files: 10 })).toMatchObject({
      ok: false,
      error: expect.stringContaining("more than 10 entries"),
    });
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    expect(bomb.byteLength).toBeLessThan(10_000);
    expect(await unpackTarball(bomb, { ...TREE_LIMITS, totalBytes: 1_000_000 })).toMatchObject({
      ok: false,
      error: expect.stringContaining("more than 1000000 bytes"),
    });
    const { paths, notes } = await unpack(
      [
        { path: "p/big", content: "x".repeat(100) },
        { path: "p/small", content: "x" },
      ],
      { ...TREE_LIMITS, fileBytes: 50 },
    );
    expect(paths).toEqual(["small"]);
    expect(notes).toEqual(["1 left out (larger than 50 bytes): p/big"]);
  });

  test("an archive inside an archive is not unpacked past the limits", async () => {
    const inner = gzipSync(tarBytes([{ path: "p/x", content: "y" }]));
    expect(await unpackTarball(gzipSync(inner))).toMatchObject({ ok: false, error: expect.stringContaining("twice") });
  });

  test("cut, damaged or foreign bytes are an error, never a crash or a silent loss", async () => {
    const whole = tarball([{ path: "package/a", content: "x".repeat(3000) }]);
    expect((await unpackTarball(whole.subarray(0, whole.byteLength - 20))).ok).toBe(false);
    expect((await unpackTarball(Buffer.from("not a gzip file"))).ok).toBe(false);
    expect((await unpackTarball(gzipSync(tarBytes([{ path: "p/a", content: "x".repeat(3000) }]).subarray(0, 1000)))).ok).toBe(
      false,
    );
    expect((await unpackTarball(gzipSync(tarBytes([{ path: "p/a", content: "x", claimedSize: 900_000 }])))).ok).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const result = await unpackTarball(gzipSync(bytes));
        if (result.ok) expect(result.value.files.every(({ path }) => !path.startsWith("/"))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
