/**
 * The lint of a data set: every finding that fires, worst first. Pure; needs no answers and no network, so that a data set is known before a
 * token is spent on it.
 */
import { knownLeakage, type LeakClass } from "../leakage.js";
import type { BadRecord, Case, Dataset, Target } from "../schema.js";
import { FINDINGS, type LintFinding, type LintReport, SEVERITIES } from "./contract.js";
import type { Context, Finder } from "./finder.js";
import * as links from "./link-finders.js";
import { withLinkRules } from "./link-rules.js";
import * as sample from "./sample-finders.js";
import { halfWidth, sizeOf } from "./size.js";
import * as targets from "./target-finders.js";
import * as texts from "./text-finders.js";

const FINDERS: readonly Finder[] = [
  links.foreignRepository,
  links.mergedBeforeIssue,
  links.mergedAfterClose,
  links.mentionLink,
  links.notPlanned,
  links.revert,
  links.bot,
  links.bulkChange,
  links.filesCut,
  links.fixNamed,
  targets.testOnly,
  targets.docsOnly,
  targets.noSourceTarget,
  targets.addedTarget,
  targets.renamedTarget,
  targets.absentAtBase,
  targets.noTarget,
  targets.noBaseCommit,
  sample.sharedChange,
  sample.concentration,
  sample.tinySample,
  texts.leakFull,
  texts.leakPartial,
  texts.missingBody,
  texts.editedAfterFix,
  texts.duplicateId,
  texts.duplicateText,
  texts.unusableRecord,
];

export interface LintOptions {
  /** Whether a target is a file of the tree that the case asks about; null = as the targets say (`in_tree`), where a tree was looked at. */
  readonly exists?: ((one: Case, target: Target) => boolean) | null;
  /** Records of the file that are no cases. */
  readonly bad?: readonly BadRecord[];
}

export function lintDataset({ cases }: Pick<Dataset, "cases">, { exists = null, bad = [] }: LintOptions = {}): LintReport {
  const size = sizeOf(cases);
  const context: Context = {
    cases,
    withTargets: cases.filter((one) => one.targets.length > 0),
    links: cases.reduce((sum, one) => sum + one.links.length, 0),
    targets: cases.reduce((sum, one) => sum + one.targets.length, 0),
    exists: exists ?? (cases.some(({ targets: all }) => all.some(({ in_tree }) => in_tree !== undefined)) ? isInTree : null),
    bad,
  };
  const findings = FINDERS.flatMap((find) => find(context) ?? []);
  const leak: Record<LeakClass, number> = { none: 0, partial: 0, full: 0 };
  for (const one of cases) {
    const leakage = knownLeakage(one, one);
    if (leakage !== null) leak[leakage.class]++;
  }
  return {
    size,
    half_width: halfWidth(size.clusters),
    leak,
    link_rules: sizeOf(withLinkRules(cases)),
    findings: findings.sort(worstFirst),
  };
}

function isInTree(_: Case, { in_tree }: Target): boolean {
  return in_tree !== false;
}

/** By severity, then by how many targets and cases would go, then by name. */
function worstFirst(a: LintFinding, b: LintFinding): number {
  const weight = ({ without }: LintFinding) => (without === null ? 0 : -without.targets);
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    Number(b.without !== null) - Number(a.without !== null) ||
    weight(b) - weight(a) ||
    FINDINGS.indexOf(a.name) - FINDINGS.indexOf(b.name)
  );
}

/** Was a lint under this digest made already? */
export function hasLint(digest: string): boolean {
  return known.has(digest);
}

const KEPT = 8;
const known = new Map<string, LintReport>();

/**
 * The lint of cases, made once for all cells of a run that share them. `digest`: of the cases (`datasetDigest`), and of the trees that `exists`
 * looks into.
 */
export function knownLint(dataset: Pick<Dataset, "cases">, digest: string, exists: LintOptions["exists"] = null): LintReport {
  const before = known.get(digest);
  if (before !== undefined) return before;
  const report = lintDataset(dataset, { exists });
  known.set(digest, report);
  for (const oldest of known.keys()) {
    if (known.size <= KEPT) break;
    known.delete(oldest);
  }
  return report;
}
