/**
 * The page as one file: markup that never changes, a script and a style sheet that the Content-Security-Policy knows by their digests, and data.
 *
 * Everything that strangers wrote (issue texts, answers, names of files) is in data blocks and reaches the screen as text nodes only. Nothing in
 * a block can end it: JSON is written without `<`, and what is large is compressed and in base64. The policy is the second wall: no other script
 * runs, no style, and nothing is fetched, whatever a text says.
 */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { PageParts } from "./collect.js";
import type { RunFacts } from "./page-data.js";

export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

/** Stands for a run whose course is not known yet: the stage that writes the page is part of it. */
const NO_RUN = '<script type="application/json" id="run">null</script>';

export function htmlReport(
  { data, table, blocks }: PageParts,
  { script, style }: PageAssets,
  run: RunFacts | null = null,
): string {
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${sha256(script)}'`,
    `style-src 'sha256-${sha256(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return withRun(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${htmlText(data.title)}: benchmark report</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main" id="skip">Skip to the content</a>
<div id="app"></div>
<noscript><p>This report is drawn by the script inside this file. Without it, the same figures are in report.md and results.json beside it.</p></noscript>
<script type="application/json" id="data">${json(data)}</script>
${NO_RUN}
<script type="text/plain" id="table">${packed(table)}</script>
${blocks.map((block, index) => `<script type="text/plain" id="block-${index}">${packed(block)}</script>`).join("\n")}
<script>${script}</script>
</body>
</html>
`,
    run,
  );
}

/** The page with the course of its run; the same page where it has one already, or is none of ours. */
export function withRun(page: string, run: RunFacts | null): string {
  const at = run === null ? -1 : page.indexOf(NO_RUN);
  if (at === -1) return page;
  const block = `<script type="application/json" id="run">${json(run)}</script>`;
  return `${page.slice(0, at)}${block}${page.slice(at + NO_RUN.length)}`;
}

/** `<` can begin an end tag or a comment, and both line separators are no line breaks in JSON but in other readers. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** zlib's format carries neither a time nor the name of a system, so equal data give equal bytes (of one version of zlib). */
function packed(value: unknown): string {
  return deflateSync(Buffer.from(JSON.stringify(value), "utf8"), { level: 6 }).toString("base64");
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("base64");
}

function htmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
