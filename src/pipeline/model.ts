/**
 * The checked graph: what is left of a pipeline file once every mistake has been reported and every cell of a matrix is a node.
 * Pure data; nothing here knows what a stage does.
 */
import type * as z from "zod";
import type { Json } from "../base/json.js";

/** What the checker must know of a stage kind; `engine/contract.ts` extends it with what the kind does. */
export interface StageKindInfo {
  /** The name after `uses:`. */
  readonly kind: string;
  readonly summary: string;
  /** Strict schema of `with:`, defaults included. */
  readonly config: z.ZodType;
  /** The type of what flows out: `issues`, `links`, `files`, `dataset`, `corpus`, `answers`, `scores`, `intervals`, `report`. */
  readonly produces: string;
  /**
   * What must be among the stages it `needs`, by type. `one`: exactly one; `optional`: at most one; `many`: any number, cells
   * joined (`report`, `compare`); `some`: at least one, cells joined.
   */
  readonly consumes: Readonly<Record<string, "one" | "optional" | "many" | "some">>;
  /** `with:` members that name a file or folder to write, relative to the pipeline file: they must stay inside the project. */
  readonly writes?: readonly string[];
  /** True for fetch stages: `freshness` is allowed. */
  readonly fetches?: boolean;
}

export interface CommonOptions {
  /** Attempts after the first for failures worth retrying. */
  readonly retry: number;
  /** Seconds per unit; null = the kind's own default. */
  readonly timeout: number | null;
  /** Units at once; null = the kind's own default. */
  readonly concurrency: number | null;
  /** Name of a limited resource shared with other stages; null = the kind's own. */
  readonly resource: string | null;
  /** How many units may fail: a count, or a share of the units. */
  readonly allowFailures: { readonly count: number } | { readonly share: number };
  /** `pinned`: what was fetched stays; a number: seconds it stays fresh; `always`. */
  readonly freshness: "pinned" | "always" | number;
}

export interface StageNode {
  /** `dataset`, or `answers[bm25]` for a cell. Unique. */
  readonly id: string;
  /** The stage's name in the file. */
  readonly stage: string;
  /** Label of the cell (safe as a file name), or null outside a matrix. */
  readonly label: string | null;
  readonly kind: string;
  /** `with:` merged with the cell's values, parameters and environment put in, validated, defaults filled. */
  readonly config: Json;
  /** Ids of the nodes it needs, in the order of `needs:` (cells joined: in matrix order). */
  readonly needs: readonly string[];
  readonly common: CommonOptions;
  readonly line: number;
}

export interface PipelineGraph {
  readonly name: string;
  /** Path as given. */
  readonly file: string;
  /** Absolute folder of the file. */
  readonly folder: string;
  readonly params: Readonly<Record<string, Json>>;
  /** In an order in which each node comes after those that it needs. */
  readonly nodes: readonly StageNode[];
  /** Values that came from secret-looking environment variables: never shown, never part of a key. */
  readonly secrets: ReadonlyMap<string, string>;
}
