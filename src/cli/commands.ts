/** Every command: where it is, and a sentence about it. */
import type { Command } from "./contract.js";

/** Loaded only when called: `bench --help` must not pay for Octokit. */
export const COMMANDS: Readonly<
  Record<string, { readonly load: () => Promise<{ readonly command: Command }>; readonly summary: string }>
> = {
  init: { load: () => import("./init.js"), summary: "Ask three questions and write a pipeline that runs" },
  run: { load: () => import("./run.js"), summary: "Run a pipeline; what is in the cache is not done again" },
  plan: { load: () => import("./plan.js"), summary: "Say what a run would do, and why" },
  explain: { load: () => import("./explain.js"), summary: "Show a key's parts, and which differ from the last run" },
  status: { load: () => import("./status.js"), summary: "Show runs: running, finished, resumable" },
  dag: { load: () => import("./dag.js"), summary: "Draw a pipeline" },
  mine: { load: () => import("./mine.js"), summary: "Mine GitHub repositories into a data set" },
  lint: { load: () => import("./lint.js"), summary: "Say what is wrong with a data set; repair it, mask it, write its card" },
  query: { load: () => import("./query.js"), summary: "Ask one backend about a data set or a question, without a pipeline" },
  score: {
    load: async () => ({ command: (await import("./score.js")).scoreCommand }),
    summary: "Score an answers file against a data set, without a pipeline",
  },
  rescore: {
    load: () => import("./rescore.js"),
    summary: "Score a run's answers by other rules, and show what the rules changed",
  },
  export: { load: () => import("./export.js"), summary: "Write queries, answers, a data set, or a bundle of a run" },
  import: { load: () => import("./import.js"), summary: "Take in bundles of runs, to score them again here" },
  compare: { load: () => import("./compare.js"), summary: "Compare runs case by case: intervals, tests, gains and losses" },
  pool: { load: () => import("./pool.js"), summary: "Collect predictions that nobody has judged, to be graded" },
  view: { load: () => import("./view.js"), summary: "Show runs in the browser, the one under way as it goes" },
  report: { load: () => import("./report.js"), summary: "Write a stored run as CSV, TREC, JUnit, LaTeX, ..." },
  measure: { load: () => import("./measure.js"), summary: "Measure a TREC run against qrels" },
  "explain-measure": { load: () => import("./explain-measure.js"), summary: "Say what a measure is" },
  cache: { load: () => import("./cache.js"), summary: "Look after the cache: stats, verify, gc, rm" },
  doctor: { load: () => import("./doctor.js"), summary: "Check what is installed, set and reachable, and say how to mend it" },
  completion: {
    load: () => import("./completion.js"),
    summary: "Write the completion of commands and options for bash, zsh or fish",
  },
  schema: { load: () => import("./schema.js"), summary: "Write the JSON Schemas for editors" },
};
