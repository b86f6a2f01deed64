/**
 * The card of a data set: what it holds, how it was made, what is wrong with it, how to cite it. One page for people, and the same as JSON.
 * It states what the data says; what nobody wrote down (a licence) is said to be unknown, never guessed.
 */
import { visible } from "../base/diagnostics.js";
import { datasetDigest } from "./build.js";
import { LEAK_CLASSES } from "./leakage.js";
import { counted, type LintReport, percentOf, type Size } from "./lint/contract.js";
import { type Case, type Dataset, FILE_ROLES, LINK_GRADES } from "./schema.js";

export interface CardFacts {
  /** The file as the person named it; null where there is none. */
  readonly file: string | null;
  /** SHA-256 of the file's bytes; null where there is none. */
  readonly fileDigest: string | null;
  /** When it was mined, as the file says; null = unknown. */
  readonly minedAt: string | null;
}

const LICENCE =
  "Texts of issues belong to the people who wrote them, and paths and code to the repository under its licence: this data set grants no rights to either. " +
  "Check the repository's licence and the terms of the forge before texts are passed on; ids, dates, paths and counts are facts.";

export function datasetCard({ header, cases }: Dataset, lint: LintReport, facts: CardFacts) {
  const digest = datasetDigest({ cases });
  const { size } = lint;
  const dates = cases.flatMap(({ created_at }) => created_at ?? []).sort();
  return {
    card_version: 1,
    name: header.project_name,
    url: header.url,
    dataset_digest: digest,
    file: facts.file,
    file_sha256: facts.fileDigest,
    mined_at: facts.minedAt,
    schema_version: header.schema_version,
    counts: {
      ...size,
      issues_looked_at: header.scanned,
      links: cases.reduce((sum, { links }) => sum + links.length, 0),
      repositories: new Set(cases.flatMap(({ repository }) => repository ?? [])).size,
      base_commits: new Set(cases.flatMap(({ base_commit }) => base_commit ?? [])).size,
      with_text: cases.filter(({ body }) => body !== null && body.trim() !== "").length,
    },
    created: dates.length === 0 ? null : { first: dates[0] ?? null, last: dates.at(-1) ?? null },
    rules: { links: header.links, extensions: header.extensions },
    targets_by_role: countBy(FILE_ROLES, cases, (one) => one.targets.map(({ role }) => role)),
    cases_by_link: countBy([...LINK_GRADES, "unknown"], cases, ({ best_grade }) => [best_grade ?? "unknown"]),
    leakage: lint.leak,
    half_width_95: lint.half_width,
    with_link_rules: lint.link_rules,
    findings: lint.findings.map(({ cases: _, ...finding }) => finding),
    audit: header.audit.map(({ rule, removed, what }) => ({ rule, removed, what })),
    notes: header.notes,
    licence: LICENCE,
    cite: citation(header.project_name, digest, facts, size),
  };
}
export type DatasetCard = ReturnType<typeof datasetCard>;

function countBy(names: readonly string[], cases: readonly Case[], of: (one: Case) => readonly string[]): Record<string, number> {
  const counts = new Map(names.map((name) => [name, 0]));
  for (const one of cases) for (const name of of(one)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].filter(([, count]) => count > 0));
}

function citation(name: string, digest: string, { minedAt }: CardFacts, { cases_with_targets: n, targets }: Size): string {
  const when = minedAt === null ? "" : `, mined ${minedAt.slice(0, 10)}`;
  return `${name}, issue localisation data set (${counted(n, "case")} with a target, ${counted(targets, "target")})${when}, SHA-256 ${digest.slice(0, 16)}, read with bench.`;
}

const SHOWN = 12;

