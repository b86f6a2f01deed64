/**
 * Group commit: calls made while a flush is under way are gathered and done together in the next one. A lone call is done at
 * once, a thousand concurrent ones become a few statements, and nobody waits for a timer.
 */
export class Batcher<Request, Response> {
  readonly #flush: (requests: readonly Request[]) => Promise<readonly Response[]>;
  readonly #most: number;
  #waiting: { request: Request; resolve: (response: Response) => void; reject: (reason: unknown) => void }[] = [];
  #running = false;

  /** `flush` answers its requests in order; at most `most` of them at a time. */
  constructor(flush: (requests: readonly Request[]) => Promise<readonly Response[]>, most: number) {
    this.#flush = flush;
    this.#most = most;
  }

  add(request: Request): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Calls of the same turn of the event loop travel together from the first flush on.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#most);
      try {
        const responses = await this.#flush(batch.map(({ request }) => request));
        batch.forEach(({ resolve }, index) => {
          resolve(responses[index] as Response);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = false;
  }
}
