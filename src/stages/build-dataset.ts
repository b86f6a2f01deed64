/**
 * `build-dataset`: issues, their links and the files of the linked pull requests -> cases with targets, the mined file and its audit.
 *
 * The links rule is applied here to what `resolve-timeline-prs` found, so another rule asks nothing again as long as the files that it needs
 * were fetched.
 */
import * as z from "zod";
import { buildDataset, changedFile, datasetDigest, type IssueWithLinks } from "../dataset/build.js";
import { maskDataset } from "../dataset/mask.js";
import { minedFile, minedFileStem } from "../dataset/mined-file.js";
import type { Dataset, Link } from "../dataset/schema.js";
import { type OutFile, type StageInputs, type StageTools, wholeStage } from "../engine/contract.js";
import {
  type FilesItem,
  filesItemSchema,
  type IssueItem,
  issueItemSchema,
  issuesMetaSchema,
  type LinkRule,
  type LinksItem,
  linkRuleSchema,
  linksItemSchema,
  linksMetaSchema,
} from "../github/schema.js";
import { linkRuleText, scopeCovers, selectLinks } from "../github/select.js";
import {
  builtRoles,
  builtRolesSchema,
  datasetOutput,
  extensionList,
  extensionsSchema,
  maskSchema,
  roleList,
} from "./dataset-options.js";
import { OTHER_RULES } from "./old-dataset.js";

export const buildDatasetConfigSchema = z.strictObject({
  extensions: extensionsSchema,
  links: linkRuleSchema
    .optional()
    .describe(
      "Which links count: `closing`, `mentions`, or a list of grades such as `[closing, curated]`; default: as the links were resolved",
    ),
  roles: builtRolesSchema,
  mask: maskSchema,
});
type Config = z.infer<typeof buildDatasetConfigSchema>;

export const buildDatasetStage = wholeStage<Config>({
  kind: "build-dataset",
  version: 3,
  summary: "Cases with their targets from issues, links and changed files; writes the mined file and the audit beside it.",
  shape: "whole",
  config: buildDatasetConfigSchema,
  produces: "dataset",
  consumes: { issues: "one", links: "one", files: "one" },
  precious: false,
  selectable: true,
  keyConfig: ({ extensions, links, roles, mask }) => ({
    extensions: extensionList(extensions),
    links,
    roles: roles && roleList(roles),
    ...(mask ? { mask } : {}),
  }),
  run: async (config, inputs, tools) => {
    const meta = issuesMetaSchema.safeParse(inputs.one("issues").meta);
    const resolved = linksMetaSchema.safeParse(inputs.one("links").meta);
    if (!meta.success || !resolved.success)
      return { ok: false, message: "the fetched issues or links are in a form that is not known: fetch them again" };
    const rule = config.links ?? resolved.data.links;
    if (!scopeCovers(resolved.data.scope, rule)) return { ok: false, message: notCovered(rule, resolved.data.links) };
    const fetched = await load(inputs, tools);
    const joined = joinIssues(fetched, rule);
    if (joined.unwanted.length > 0) return { ok: false, message: notCovered(rule, resolved.data.links) };
    const built = buildDataset(joined.issues, {
      project: meta.data.repository,
      url: meta.data.url,
      scanned: meta.data.listed,
      links: linkRuleText(rule),
      extensions: extensionList(config.extensions),
      roles: builtRoles(config.roles, rule),
      notes: [
        ...meta.data.notes,
        ...(resolved.data.rules.length === 0 || rule === "mentions" ? [] : [`${OTHER_RULES}${resolved.data.rules.join(", ")}`]),
        ...joined.notes,
      ],
    });
    const dataset = config.mask ? maskDataset(built) : built;
    const unknown = dataset.header.audit.find((line) => line.rule === "truth-unknown");
    if (unknown !== undefined)
      tools.warn(`${unknown.removed} issues were left out because their links or files could not be fetched: run again`);
    return {
      ok: true,
      value: { ...datasetOutput(dataset), files: outFiles(dataset, new Date(tools.clock.now()).toISOString(), config.mask) },
    };
  },
});

function notCovered(rule: LinkRule, resolved: LinkRule): string {
  return `\`links: ${linkRuleText(rule)}\` needs links or files that were not fetched: \`resolve-timeline-prs\` looked for \`${linkRuleText(resolved)}\`. Set the same \`links\` there`;
}

interface Fetched {
  readonly issues: readonly IssueItem[];
  readonly links: ReadonlyMap<string, LinksItem>;
  readonly files: ReadonlyMap<string, FilesItem>;
}

async function load(inputs: StageInputs, tools: StageTools): Promise<Fetched> {
  const read = async <T>(type: string, schema: z.ZodType<T>): Promise<T[]> =>
    (await tools.load(inputs.one(type).all)).map((value) => schema.parse(value));
  const links = await read("links", linksItemSchema);
  const files = await read("files", filesItemSchema);
  return {
    issues: await read("issues", issueItemSchema),
    links: new Map(links.map((item) => [item.id, item])),
    files: new Map(files.map((item) => [item.pull, item])),
  };
}

/**
 * Each issue with its accepted links and their files. `unwanted`: accepted links whose files the resolving stage never asked for,
 * because its own rule did not accept them.
 */
function joinIssues(
  { issues, links, files }: Fetched,
  rule: LinkRule,
): { issues: IssueWithLinks[]; unwanted: string[]; notes: string[] } {
  const unwanted: string[] = [];
  const notes = new Set<string>();
  const joined = issues.map((issue): IssueWithLinks => {
    const item = links.get(issue.id);
    if (item === undefined) return { issue, links: [], dropped: [], unknown: "its links could not be fetched" };
    for (const note of item.notes) notes.add(note);
    const selected = selectLinks(item, issue, rule);
    const accepted: Link[] = [];
    let unknown: string | null = null;
    for (const link of selected.links) {
      const changed = files.get(link.pull);
      if (changed === undefined) {
        if (!link.wanted) unwanted.push(link.pull);
        unknown = `the files of ${link.pull} could not be fetched`;
        continue;
      }
      accepted.push({
        repository: link.repository,
        number: link.number,
        title: link.title,
        url: link.url,
        merged_at: link.merged_at,
        grade: link.selected_as,
        evidence: link.evidence,
        base_commit: changed.base_commit,
        merge_commit: changed.merge_commit ?? link.merge_commit_sha,
        files_truncated: changed.truncated,
        files: changed.files.map(changedFile),
      });
    }
    return { issue, links: accepted, dropped: [...item.dropped, ...selected.dropped], unknown };
  });
  return { issues: joined, unwanted, notes: [...notes].sort() };
}

/** The mined file and, under the same name, the audit alone: what each rule removed. */
function outFiles(dataset: Dataset, now: string, masked: boolean): OutFile[] {
  const stem = minedFileStem(`${dataset.header.project_name}${masked ? "__masked" : ""}`);
  const { audit, notes, project_name, links, extensions, scanned } = dataset.header;
  const summary = {
    project_name,
    dataset_digest: datasetDigest(dataset),
    mined_at: now,
    links,
    extensions,
    scanned,
    cases: dataset.cases.length,
    cases_with_targets: dataset.cases.filter(({ targets }) => targets.length > 0).length,
    targets: dataset.cases.reduce((sum, { targets }) => sum + targets.length, 0),
    notes,
    audit,
  };
  return [
    { root: "mined", name: `${stem}.json`, text: minedFile(dataset, now) },
    { root: "mined", name: `${stem}__audit.json`, text: `${JSON.stringify(summary, null, 2)}\n` },
  ];
}
