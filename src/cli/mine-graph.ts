/**
 * The pipeline that `bench mine` runs, made in memory: the four stages that a pipeline file would name, with the same configuration and
 * hence the same keys. Whatever mining fetched, a pipeline finds in the cache, and the other way round.
 */
import type * as z from "zod";
import { err, ok, type Result } from "../base/result.js";
import type { FileRole } from "../dataset/schema.js";
import type { StageKind } from "../engine/contract.js";
import type { RulesConfig } from "../github/rules.js";
import type { LinkRule } from "../github/schema.js";
import type { PipelineGraph, StageNode } from "../pipeline/model.js";
import { DEFAULT_OPTIONS } from "../pipeline/options.js";

export interface MineSettings {
  /** Closed issues to list; 0 = all. */
  readonly limit: number;
  readonly links: LinkRule;
  /** Extensions that make a changed file a target; null = every file. */
  readonly extensions: readonly string[] | null;
  /** Roles that make a changed file a target; undefined = the stage's default, which depends on the links rule. */
  readonly roles: readonly FileRole[] | "all" | undefined;
  /** Which lines each pull request changed is kept. */
  readonly lines: boolean;
  /** Base address of the REST API, where the repository's own address does not say. */
  readonly githubUrl: string | undefined;
  /** Absolute path of a recording that answers instead of the network. */
  readonly recording: string | undefined;
  /** Absolute path of an older mined file that is to be completed. */
  readonly dataset: string | undefined;
  readonly api: "auto" | "rest" | "graphql";
  /** Rules that the person switched. */
  readonly rules: RulesConfig;
}

export const STAGES = { issues: "issues", links: "links", files: "files", dataset: "dataset" } as const;
export const FETCH_STAGES = [STAGES.issues, STAGES.links, STAGES.files] as const;

/** `folder`: what relative paths are relative to. `secrets`: values that must leave no trace, with the name to show instead. */
export function mineGraph(
  repo: string,
  settings: MineSettings,
  kinds: ReadonlyMap<string, StageKind>,
  folder: string,
  secrets: ReadonlyMap<string, string>,
): Result<PipelineGraph, string> {
  const { limit, links, extensions, roles, lines, githubUrl, recording, api, rules, dataset: old } = settings;
  const source = {
    ...(githubUrl === undefined ? {} : { github_url: githubUrl }),
    ...(recording === undefined ? {} : { recording }),
    ...(old === undefined ? {} : { dataset: old }),
    ...(api === "auto" ? {} : { api }),
  };
  const switched = Object.keys(rules).length === 0 ? {} : { rules };
  const { issues, links: resolved, files, dataset } = STAGES;
  const stages: readonly [name: string, kind: string, needs: readonly string[], config: object][] = [
    [issues, "fetch-issues", [], { repo, limit, ...source }],
    [resolved, "resolve-timeline-prs", [issues], { links, ...switched, ...source }],
    [files, "fetch-pr-files", [resolved], { ...source, ...(lines ? { lines } : {}) }],
    [
      dataset,
      "build-dataset",
      [issues, resolved, files],
      { links, ...(extensions === null ? {} : { extensions }), ...(roles === undefined ? {} : { roles }) },
    ],
  ];
  const nodes: StageNode[] = [];
  for (const [name, kind, needs, config] of stages) {
    const checked = (kinds.get(kind) as StageKind).config.safeParse(config);
    if (!checked.success) return err(mistakes(checked.error));
    nodes.push({
      id: name,
      stage: name,
      label: null,
      kind,
      config: checked.data as StageNode["config"],
      needs,
      common: DEFAULT_OPTIONS,
      line: 1,
    });
  }
  return ok({ name: `mine ${repo}`, file: "bench mine", folder, params: {}, nodes, secrets });
}

function mistakes(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)).join("; ");
}
