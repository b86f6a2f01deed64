import { describe, expect, test } from "vitest";
import { graphOf } from "../../test/rigs/pipeline-marks.js";
import { parseDuration } from "./options.js";

test.each([
  ["90s", 90],
  ["15m", 900],
  ["1h", 3600],
  ["1.5h", 5400],
  ["1d", 86_400],
  ["0s", null],
  ["1w", null],
  ["h", null],
  ["1 h", null],
  ["-1s", null],
  ["", null],
  ["99999d", null],
  ["1e3s", null],
])("parseDuration(%j) = %j seconds", (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

describe("options of a stage", () => {
  const common = (options: string) =>
    graphOf(`params: { n: 3 }\nstages:\n  a: { uses: fetch-issues, with: { repo: x, limit: "\${params.n}" }, ${options} }`)
      .nodes[0]?.common;
  test.each([
    ["retry: 0", { retry: 0 }],
    [`retry: "\${params.n}"`, { retry: 3 }],
    ["timeout: 90", { timeout: 90 }],
    ["timeout: 0.5", { timeout: 0.5 }],
    ["timeout: 15m", { timeout: 900 }],
    ["concurrency: 4", { concurrency: 4 }],
    ["resource: gpu-0", { resource: "gpu-0" }],
    ["allow_failures: 3", { allowFailures: { count: 3 } }],
    ["allow_failures: 2.5%", { allowFailures: { share: 0.025 } }],
    ['allow_failures: "100 %"', { allowFailures: { share: 1 } }],
    [`allow_failures: "\${params.n}%"`, { allowFailures: { share: 0.03 } }],
    ["freshness: always", { freshness: "always" }],
    ["freshness: pinned", { freshness: "pinned" }],
    ["freshness: 3600", { freshness: 3600 }],
    ["freshness: 1d", { freshness: 86_400 }],
  ])("%s", (options, expected) => {
    expect(common(options)).toMatchObject(expected);
  });
});
