/**
 * The output of one node while it is being made: items stream to those who need the node, and whoever needs all of it waits for the end.
 * Consumers come and go at their own speed; each sees every item once, in the order of arrival. The final order is the manifest's.
 */
import type { Digest } from "../base/json.js";
import type { ItemRef, StageOutput } from "./contract.js";

/** A complete output; its list of items is read only when somebody asks. */
export interface NodeOutput {
  readonly digest: Digest;
  readonly count: number;
  load(): Promise<StageOutput>;
}

/** Why a node has no output. */
export class NoOutput extends Error {
  readonly state: "failed" | "blocked" | "stopped" | "interrupted" | "skipped";
  constructor(state: NoOutput["state"], message: string) {
    super(message);
    this.state = state;
  }
}

export class Channel {
  readonly #refs: ItemRef[] = [];
  #ended = false;
  #wake: (() => void)[] = [];
  #settleMode: (mode: "complete" | "streaming") => void = () => {};
  #settleOutput: { resolve: (output: NodeOutput) => void; reject: (error: Error) => void } = {
    resolve: () => {},
    reject: () => {},
  };
  /** `complete`: the output came from the cache as a whole; `streaming`: items are coming. Also `complete` when there is no output. */
  readonly mode: Promise<"complete" | "streaming">;
  readonly output: Promise<NodeOutput>;

  constructor() {
    this.mode = new Promise((resolve) => {
      this.#settleMode = resolve;
    });
    this.output = new Promise((resolve, reject) => {
      this.#settleOutput = { resolve, reject };
    });
    // Nobody may be waiting when a node fails.
    this.output.catch(() => {});
  }

  streams(): void {
    this.#settleMode("streaming");
  }

  push(refs: readonly ItemRef[]): void {
    if (refs.length === 0) return;
    for (const ref of refs) this.#refs.push(ref);
    this.#notify();
  }

  complete(output: NodeOutput): void {
    this.#ended = true;
    this.#settleOutput.resolve(output);
    this.#settleMode("complete");
    this.#notify();
  }

  fail(error: NoOutput): void {
    this.#ended = true;
    this.#settleOutput.reject(error);
    this.#settleMode("complete");
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resume of wake) resume();
  }

  /** Batches of whatever has arrived since the last one. Ends when the node ends, also when it fails: `output` tells which. */
  async *batches(): AsyncGenerator<readonly ItemRef[]> {
    let seen = 0;
    for (;;) {
      if (seen < this.#refs.length) {
        const batch = this.#refs.slice(seen, seen + 500);
        seen += batch.length;
        yield batch;
      } else if (this.#ended) {
        return;
      } else {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    }
  }
}
