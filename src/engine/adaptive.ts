/**
 * How many calls at once a server takes: found out, not configured.
 *
 * Additive increase, multiplicative decrease, as networks do it. A run begins with one call at a time, also when it is resumed, so that no
 * restart ever bursts into a limit that the run before it had just met. Each success allows one more until the server says "too many" for the
 * first time; then the number is halved, everything pauses for as long as the server wants, and from there one more is allowed per round.
 */
import type { Clock } from "./contract.js";

export interface Permit {
  /** The decrease after which it was given: those who set out together are told "too many" together, and that counts once. */
  readonly epoch: number;
}

export class AdaptiveLimit {
  #limit = 1;
  #most: number;
  #doubling = true;
  #active = 0;
  #epoch = 0;
  #resumeAt = 0;
  /** Pauses up to here have been waited for. */
  #waited = 0;
  #paused = false;
  #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Calls at once that are allowed now. */
  get limit(): number {
    return Math.min(this.#most, Math.floor(this.#limit));
  }

  /** The smallest number that any stage asked for holds. */
  atMost(most: number): void {
    this.#most = Math.min(this.#most, most);
  }

  /** Waits for a place; null when `stopping` says so. */
  async acquire(clock: Clock, signal: AbortSignal, stopping: () => boolean): Promise<Permit | null> {
    const wake = () => this.wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      for (;;) {
        if (stopping()) return null;
        const until = this.#resumeAt;
        const now = clock.now();
        if (until > this.#waited && until > now) {
          await clock.sleep(until - now, signal).catch(() => {});
          this.#waited = Math.max(this.#waited, until);
        } else if (this.#active < this.limit) {
          this.#active += 1;
          return { epoch: this.#epoch };
        } else {
          await new Promise<void>((resolve) => this.#waiting.push(resolve));
        }
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  /** `taken`: the server answered; `limited`: it said "too many"; `other`: nothing is learnt. */
  release(permit: Permit, result: "taken" | "limited" | "other"): void {
    this.#active -= 1;
    if (result === "taken") this.#limit = Math.min(this.#most, this.#limit + (this.#doubling ? 1 : 1 / this.#limit));
    if (result === "limited" && permit.epoch === this.#epoch) {
      this.#epoch += 1;
      this.#doubling = false;
      this.#limit = Math.max(1, this.limit / 2);
    }
    this.wake();
  }

  /** Nobody sets out before then (epoch milliseconds). True if that is later than what was known. */
  pause(until: number): boolean {
    if (until <= this.#resumeAt) return false;
    this.#resumeAt = until;
    this.#paused = true;
    return true;
  }

  /** True once after each pause: it goes on, and whoever shows the pause should stop showing it. */
  resumed(): boolean {
    const was = this.#paused;
    this.#paused = false;
    return was;
  }

  /** Lets everybody who waits look again. */
  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
