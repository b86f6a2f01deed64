import { describe, expect, test } from "vitest";
import { Breaker } from "./breaker.js";

const quiet = new AbortController().signal;
const never = () => false;

function rig(after: number, maxWait = 900_000) {
  const breaker = new Breaker(after, maxWait);
  const sleeps: number[] = [];
  const clock = {
    time: 0,
    now: () => clock.time,
    sleep: async (milliseconds: number) => {
      sleeps.push(milliseconds);
      clock.time += milliseconds;
    },
  };
  const pass = async () => {
    const passed = await breaker.pass(clock, quiet, never);
    if (passed === null) throw new Error("stopped");
    return passed;
  };
  const fail = async (again = true) => breaker.failed(await pass(), again, "boom", clock.time);
  return { breaker, clock, sleeps, pass, fail };
}

describe("Breaker", () => {
  test("opens only after so many failures in a row", async () => {
    const { breaker, pass, fail } = rig(3);
    expect([await fail(), await fail()]).toEqual([null, null]);
    await pass();
    expect(breaker.succeeded()).toBeNull();
    expect([await fail(), await fail()]).toEqual([null, null]);
    expect(await fail()).toMatchObject({
      type: "pause",
      why: expect.stringContaining("last 3 calls all failed; the last one: boom"),
    });
  });

  test("lets one call through after each pause, and stops after the last", async () => {
    const { sleeps, fail } = rig(2);
    await fail();
    const events = [];
    for (let i = 0; i < 4; i++) events.push((await fail())?.type);
    expect(events).toEqual(["pause", "pause", "pause", "stop"]);
    expect(sleeps).toEqual([5000, 15_000, 45_000]);
  });

  test("closes with the first success", async () => {
    const { breaker, pass, fail } = rig(1);
    await fail();
    expect(await pass()).toBe("probe");
    expect(breaker.succeeded()).toEqual({ type: "resume" });
    expect(await pass()).toBe("go");
  });

  test("others wait for the probe", async () => {
    const { breaker, pass, fail } = rig(1);
    await fail();
    expect(await pass()).toBe("probe");
    let second: string | undefined;
    const waiting = pass().then((passed) => {
      second = passed;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(second).toBeUndefined();
    breaker.succeeded();
    await waiting;
    expect(second).toBe("go");
  });

  test("a probe that comes to nothing leaves the probing to another", async () => {
    const { breaker, pass, fail } = rig(1);
    await fail();
    await pass();
    const other = pass();
    breaker.gaveUp("probe");
    expect(await other).toBe("probe");
  });

  test("what waiting can't mend stops at once, and no pause is longer than a person wants to wait", async () => {
    const { fail } = rig(2);
    await fail();
    expect(await fail(false)).toMatchObject({ type: "stop" });
    const hasty = rig(1, 1000);
    expect(await hasty.fail()).toMatchObject({ type: "stop" });
  });

  test("calls that set out before the pause neither lengthen nor end it by failing", async () => {
    const { breaker, pass } = rig(1);
    const passes = [await pass(), await pass(), await pass()];
    const events = passes.map((passed) => breaker.failed(passed, true, "boom", 0)?.type ?? null);
    expect(events).toEqual(["pause", null, null]);
  });
});
