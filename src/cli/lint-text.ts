/** The findings of a data set on a terminal: size first, then each finding with its effect and the worst examples. */
import { visible } from "../base/diagnostics.js";
import { LEAK_CLASSES } from "../dataset/leakage.js";
import { counted, type LintFinding, type LintReport, percentOf, type Size } from "../dataset/lint/contract.js";
import { effectText } from "../dataset/lint/effect.js";
import type { Dataset } from "../dataset/schema.js";

const EXAMPLES = 3;

export function lintText({ header }: Dataset, report: LintReport): string {
  const { size, leak, findings, link_rules: rules } = report;
  const files = header.extensions === null ? "" : ` (${header.extensions.join(", ")})`;
  const leaks = LEAK_CLASSES.map((name) => `${name} ${leak[name]} (${percentOf(leak[name], size.cases_with_targets)})`).join(
    ", ",
  );
  const lines = [
    `${header.project_name}: ${counted(size.cases, "case")}, ${size.cases_with_targets} with targets${files}, ${counted(size.targets, "target")}; ${size.test_only} tests only`,
    `best constant answer: ${constantText(size)}`,
    `95 % interval with ${counted(size.clusters, "independent draw")}: up to ${report.half_width === null ? "any width" : `±${report.half_width.toFixed(2)}`}`,
    `the text names its answer: ${leaks}`,
    ...(rules.targets === size.targets
      ? []
      : [
          `with the link rules (same repository, opened <= merged <= closed): ${counted(rules.cases_with_targets, "case")} with targets, ${counted(rules.targets, "target")}; ${rules.test_only} tests only; best constant answer: ${constantText(rules)}`,
        ]),
    "",
    ...(findings.length === 0 ? ["no finding"] : findings.flatMap((finding) => findingLines(finding, size))),
  ];
  return `${lines.map(visible).join("\n")}\n`;
}

function constantText({ constant }: Size): string {
  return constant === null ? "none" : `${constant.path} hits ${constant.hits} (${Math.round(100 * constant.share)} %)`;
}

function findingLines({ name, severity, what, examples, without }: LintFinding, size: Size): string[] {
  const shown = examples.slice(0, EXAMPLES);
  return [
    `${severity} ${name}: ${what}`,
    ...(without === null ? [] : [`    without: ${effectText(size, without)}`]),
    ...(shown.length === 0 ? [] : [`    ${shown.join("; ")}`]),
  ];
}
