/**
 * A run as JUnit XML, for build servers: a suite per cell, a test per answer. It passes if at least one target was found, fails if none
 * was, is an error where nothing final came back, and skipped where no target counts.
 */

import type { ScoredCase } from "../scoring/contract.js";
import { isFailed } from "../scoring/views.js";
import type { Cell } from "./json.js";

export function junitReport(cells: readonly Cell[]): string {
  const suites = cells.map(suite);
  const sum = (of: (suite: (typeof suites)[number]) => number) => suites.reduce((total, one) => total + of(one), 0);
  const head = attributes({
    tests: sum(({ tests }) => tests),
    failures: sum(({ failures }) => failures),
    errors: sum(({ errors }) => errors),
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${suites.map(({ text }) => text).join("")}</testsuites>\n`;
}

function suite({ label, cases, summary }: Cell) {
  const tests = cases.map((one) => ({ one, verdict: verdictOf(one) }));
  const count = (kind: Verdict["kind"]) => tests.filter(({ verdict }) => verdict.kind === kind).length;
  const [failures, errors, skipped] = [count("failure"), count("error"), count("skipped")];
  const seconds = cases.reduce((total, one) => total + (one.seconds ?? 0), 0);
  const properties = Object.entries(summary.measures)
    .map(([name, { value }]) => `      <property${attributes({ name, value: value ?? "" })}/>\n`)
    .join("");
  const text = [
    `  <testsuite${attributes({ name: label, tests: tests.length, failures, errors, skipped, time: seconds.toFixed(3) })}>\n`,
    properties === "" ? "" : `    <properties>\n${properties}    </properties>\n`,
    ...tests.map(({ one, verdict }) => testCase(one, verdict, label)),
    "  </testsuite>\n",
  ].join("");
  return { text, tests: tests.length, failures, errors };
}

interface Verdict {
  readonly kind: "passed" | "failure" | "error" | "skipped";
  readonly message: string;
}

function verdictOf(one: ScoredCase): Verdict {
  if (!one.scored) return { kind: "skipped", message: "no target that counts" };
  if (one.excluded !== null) return { kind: "skipped", message: `left out by the rules (${one.excluded})` };
  if (isFailed(one)) return { kind: "error", message: one.error ?? one.outcome };
  if (one.counts.true_positives > 0) return { kind: "passed", message: "" };
  return { kind: "failure", message: one.outcome === "answered" ? "no target found" : one.outcome };
}

function testCase(one: ScoredCase, { kind, message }: Verdict, label: string): string {
  const name = one.repeat === 0 ? one.id : `${one.id}~${one.repeat}`;
  const head = `    <testcase${attributes({ classname: label, name, time: (one.seconds ?? 0).toFixed(3) })}`;
  if (kind === "passed") return `${head}/>\n`;
  if (kind === "skipped") return `${head}><skipped${attributes({ message })}/></testcase>\n`;
  const said = one.predictions.map(({ path, raw }) => path ?? raw).slice(0, 20);
  const body = `expected: ${one.targets.slice(0, 20).join(", ")}\npredicted: ${said.join(", ")}`;
  return `${head}><${kind}${attributes({ message, type: one.outcome })}>${escapeXml(body)}</${kind}></testcase>\n`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value)).replaceAll("\n", "&#10;")}"`)
    .join("");
}

/** Characters that XML 1.0 has no way to write become U+FFFD, among them halves of surrogate pairs. */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject here
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escapeXml(text: string): string {
  return text
    .slice(0, 10_000)
    .replace(FORBIDDEN, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
