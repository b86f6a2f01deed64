/** The library: what a TypeScript program may import. */
export type { Answer } from "./answers/schema.js";
export type { Case, Dataset, DatasetHeader } from "./dataset/schema.js";
