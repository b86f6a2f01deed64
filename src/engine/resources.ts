/**
 * Limited resources: units of all stages that name the same resource share its concurrency. Only units that are ready to run are handed
 * in (p-queue knows nothing of the graph), and a queue is never cleared: its units look at the run's state when their turn comes.
 *
 * Also what lasts as long as the run and holds units back: adaptive limits by resource, breakers by node, money spent by stage.
 */
import PQueue from "p-queue";
import { AdaptiveLimit } from "./adaptive.js";
import { Breaker } from "./breaker.js";
import { Ledger } from "./budget.js";

interface Stop {
  readonly message: string;
  /** Epoch milliseconds from which the same command goes on; null = unknown. */
  readonly resumeAt: number | null;
}

/** What a stop stops: everything on a resource, one node, or all cells of a stage. */
export interface StopScope {
  readonly resource: string;
  readonly node: string;
  readonly stage: string;
}

export class Resources {
  readonly #queues = new Map<string, PQueue>();
  readonly #jobs: PQueue | null;
  readonly #limits = new Map<string, AdaptiveLimit>();
  readonly #breakers = new Map<string, Breaker>();
  readonly #ledgers = new Map<string, Ledger>();
  readonly #stops = new Map<string, Stop>();

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

  adaptive(resource: string, concurrency: number): AdaptiveLimit {
    const limit = this.#limits.get(resource) ?? new AdaptiveLimit(concurrency);
    this.#limits.set(resource, limit);
    limit.atMost(concurrency);
    return limit;
  }

  breaker(node: string, after: number, maxWait: number): Breaker {
    const breaker = this.#breakers.get(node) ?? new Breaker(after, maxWait);
    this.#breakers.set(node, breaker);
    return breaker;
  }

  ledger(stage: string): Ledger {
    const ledger = this.#ledgers.get(stage) ?? new Ledger();
    this.#ledgers.set(stage, ledger);
    return ledger;
  }

  /** What this run spent, by stage. */
  get ledgers(): ReadonlyMap<string, Ledger> {
    return this.#ledgers;
  }

  /** Nothing more may start there in this run; the first reason stays. */
  stop(what: keyof StopScope, scope: StopScope, stop: Stop): void {
    const key = `${what} ${scope[what]}`;
    if (!this.#stops.has(key)) this.#stops.set(key, stop);
    for (const limit of this.#limits.values()) limit.wake();
    for (const breaker of this.#breakers.values()) breaker.wake();
  }

  /** Why nothing more may start, if that is so. */
  stopped({ resource, node, stage }: StopScope): Stop | undefined {
    return this.#stops.get(`stage ${stage}`) ?? this.#stops.get(`node ${node}`) ?? this.#stops.get(`resource ${resource}`);
  }

  get stops(): readonly Stop[] {
    return [...this.#stops.values()];
  }
}
