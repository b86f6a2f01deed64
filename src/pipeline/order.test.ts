import fc from "fast-check";
import { expect, test } from "vitest";
import { orderStages } from "./order.js";

test("keeps the given order where it is possible", () => {
  expect(
    orderStages(
      new Map([
        ["a", []],
        ["b", ["a"]],
        ["c", []],
      ]),
    ).order,
  ).toEqual(["a", "b", "c"]);
  expect(
    orderStages(
      new Map([
        ["b", ["a"]],
        ["a", []],
        ["c", []],
      ]),
    ).order,
  ).toEqual(["a", "b", "c"]);
});

test("a circle starts with its first name in the given order", () => {
  expect(
    orderStages(
      new Map([
        ["x", ["c"]],
        ["a", ["b"]],
        ["b", ["c"]],
        ["c", ["a"]],
      ]),
    ).circles,
  ).toEqual([["a", "b", "c"]]);
});

test("circles that remain after one is broken are found too", () => {
  expect(
    orderStages(
      new Map([
        ["a", ["b", "c"]],
        ["b", ["a"]],
        ["c", ["a"]],
      ]),
    ).circles,
  ).toEqual([
    ["a", "b"],
    ["a", "c"],
  ]);
});

test("any graph: every name once; needs come first unless there are circles; circles are real", () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const needs = fc.array(fc.subarray(names), { minLength: names.length, maxLength: names.length });
  fc.assert(
    fc.property(needs, (lists) => {
      const graph = new Map(names.map((name, index) => [name, lists[index] ?? []]));
      const { order, circles } = orderStages(graph);
      expect([...order].sort()).toEqual(names);
      const broken = new Set(circles.map(([first, second]) => `${first}>${second ?? first}`));
      for (const [index, name] of order.entries()) {
        for (const need of graph.get(name) ?? [])
          if (!broken.has(`${name}>${need}`)) expect(order.indexOf(need)).toBeLessThan(index);
      }
      for (const circle of circles)
        for (const [index, name] of circle.entries()) expect(graph.get(name)).toContain(circle[(index + 1) % circle.length]);
    }),
  );
});
