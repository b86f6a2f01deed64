/**
 * Records of SWE-bench and Loc-Bench (`instance_id`, `repo`, `base_commit`, `problem_statement`, and the truth as a patch or a list of
 * edited functions), one JSON object each.
 */
import * as z from "zod";
import { firstProblem } from "../base/plain-words.js";
import { changedFile } from "./build.js";
import { filesOfPatch } from "./patch.js";
import { plainPath, type Raw } from "./records.js";
import { type Case, type ChangedFile, FILE_STATUSES, type Target } from "./schema.js";
import { selectTargets } from "./targets.js";

const goldFileSchema = z.object({
  filename: z.string().min(1),
  status: z.enum(FILE_STATUSES).nullish().catch(null),
  previous_filename: z.string().nullish(),
  additions: z.number().int().nonnegative().nullish(),
  deletions: z.number().int().nonnegative().nullish(),
});

const instanceSchema = z.object({
  instance_id: z.string().min(1),
  repo: z.string().nullish(),
  base_commit: z.string().nullish(),
  problem_statement: z.string(),
  created_at: z.union([z.string(), z.number()]).nullish(),
  patch: z.string().nullish(),
  /** `path.py:Class.function`. */
  edit_functions: z.array(z.string()).nullish(),
  /** Paths, or files as GitHub lists them. */
  gold_files: z.array(z.union([z.string().min(1), goldFileSchema])).nullish(),
  category: z.string().nullish(),
  difficulty: z.string().nullish(),
});

export function isInstance(record: Raw): boolean {
  return typeof record.instance_id === "string" || ("problem_statement" in record && "repo" in record);
}

/** A case, or what is wrong with the record. */
export function caseOfInstance(record: Raw): Case | string {
  const parsed = instanceSchema.safeParse(record);
  if (!parsed.success) return firstProblem(parsed.error, record);
  const instance = parsed.data;
  const files = targetsOf(instance);
  const targets = files?.map((target) => withFunctions(target, instance.edit_functions ?? []));
  if (targets === undefined) return "it has no truth: expected `edit_functions`, `gold_files` or a `patch` that changes files";
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

/** The makers' own list of files where there is one, else every file of the patch. What happened to a file is told by whichever knows. */
function targetsOf(instance: z.infer<typeof instanceSchema>): readonly Target[] | null {
  const gold = instance.gold_files ?? [];
  const described = [
    ...gold.flatMap((file) => (typeof file === "string" ? [] : [describedFile(file)])),
    ...filesOfPatch(instance.patch ?? ""),
  ].filter(({ path }) => path !== "");
  const edited = (instance.edit_functions ?? []).map((name) => name.split(":", 1)[0] ?? "");
  const listed = edited.length > 0 ? edited : gold.map((file) => (typeof file === "string" ? file : file.filename));
  const paths = new Set(listed.map(plainPath).filter((path) => path !== ""));
  const all = targetsOfFiles(described);
  if (paths.size === 0) return all.length > 0 ? all : null;
  const known = all.filter(({ path, renamed_to }) => paths.has(path) || (renamed_to !== null && paths.has(renamed_to)));
  const found = new Set(known.flatMap(({ path, renamed_to }) => [path, renamed_to]));
  const others = [...paths]
    .filter((path) => !found.has(path))
    .map((path) => changedFile({ path, status: null, previous_path: null, additions: null, deletions: null }));
  return [...known, ...targetsOfFiles(others)].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Loc-Bench's own truth below the file: `path.py:Class.method`. A path alone names no function, but says that there is none. */
function withFunctions(target: Target, edited: readonly string[]): Target {
  const own = edited.filter((name) => {
    const path = plainPath(name.split(":", 1)[0] ?? "");
    return path === target.path || path === target.renamed_to;
  });
  if (own.length === 0) return target;
  const names = own.map((name) => name.slice((name.split(":", 1)[0] ?? "").length + 1).trim()).filter((name) => name !== "");
  return { ...target, functions: [...new Set(names)].sort().map((name) => ({ name, ranges: null })) };
}

function describedFile(file: z.infer<typeof goldFileSchema>): ChangedFile {
  return changedFile({
    path: plainPath(file.filename),
    status: file.status ?? null,
    previous_path: file.previous_filename ?? null,
    additions: file.additions ?? null,
    deletions: file.deletions ?? null,
  });
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
