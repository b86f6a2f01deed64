/** Small stage kinds for tests of the pipeline checker: the shape of a benchmark, without doing anything. */
import * as z from "zod";
import type { StageKindInfo } from "../../src/pipeline/model.js";

const backend = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("graphrag"),
    name: z.string().optional(),
    dir: z.string(),
    method: z.enum(["local", "drift"]).default("local"),
  }),
  z.strictObject({ kind: z.literal("bm25"), top: z.number().int().min(1).default(15) }),
  z.strictObject({ kind: z.literal("random"), draws: z.number().int().positive().default(100), seed: z.number().default(42) }),
  z.strictObject({ kind: z.literal("llm"), model: z.string(), key: z.string().optional() }),
  z.strictObject({ kind: z.literal("./my-backend.js"), option: z.string().optional() }),
]);

const list: StageKindInfo[] = [
  {
    kind: "fetch-issues",
    summary: "Fetches issues.",
    config: z.strictObject({
      repo: z.string().describe("owner/repo"),
      limit: z.number().int().positive().default(200),
      revision: z.string().optional(),
    }),
    produces: "issues",
    consumes: {},
    fetches: true,
  },
  {
    kind: "resolve-links",
    summary: "Finds links.",
    config: z.strictObject({}),
    produces: "links",
    consumes: { issues: "one" },
    fetches: true,
  },
  {
    kind: "build-dataset",
    summary: "Builds a data set.",
    config: z
      .strictObject({
        extensions: z.array(z.string()).default([".java"]),
        links: z.union([z.enum(["closing", "mentions"]), z.array(z.enum(["platform", "keyword"]))]).default("closing"),
        strict: z.boolean().optional(),
        out: z.string().default("mined"),
        grades: z.record(z.string(), z.number()).optional(),
      })
      .refine((config) => !(config.strict === true && config.links === "mentions"), "strict data sets have no mentions"),
    produces: "dataset",
    consumes: { issues: "one", links: "optional" },
    writes: ["out"],
  },
  {
    kind: "import-dataset",
    summary: "Imports a data set.",
    config: z.strictObject({ path: z.string().min(1) }),
    produces: "dataset",
    consumes: {},
  },
  {
    kind: "checkout",
    summary: "Source trees.",
    config: z.strictObject({ git: z.string().optional(), at: z.string().default("base") }),
    produces: "corpus",
    consumes: { dataset: "one" },
  },
  {
    kind: "query-backend",
    summary: "Asks a backend.",
    config: z.strictObject({ backend, repeats: z.number().int().min(1).default(1), prompt: z.string().optional() }),
    produces: "answers",
    consumes: { dataset: "one", corpus: "optional" },
  },
  {
    kind: "score",
    summary: "Scores answers.",
    config: z.strictObject({
      rules: z.enum(["strict", "lenient", "seed"]).default("strict"),
      measures: z
        .preprocess((value) => (typeof value === "string" ? value.split(",") : value), z.array(z.string()))
        .default(["P", "R"]),
    }),
    produces: "scores",
    consumes: { dataset: "one", corpus: "optional", answers: "one" },
  },
  {
    kind: "bootstrap",
    summary: "Intervals.",
    config: z.strictObject({ samples: z.number().int().default(1000) }),
    produces: "intervals",
    consumes: { scores: "one" },
  },
  { kind: "compare", summary: "Compares.", config: z.strictObject({}), produces: "comparison", consumes: { scores: "some" } },
  {
    kind: "report",
    summary: "Reports.",
    config: z.strictObject({ formats: z.array(z.string()).default(["json"]) }),
    produces: "report",
    consumes: { scores: "some", intervals: "many" },
  },
];

export const testKinds: ReadonlyMap<string, StageKindInfo> = new Map(list.map((kind) => [kind.kind, kind]));
