/** Issues of GitHub's lists, REST's or in its shape, as the items that `fetch-issues` hands on. */
import { count, type Fields, instant, isFields, object, text } from "../github/fields.js";
import { type ReferencePatterns, referencePatterns, referencesIn, repositoryOf, webHostOf } from "../github/references.js";
import type { RepositoryName } from "../github/repository.js";
import { type IssueItem, issueItemSchema } from "../github/schema.js";
import type { GitHubSource } from "./github-source.js";

interface Setting {
  readonly source: GitHubSource;
  readonly name: RepositoryName;
  readonly api: string;
  /** By host of web pages, as the issues' own addresses say. */
  readonly patterns: Map<string, ReferencePatterns>;
}

/** An entry of the list as an item; null where it lacks what makes an issue. */
export function issueItem(entry: Fields, prepared: Setting): IssueItem | null {
  const { number } = entry;
  const repository = repositoryOf(entry) ?? prepared.name.slug;
  const made = prepared.source.recording?.made_up.numbers ?? [];
  const body = text(entry, "body");
  const item = issueItemSchema.safeParse({
    id: `${repository.toLowerCase()}#${String(number)}`,
    repository,
    number,
    number_is_real: typeof number !== "number" || !made.includes(number),
    title: text(entry, "title") ?? "",
    body,
    url: text(entry, "html_url"),
    state: text(entry, "state"),
    state_reason: text(entry, "state_reason"),
    created_at: instant(entry, "created_at"),
    closed_at: instant(entry, "closed_at"),
    updated_at: instant(entry, "updated_at"),
    ...(Object.hasOwn(entry, "last_edited_at") ? { edited_at: instant(entry, "last_edited_at") } : {}),
    labels: labelsOf(entry),
    author_type: text(object(entry, "user"), "type"),
    comments: count(entry, "comments"),
    references: referencesIn(entry, repository, patternsFor(prepared, text(entry, "html_url"))),
    api_url: prepared.api,
    recorded: prepared.source.recording !== null,
  } satisfies Record<Exclude<keyof IssueItem, "edited_at">, unknown>);
  return item.success ? item.data : null;
}

export function patternsFor(prepared: Setting, htmlUrl: string | null): ReferencePatterns {
  const host = webHostOf(htmlUrl, prepared.api);
  const patterns = prepared.patterns.get(host) ?? referencePatterns(host, prepared.api);
  prepared.patterns.set(host, patterns);
  return patterns;
}

function labelsOf(entry: Fields): string[] {
  const { labels } = entry;
  if (!Array.isArray(labels)) return [];
  return labels.flatMap((label: unknown) =>
    typeof label === "string" ? label : isFields(label) ? (text(label, "name") ?? []) : [],
  );
}
