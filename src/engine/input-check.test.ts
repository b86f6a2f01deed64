import { expect, test } from "vitest";
import { part } from "../cache/key.js";
import { InputCheck, NEVER_CACHED } from "./input-check.js";

test("a look that began before a result was made says nothing of it; those that wait share the next", async () => {
  const looks: ((version: string) => void)[] = [];
  const check = new InputCheck(
    () => new Promise((resolve) => looks.push((version) => resolve([part("content", version), part("rules", "r")]))),
    [part("content", "1"), part("rules", "r")],
  );
  const first = check.changed();
  await Promise.resolve();
  const later = [check.changed(), check.changed()];
  expect(looks).toHaveLength(1);
  looks[0]?.("1");
  expect(await first).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(looks).toHaveLength(2);
  looks[1]?.("2");
  expect(await Promise.all(later)).toEqual([["content"], ["content"]]);
});

test("what is gone has changed; what names nothing, or is never found again, is not looked at", async () => {
  const never = () => Promise.reject(new Error("not to be called"));
  expect(await new InputCheck(never, [part("content", "1")]).changed()).toEqual(["content"]);
  expect(await new InputCheck(never, []).changed()).toEqual([]);
  expect(await new InputCheck(never, [part(NEVER_CACHED, "now")]).changed()).toEqual([]);
});
