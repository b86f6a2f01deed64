/** The part of the outside world that source trees need. A stage's tools have this shape; tests and other programs may bring their own. */
import type { Digest, Json } from "../base/json.js";

/** Enough to open a stored tree. */
export interface TreeStore {
  readonly getBytes: (digest: Digest) => Promise<Uint8Array>;
  /** A folder below the cache for this kind of thing. */
  readonly cacheFolder: (name: string) => string;
}

/** Enough to make one. */
export interface CheckoutTools extends TreeStore {
  readonly putBytes: (bytes: Uint8Array) => Promise<Digest>;
  readonly memory: (name: string) => {
    get(key: string): Promise<Json | undefined>;
    set(key: string, value: Json): Promise<void>;
  };
  readonly clock: { now(): number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly baseFolder: string;
  readonly offline: boolean;
  readonly refresh: boolean;
  readonly count: (what: "requests") => void;
}

/** Why a tree could not be made: what happened, where, what to do. */
export interface SourceFailure {
  readonly message: string;
  /** The same attempt may succeed soon (network trouble). */
  readonly transient: boolean;
  /** The repository was reached, and does not have what was asked for. */
  readonly absent?: true;
}
