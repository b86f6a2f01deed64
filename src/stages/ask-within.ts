/** A time limit around a question or an index, made of the clock that is handed in. */
import type { RawAnswer } from "../backends/contract.js";
import type { Clock } from "../engine/contract.js";

/** How long a backend may take to stop after its time is up; one that ignores the signal must not hold the run. */
const STOP_MS = 10_000;

/** Is this the reason of a signal that aborted because time was up (and not because the run stops)? */
export function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

/**
 * Calls `work` with a signal that aborts when `signal` does, or with a `TimeoutError` after so many seconds (null = no limit). Past
 * the limit its own account is used if it comes soon, else `late`.
 */
export async function workWithin<T>(
  seconds: number | null,
  work: (signal: AbortSignal) => Promise<T>,
  late: (message: string) => T,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  if (seconds === null) return work(signal);
  const limited = new AbortController();
  const timers = new AbortController();
  const pass = () => limited.abort(signal.reason);
  signal.addEventListener("abort", pass, { once: true });
  if (signal.aborted) pass();
  const message = `no answer within ${seconds} s: raise \`timeout\` if the system needs longer`;
  const limit = clock.sleep(seconds * 1000, timers.signal).then(async (): Promise<T> => {
    const reason = new Error(message);
    reason.name = "TimeoutError";
    limited.abort(reason);
    await clock.sleep(STOP_MS, timers.signal);
    return late(message);
  });
  // When the answer comes first the timers are called off, and nobody is left to hear of it.
  limit.catch(() => {});
  try {
    return await Promise.race([work(limited.signal), limit]);
  } finally {
    timers.abort();
    signal.removeEventListener("abort", pass);
  }
}

/** `workWithin` for a question: one that is late has `timed_out`. */
export function askWithin(
  seconds: number | null,
  ask: (signal: AbortSignal) => Promise<RawAnswer>,
  clock: Clock,
  signal: AbortSignal,
): Promise<RawAnswer> {
  return workWithin(seconds, ask, (error) => ({ status: "timed_out", response: "", error }), clock, signal);
}