export function cardMarkdown(card: DatasetCard): string {
  const { counts, leakage } = card;
  const scored = counts.cases_with_targets;
  const rows: [string, string][] = [
    ["Cases", `${counts.cases}, of which ${scored} have a target (${counts.test_only} tests only)`],
    ["Targets", `${counts.targets}${roles(card.targets_by_role)}`],
    ["Links", `${counts.links}${roles(card.cases_by_link, "cases by best link: ")}`],
    ["Repositories", `${counts.repositories}; ${counted(counts.base_commits, "base commit")}`],
    [
      "Independent draws",
      `${counts.clusters} (cases that share a pull request are one); intervals of up to ${halfText(card.half_width_95)}`,
    ],
    [
      "Texts",
      `${counts.with_text} of ${counts.cases} cases have more than a title${card.created === null ? "" : `; opened ${day(card.created.first)} to ${day(card.created.last)}`}`,
    ],
    [
      "The text names its answer",
      LEAK_CLASSES.map((name) => `${name} ${leakage[name]} (${percentOf(leakage[name], scored)})`).join(", "),
    ],
    ["Best constant answer", constantText(counts.constant)],
    [
      "Rules",
      `links: ${safe(card.rules.links ?? "unknown")}; files: ${card.rules.extensions === null ? "all" : safe(card.rules.extensions.join(", "))}`,
    ],
    [
      "With both link rules",
      `${counted(card.with_link_rules.cases_with_targets, "case")} with a target, ${counted(card.with_link_rules.targets, "target")}, ${card.with_link_rules.test_only} tests only`,
    ],
    ["Digest of the cases", `\`${card.dataset_digest}\``],
    ...(card.file === null
      ? []
      : [
          ["File", `${safe(card.file)}${card.file_sha256 === null ? "" : `, SHA-256 \`${card.file_sha256}\``}`] as [
            string,
            string,
          ],
        ]),
    ...(card.file === null && card.mined_at === null
      ? []
      : [["Mined", card.mined_at === null ? "unknown" : safe(card.mined_at)] as [string, string]]),
  ];
  const findings = card.findings
    .slice(0, SHOWN)
    .map(({ severity, name, what }) => `- **${name}** (${severity}): ${safe(what, 400)}`);
  const more = card.findings.length - findings.length;
  const audit = card.audit.map(({ rule, removed, what }) => `- ${safe(rule)}: ${removed} removed (${safe(what, 200)})`);
  const notes = card.notes.map((note) => `- ${safe(note, 400)}`);
  const sections = [
    `# Data set ${safe(card.name)}`,
    `| | |\n| --- | --- |\n${rows.map(([name, text]) => `| ${name} | ${text} |`).join("\n")}`,
    `## Findings\n\n${findings.length === 0 ? "None." : findings.join("\n")}${more > 0 ? `\n- and ${more} more, all of them in the JSON` : ""}`,
    audit.length === 0 ? "" : `## What the rules removed\n\n${audit.join("\n")}`,
    notes.length === 0 ? "" : `## Notes\n\n${notes.join("\n")}`,
    `## Licence\n\n${card.licence}`,
    `## How to cite\n\n${safe(card.cite, 400)}`,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function roles(counts: Readonly<Record<string, number>>, before = ""): string {
  const shown = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return shown.length === 0 ? "" : ` (${before}${shown.join(", ")})`;
}

function halfText(half: number | null): string {
  return half === null ? "any width" : `±${half.toFixed(2)}`;
}

function constantText(constant: Size["constant"]): string {
  return constant === null ? "none" : `${safe(constant.path, 200)} hits ${constant.hits} (${Math.round(100 * constant.share)} %)`;
}

function day(time: string | null): string {
  return safe(time?.slice(0, 10) ?? "?");
}

/** Text of strangers: one line, no markup, no table cell ended. */
function safe(text: string, limit = 120): string {
  const line = visible(text.slice(0, limit * 4).replace(/\s+/g, " ")).trim();
  const characters = Array.from(line);
  const cut = characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
  return cut
    .replace(/[\\`*_[\]|~]/g, (character) => `\\${character}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
