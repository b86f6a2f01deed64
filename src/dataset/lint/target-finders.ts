/** What is wrong with the truth: files that no answer can or should name. */
import type { FileRole } from "../schema.js";
import { counted, percentOf } from "./contract.js";
import { type Context, caseFinding, type Finder, finding, targetFinding } from "./finder.js";

function onlyRole(context: Context, name: "test-only" | "docs-only", role: FileRole, what: string) {
  return caseFinding(
    context,
    ({ id, targets }) =>
      targets.length > 0 && targets.every((target) => target.role === role)
        ? {
            example: `${id}: ${targets[0]?.path ?? ""}${targets.length > 1 ? ` and ${targets.length - 1} more` : ""}`,
            weight: targets.length,
          }
        : null,
    {
      name,
      severity: "warning",
      of: context.withTargets.length,
      what: (cases) =>
        `${counted(cases, "case")} of ${context.withTargets.length} ${cases === 1 ? "has" : "have"} ${what} as truth: the code at fault is not in it`,
    },
  );
}

export const testOnly: Finder = (context) => onlyRole(context, "test-only", "test", "tests only");
export const docsOnly: Finder = (context) => onlyRole(context, "docs-only", "docs", "documentation only");

export const noSourceTarget: Finder = (context) =>
  caseFinding(
    context,
    ({ id, targets }) => {
      const roles = new Set(targets.map(({ role }) => role));
      const isOther =
        targets.length > 0 && !roles.has("source") && !(roles.size === 1 && (roles.has("test") || roles.has("docs")));
      return isOther ? { example: `${id}: ${[...roles].sort().join(", ")}`, weight: targets.length } : null;
    },
    {
      name: "no-source-target",
      severity: "warning",
      of: context.withTargets.length,
      what: (cases) =>
        `${counted(cases, "case")} ${cases === 1 ? "has" : "have"} no source file among the targets (build files, generated or vendored code, tests and documentation mixed)`,
    },
  );

export const addedTarget: Finder = (context) =>
  targetFinding(context, (_, { status }) => status === "added" || status === "copied", {
    name: "added-target",
    severity: "warning",
    what: (targets, cases) =>
      `${counted(targets, "target")} of ${counted(cases, "case")} are files that the fix added: no answer can find them in the tree before it`,
  });

export const renamedTarget: Finder = (context) =>
  targetFinding(context, (_, { path, renamed_to }) => renamed_to !== null && renamed_to !== path, {
    name: "renamed-target",
    severity: "info",
    keep: true,
    what: (targets, cases) =>
      `${counted(targets, "target")} of ${counted(cases, "case")} were renamed by the fix: they count by their old path`,
  });

export const absentAtBase: Finder = (context) => {
  const { exists } = context;
  if (exists === null) return null;
  const found = targetFinding(context, (one, target) => !exists(one, target), {
    name: "absent-at-base",
    severity: "warning",
    what: (targets, cases) =>
      `${counted(targets, "target")} of ${counted(cases, "case")} are not in the given tree: they are shown, not scored`,
  });
  // Where most are missing, the tree is another project's or another time's.
  return found !== null && found.count > found.of / 2
    ? {
        ...found,
        severity: "error",
        what: `${found.what}; that is ${percentOf(found.count, found.of)} of all: is it the right tree?`,
      }
    : found;
};

export const noTarget: Finder = (context) => {
  const found = caseFinding(context, ({ id, targets }) => (targets.length === 0 ? { example: id } : null), {
    name: "no-target",
    severity: "info",
    what: (cases) => `${counted(cases, "case")} ${cases === 1 ? "has" : "have"} no target: shown, not scored`,
  });
  // No figure counts them.
  return found === null ? null : { ...found, without: null };
};

export const noBaseCommit: Finder = ({ withTargets }) => {
  const without = withTargets.filter(({ base_commit }) => base_commit === null);
  return finding({
    name: "no-base-commit",
    severity: "info",
    unit: "cases",
    of: withTargets.length,
    hits: without.map(({ id }) => ({ id, example: id })),
    what: `${counted(without.length, "case")} of ${withTargets.length} ${without.length === 1 ? "does" : "do"} not say which commit is asked about: a tree of another day may hold the fix, or lack the file`,
    without: null,
  });
};
