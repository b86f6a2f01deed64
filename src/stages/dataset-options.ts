/** Options that the stages which give a data set share, and the form in which a data set leaves them. */
import * as z from "zod";
import type { Json } from "../base/json.js";
import { datasetDigest } from "../dataset/build.js";
import { type Dataset, FILE_ROLES, type FileRole, type LinkGrade } from "../dataset/schema.js";
import type { OutItem } from "../engine/contract.js";
import type { LinkRule } from "../github/schema.js";
import { CLOSING_GRADES } from "../github/select.js";

const extension = z.string().regex(/^\.?[^/\\\s*?.][^/\\\s*?]{0,30}$/, "a file extension such as `.java`, without wildcards");

export const extensionsSchema = z
  .union([extension, z.array(extension).min(1)])
  .nullish()
  .describe("File extensions that make a changed file a target: `[.java]`; left out = every file");

const roles = z.union([z.literal("all"), z.enum(FILE_ROLES), z.array(z.enum(FILE_ROLES)).min(1)]);

/** Of a data set that is there already: its makers chose the targets. */
export const rolesSchema = roles.default("all").describe("Roles that make a changed file a target: `all`, `source`, or a list");

/** Of a data set that is built: what is left out depends on the links rule (`builtRoles`). */
export const builtRolesSchema = roles
  .optional()
  .describe(
    "Roles that make a changed file a target: `all`, `source`, or a list; default: `source`, with `links: mentions` (the original's rule) `all`",
  );

/** The roles of a data set that is built by `rule`; null = every role. */
export function builtRoles(given: z.infer<typeof builtRolesSchema>, rule: LinkRule): FileRole[] | null {
  return roleList(given ?? (rule === "mentions" ? "all" : "source"));
}

export const maskSchema = z
  .boolean()
  .default(false)
  .describe(
    "Take the names of the targets out of the texts: a variant of the data set whose questions do not name their answers",
  );

/** With the dot, lower case, sorted; null = every file. */
export function extensionList(extensions: z.infer<typeof extensionsSchema>): string[] | null {
  if (extensions === null || extensions === undefined) return null;
  const list = typeof extensions === "string" ? [extensions] : extensions;
  return [...new Set(list.map((one) => (one.startsWith(".") ? one : `.${one}`).toLowerCase()))].sort();
}

export function roleList(roles: z.infer<typeof rolesSchema>): FileRole[] | null {
  if (roles === "all") return null;
  return typeof roles === "string" ? [roles] : [...new Set(roles)].sort();
}

/** The grades that a links rule accepts; null = `mentions`, the original's rule, which asks for none. */
export function gradesOf(rule: LinkRule): ReadonlySet<LinkGrade> | null {
  if (rule === "mentions") return null;
  const names = rule === "closing" ? ["closing" as const] : rule;
  return new Set(names.flatMap((name) => (name === "closing" ? CLOSING_GRADES : [name])));
}

/** One item per case; the header and the digest of the cases are the output's meta. */
export function datasetOutput(dataset: Dataset): { items: OutItem[]; meta: Json } {
  return {
    items: dataset.cases.map((one) => ({ id: one.id, value: one })),
    meta: JSON.parse(JSON.stringify({ ...dataset.header, digest: datasetDigest(dataset) })) as Json,
  };
}
