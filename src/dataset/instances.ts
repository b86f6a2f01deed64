/**
 * Records of SWE-bench and Loc-Bench (`instance_id`, `repo`, `base_commit`, `problem_statement`, and the truth as a patch or a list of
 * edited functions), one JSON object each.
 */
import * as z from "zod";
import { changedFile } from "./build.js";
import { filesOfPatch } from "./patch.js";
import { describeProblem, plainPath, type Raw } from "./records.js";
import type { Case, ChangedFile, Target } from "./schema.js";
import { selectTargets } from "./targets.js";

const instanceSchema = z.object({
  instance_id: z.string().min(1),
  repo: z.string().nullish(),
  base_commit: z.string().nullish(),
  problem_statement: z.string(),
  created_at: z.union([z.string(), z.number()]).nullish(),
  patch: z.string().nullish(),
  /** `path.py:Class.function`. */
  edit_functions: z.array(z.string()).nullish(),
  gold_files: z.array(z.string().min(1)).nullish(),
  category: z.string().nullish(),
  difficulty: z.string().nullish(),
});

export function isInstance(record: Raw): boolean {
  return typeof record.instance_id === "string" || ("problem_statement" in record && "repo" in record);
}

/** A case, or what is wrong with the record. */
export function caseOfInstance(record: Raw): Case | string {
  const parsed = instanceSchema.safeParse(record);
  if (!parsed.success) return describeProblem(parsed.error);
  const instance = parsed.data;
  const files = typeof instance.patch === "string" ? filesOfPatch(instance.patch) : [];
  const targets = targetsOf(instance, files);
  if (targets === null) return "it has no truth: expected `edit_functions`, `gold_files` or a `patch` that changes files";
  const [title = "", ...rest] = instance.problem_statement.replaceAll("\r\n", "\n").split("\n");
  const strata: Record<string, string> = {};
  if (typeof instance.category === "string") strata.category = instance.category;
  if (typeof instance.difficulty === "string") strata.difficulty = instance.difficulty;
  return {
    id: instance.instance_id,
    repository: instance.repo?.toLowerCase() ?? null,
    // The number in an instance id is the pull request's, not the issue's.
    number: null,
    number_is_real: true,
    title,
    body: rest.join("\n"),
    url: null,
    created_at: typeof instance.created_at === "string" ? instance.created_at : null,
    closed_at: null,
    state_reason: null,
    labels: [],
    base_commit: instance.base_commit ?? null,
    links: [],
    targets: [...targets],
    // Stated by the makers of the data set.
    best_grade: "curated",
    strata: { ...strata, links: "curated" },
  };
}

/** The makers' own list of files where there is one, else every file of the patch. The patch tells what happened to each. */
function targetsOf(
  instance: Pick<z.infer<typeof instanceSchema>, "edit_functions" | "gold_files">,
  patched: readonly ChangedFile[],
): readonly Target[] | null {
  const listed = instance.edit_functions?.length
    ? instance.edit_functions.map((edited) => edited.split(":", 1)[0] ?? "")
    : (instance.gold_files ?? []);
  const paths = new Set(listed.map(plainPath).filter((path) => path !== ""));
  const all = targetsOfFiles(patched);
  if (paths.size === 0) return all.length > 0 ? all : null;
  const known = all.filter((target) => paths.has(target.path) || (target.renamed_to !== null && paths.has(target.renamed_to)));
  const found = new Set(known.flatMap(({ path, renamed_to }) => [path, renamed_to]));
  const others = [...paths]
    .filter((path) => !found.has(path))
    .map((path) => changedFile({ path, status: null, previous_path: null, additions: null, deletions: null }));
  return [...known, ...targetsOfFiles(others)].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function targetsOfFiles(files: readonly ChangedFile[]): readonly Target[] {
  const link = {
    repository: "",
    number: 0,
    title: null,
    url: null,
    merged_at: null,
    grade: null,
    evidence: [],
    base_commit: null,
    merge_commit: null,
    files_truncated: false,
    files: [...files],
  };
  return selectTargets([link], { extensions: null, roles: null }).targets;
}
