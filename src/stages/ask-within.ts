/** A time limit around a question, made of the clock that is handed in. */
import type { RawAnswer } from "../backends/contract.js";
import type { Clock } from "../engine/contract.js";

/** How long a backend may take to stop after its time is up; one that ignores the signal must not hold the run. */
const STOP_MS = 10_000;

/** Is this the reason of a signal that aborted because time was up (and not because the run stops)? */
export function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

/**
 * Calls `ask` with a signal that aborts when `signal` does, or with a `TimeoutError` after so many seconds (null = no limit). Past
 * the limit the backend's own account is used if it comes soon, else a plain `timed_out`.
 */
export async function askWithin(
  seconds: number | null,
  ask: (signal: AbortSignal) => Promise<RawAnswer>,
  clock: Clock,
  signal: AbortSignal,
): Promise<RawAnswer> {
  if (seconds === null) return ask(signal);
  const limited = new AbortController();
  const timers = new AbortController();
  const pass = () => limited.abort(signal.reason);
  signal.addEventListener("abort", pass, { once: true });
  if (signal.aborted) pass();
  const error = `no answer within ${seconds} s: raise \`timeout\` if the system needs longer`;
  const limit = clock.sleep(seconds * 1000, timers.signal).then(async (): Promise<RawAnswer> => {
    const reason = new Error(error);
    reason.name = "TimeoutError";
    limited.abort(reason);
    await clock.sleep(STOP_MS, timers.signal);
    return { status: "timed_out", response: "", error };
  });
  // When the answer comes first the timers are called off, and nobody is left to hear of it.
  limit.catch(() => {});
  try {
    return await Promise.race([ask(limited.signal), limit]);
  } finally {
    timers.abort();
    signal.removeEventListener("abort", pass);
  }
}
