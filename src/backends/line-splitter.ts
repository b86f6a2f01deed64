/** Lines of a child's output as they become whole, whatever the pieces it comes in; linear, also for a line of many pieces. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #maxBytes: number;
  readonly #onTooLong: () => void;
  #rest: Buffer[] = [];
  #restBytes = 0;

  /** `onTooLong`: more than `maxBytes` came without a line break; what came of that line is dropped. */
  constructor(maxBytes: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(from, at)]).toString("utf8");
      this.#rest = [];
      this.#restBytes = 0;
      from = at + 1;
      this.#onLine(line);
    }
    const rest = chunk.subarray(from);
    if (rest.length === 0) return;
    this.#rest.push(rest);
    this.#restBytes += rest.length;
    if (this.#restBytes <= this.#maxBytes) return;
    this.#rest = [];
    this.#restBytes = 0;
    this.#onTooLong();
  }
}
