import { describe, expect, test } from "vitest";
import { AdaptiveLimit, type Permit } from "./adaptive.js";
import type { Clock } from "./contract.js";

function fakeClock(): Clock & { time: number; sleeps: number[] } {
  const clock = {
    time: 1000,
    sleeps: [] as number[],
    now: () => clock.time,
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      clock.sleeps.push(milliseconds);
      clock.time += milliseconds;
    },
  };
  return clock;
}

const never = () => false;
const quiet = new AbortController().signal;

async function take(limit: AdaptiveLimit, clock = fakeClock()): Promise<Permit> {
  const permit = await limit.acquire(clock, quiet, never);
  if (permit === null) throw new Error("no permit");
  return permit;
}

/** As many permits as are to be had at once. */
async function takeAll(limit: AdaptiveLimit): Promise<Permit[]> {
  return Promise.all(Array.from({ length: limit.limit }, () => take(limit)));
}

describe("AdaptiveLimit", () => {
  test("begins with one and allows one more per success", async () => {
    const limit = new AdaptiveLimit(4);
    const seen = [limit.limit];
    for (let i = 0; i < 5; i++) {
      limit.release(await take(limit), "taken");
      seen.push(limit.limit);
    }
    expect(seen).toEqual([1, 2, 3, 4, 4, 4]);
  });

  test("a burst of refusals halves it once; then one more is allowed per round", async () => {
    const limit = new AdaptiveLimit(8);
    for (let i = 0; i < 7; i++) limit.release(await take(limit), "taken");
    for (const permit of await takeAll(limit)) limit.release(permit, "limited");
    expect(limit.limit).toBe(4);
    for (const permit of await takeAll(limit)) limit.release(permit, "taken");
    expect(limit.limit).toBe(4);
    for (const permit of await takeAll(limit)) limit.release(permit, "taken");
    expect(limit.limit).toBe(5);
    for (const permit of await takeAll(limit)) limit.release(permit, "limited");
    for (let i = 0; i < 5; i++) limit.release(await take(limit), "limited");
    expect(limit.limit).toBe(1);
  });

  test("never lets more out than it allows, and wakes those who wait", async () => {
    const limit = new AdaptiveLimit(1);
    const first = await take(limit);
    let second: Permit | undefined;
    const waiting = take(limit).then((permit) => {
      second = permit;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(second).toBeUndefined();
    limit.release(first, "other");
    await waiting;
    expect(second).toBeDefined();
  });

  test("all wait for a pause, once, and the longest one counts", async () => {
    const limit = new AdaptiveLimit(4);
    const clock = fakeClock();
    expect(limit.pause(6000)).toBe(true);
    expect(limit.pause(3000)).toBe(false);
    limit.release(await take(limit, clock), "taken");
    await Promise.all([take(limit, clock), take(limit, clock)]);
    expect(clock.sleeps).toEqual([5000]);
    expect([limit.resumed(), limit.resumed()]).toEqual([true, false]);
  });

  test("gives no permit once the run stops, also to those who wait already", async () => {
    const limit = new AdaptiveLimit(1);
    await take(limit);
    const controller = new AbortController();
    const waiting = limit.acquire(fakeClock(), controller.signal, () => controller.signal.aborted);
    controller.abort();
    expect(await waiting).toBeNull();
    let stopped = false;
    const other = limit.acquire(fakeClock(), quiet, () => stopped);
    stopped = true;
    limit.wake();
    expect(await other).toBeNull();
  });
});
