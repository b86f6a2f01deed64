import { describe, expect, test } from "vitest";
import { ask, openBackend, pathsOf, targets } from "../../test/rigs/ask-backend.js";
import { empty } from "./empty.js";
import { oracle } from "./oracle.js";

describe("oracle", () => {
  test("gives the truth, higher grades first, then in path order", async () => {
    const truth = targets("b", "a", "c").map((target) => (target.path === "c" ? { ...target, grade: 3 } : target));
    expect(pathsOf(await ask(await openBackend(oracle, {}), { truth }))).toEqual(["c", "a", "b"]);
  });

  test("has nothing to say where no target is left", async () => {
    expect(await ask(await openBackend(oracle, {}), { truth: [] })).toEqual({ status: "completed", response: '{"classes":[]}' });
  });
});

test("empty gives the empty list", async () => {
  expect(await ask(await openBackend(empty, {}), {})).toEqual({ status: "completed", response: '{"classes":[]}' });
});
