/**
 * A bundle: what a reader needs to score a run again, and nothing else. A gzipped tar of three sorts of files:
 *
 * - `bundle.json`, first: format, run, and the SHA-256 and size of every other file;
 * - `run/<name>`: the run's record, reports and journal-free files, as they lie in the run's folder;
 * - `objects.jsonl`: one line per object, `{"digest": ..., "text": ...}`. Objects are JSON texts named by the SHA-256 of their bytes:
 *   answers, cases, lists of files (never the files), scores.
 *
 * So everything in it can be checked against a digest, and read with nothing but gzip, tar and a JSON parser.
 */
import * as z from "zod";

export const BUNDLE_FORMAT = 1;

/** Largest bundle.json that is looked at. */
export const HEAD_LIMIT = 16 * 1024 * 1024;

export const HEAD = "bundle.json";
export const OBJECTS = "objects.jsonl";

/** Files of a run's folder that travel. Plain names: what is unpacked can't leave its folder. */
export const RUN_FILE = /^run\/[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/;

export const bundleSchema = z.strictObject({
  bundle_format: z.literal(BUNDLE_FORMAT),
  run_id: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/),
  /** Version of the program that wrote it. */
  bench: z.string(),
  cells: z.array(z.string()),
  objects: z.number().int().nonnegative(),
  files: z.array(
    z.strictObject({
      name: z.string().refine((name) => name === OBJECTS || RUN_FILE.test(name), "is no file of a bundle"),
      bytes: z.number().int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});
export type BundleHead = z.infer<typeof bundleSchema>;

export const objectLineSchema = z.strictObject({ digest: z.string().regex(/^[0-9a-f]{64}$/), text: z.string() });
