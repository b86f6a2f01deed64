/** The library: what a TypeScript program may import. */
export type { Answer } from "./answers/schema.js";
export type { Result } from "./base/result.js";
export type { Case, Dataset, DatasetHeader } from "./dataset/schema.js";
export { compare, type PipelineEnd, type PipelineOptions, runPipeline, type Scored, type ScoreInput, score } from "./library.js";
export type { CompareSettings, Comparison } from "./scoring/compare.js";
export type { ScoredCase } from "./scoring/contract.js";
export type { Summary } from "./scoring/summary-schema.js";
