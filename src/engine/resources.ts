/**
 * Limited resources: units of all stages that name the same resource share its concurrency. Only units that are ready to run are handed
 * in (p-queue knows nothing of the graph), and a queue is never cleared: its units look at the run's state when their turn comes.
 */
import PQueue from "p-queue";

export class Resources {
  readonly #queues = new Map<string, PQueue>();
  readonly #jobs: PQueue | null;
  /** Resources on which nothing more may start in this run, with the reason. */
  readonly stopped = new Map<string, { readonly message: string; readonly resumeAt: number | null }>();

  /** `jobs` bounds the units at work over all resources; null = no bound but the resources' own. */
  constructor(jobs: number | null) {
    this.#jobs = jobs === null ? null : new PQueue({ concurrency: jobs });
  }

  /** Runs `work` when the resource has room. The smallest concurrency that any stage asked for holds. */
  run<T>(resource: string, concurrency: number, work: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(resource);
    if (queue === undefined) {
      queue = new PQueue({ concurrency });
      this.#queues.set(resource, queue);
    } else if (concurrency < queue.concurrency) {
      queue.concurrency = concurrency;
    }
    const jobs = this.#jobs;
    return queue.add(() => (jobs === null ? work() : jobs.add(work))) as Promise<T>;
  }
}
