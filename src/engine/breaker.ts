/**
 * Stops asking a system of which nothing comes back. After so many failed calls in a row it pauses and lets one call through; if that fails,
 * too, the pause grows, and after the last one nothing more is asked. A failure that waiting can't mend (a refused key) stops at once.
 */
import type { Clock } from "./contract.js";

const FIRST_PAUSE_MS = 5_000;
const GROWTH = 3;
const PAUSES = 3;

export type BreakerEvent =
  | { readonly type: "pause"; readonly until: number; readonly why: string }
  | { readonly type: "resume" }
  | { readonly type: "stop"; readonly why: string; readonly resumeAt: number | null };

export class Breaker {
  readonly #after: number;
  readonly #maxWait: number;
  #failures = 0;
  #pauses = 0;
  #openUntil: number | null = null;
  #probing = false;
  #waiting: (() => void)[] = [];

  /** `after` failed calls in a row; no pause is longer than `maxWait` (milliseconds). */
  constructor(after: number, maxWait: number) {
    this.#after = after;
    this.#maxWait = maxWait;
  }

  /** Waits while paused. `probe`: the call decides for all others. null when `stopping` says so. */
  async pass(clock: Clock, signal: AbortSignal, stopping: () => boolean): Promise<"go" | "probe" | null> {
    const wake = () => this.wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      for (;;) {
        if (stopping()) return null;
        if (this.#openUntil === null) return "go";
        if (this.#probing) {
          await new Promise<void>((resolve) => this.#waiting.push(resolve));
          continue;
        }
        this.#probing = true;
        await clock.sleep(Math.max(0, this.#openUntil - clock.now()), signal).catch(() => {});
        // A call that was under way when the pause began may have succeeded meanwhile.
        if (this.#openUntil !== null && !stopping()) return "probe";
        this.#probing = false;
        this.wake();
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  succeeded(): BreakerEvent | null {
    const was = this.#openUntil;
    this.#failures = 0;
    this.#pauses = 0;
    this.#openUntil = null;
    this.#probing = false;
    this.wake();
    return was === null ? null : { type: "resume" };
  }

  /** `again`: the failure may pass by itself. */
  failed(pass: "go" | "probe", again: boolean, message: string, now: number): BreakerEvent | null {
    this.#failures += 1;
    // What set out before the pause says nothing new.
    if (pass === "go" && (this.#openUntil !== null || this.#failures < this.#after)) return null;
    const why = `the last ${this.#failures} calls all failed; the last one: ${message}`;
    const pause = FIRST_PAUSE_MS * GROWTH ** this.#pauses;
    const patient = again && this.#pauses < PAUSES && pause <= this.#maxWait;
    this.#pauses += 1;
    this.#probing = false;
    if (!patient) {
      this.wake();
      return { type: "stop", why, resumeAt: null };
    }
    this.#openUntil = now + pause;
    this.wake();
    return { type: "pause", until: this.#openUntil, why };
  }

  /** A call that came to nothing (the run stops): somebody else may try. */
  gaveUp(pass: "go" | "probe"): void {
    if (pass === "probe") this.#probing = false;
    this.wake();
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
