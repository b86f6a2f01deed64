import { expect, test } from "vitest";
import { withTomlSettings } from "./toml-settings.js";

const BASE = `version = 1

[search]
max_results = 10 # blocks
text = """
[search.hybrid]
enabled = "not this"
"""

[search.hybrid]
enabled = true
weights = [
  0.7,
]

[[rules]]
enabled = true
`;

test("replaces a value in its own table, keeps comments and everything else", () => {
  const edited = withTomlSettings(BASE, { "search.max_results": 20, "search.hybrid.enabled": false, version: 2 });
  expect(edited).toEqual({
    ok: true,
    value: BASE.replace("max_results = 10 # blocks", "max_results = 20 # blocks")
      .replace("enabled = true\nweights", "enabled = false\nweights")
      .replace("version = 1", "version = 2"),
  });
});

test("adds keys to tables that are there, and tables that are not", () => {
  const edited = withTomlSettings("[a]\nx = 1\n", { "a.y": 'q"\\', "b.c.z": true, top: 1.5 });
  expect(edited).toEqual({ ok: true, value: 'top = 1.5\n[a]\ny = "q\\"\\\\"\nx = 1\n[b.c]\nz = true\n' });
  expect(withTomlSettings("", { "search.enabled": true })).toEqual({ ok: true, value: "[search]\nenabled = true\n" });
});

test("the order of the settings makes no difference", () => {
  expect(withTomlSettings(BASE, { "n.a": 1, "n.b": 2 })).toEqual(withTomlSettings(BASE, { "n.b": 2, "n.a": 1 }));
});

test.each([
  ["search.hybrid.weights", "several lines"],
  ["search.text", "several lines"],
  ["search.hybrid", "is a table"],
  ["version.x", "is a value"],
])("%s can't be set: %s", (path, message) => {
  const edited = withTomlSettings(BASE, { [path]: 1 });
  expect(edited).toEqual({ ok: false, error: expect.stringContaining(message) });
});

test("a key with dots is found where it is written", () => {
  expect(withTomlSettings("search.hybrid.enabled = true", { "search.hybrid.enabled": false })).toEqual({
    ok: true,
    value: "search.hybrid.enabled = false",
  });
  expect(withTomlSettings("search = { a = 1 }", { "search.b": 2 })).toEqual({
    ok: false,
    error: expect.stringContaining("in one line"),
  });
});
