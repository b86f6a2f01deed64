/** The pages of `bench view`: a list of runs, and one run with its stages as they go. Plain HTML; what moves is in one small script beside them. */
import { effectiveState, type RunRecord } from "../engine/record.js";

export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="/view.css">
<script src="/view.js" defer></script>
<body><main>
${body}
</main></body>
</html>
`;
}

export interface ListedRun {
  readonly id: string;
  /** null where its record can't be read. */
  readonly record: RunRecord | null;
  readonly hasPage: boolean;
}

export function indexPage(runs: readonly ListedRun[], tables: readonly string[]): string {
  const rows = [...runs].reverse().map(({ id, record, hasPage }) => {
    const state = record === null ? "unreadable" : effectiveState(record);
    const counts = record === null ? "" : `${record.counts.queries ?? 0} queries, ${record.counts.requests ?? 0} requests`;
    return `<tr><td><a href="/run/${encodeURIComponent(id)}/">${escaped(id)}</a></td><td>${escaped(record?.name ?? "")}</td><td class="${state}">${state}</td><td>${escaped(counts)}</td><td>${hasPage ? `<a href="/run/${encodeURIComponent(id)}/report.html">report</a>` : ""}</td></tr>`;
  });
  const list =
    rows.length === 0
      ? "<p>No runs yet. Start one: <code>bench run pipelines/quickstart.yaml</code></p>"
      : `<table><thead><tr><th scope="col">run</th><th scope="col">pipeline</th><th scope="col">state</th><th scope="col">asked</th><th scope="col">page</th></tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table>`;
  const all = tables.map((name) => `<li><a href="/all/${encodeURIComponent(name)}">${escaped(name)}</a></li>`).join("");
  return page("bench: runs", `<h1>Runs</h1>\n${list}${all === "" ? "" : `\n<h2>All runs of a pipeline</h2><ul>${all}</ul>`}`);
}

export function runPage(id: string, record: RunRecord, files: readonly string[]): string {
  const state = effectiveState(record);
  const links = files.map((name) => `<li><a href="${encodeURIComponent(name)}">${escaped(name)}</a></li>`).join("");
  const warnings = record.warnings.map((warning) => `<li>${escaped(warning)}</li>`).join("");
  return page(
    `bench: ${record.name}`,
    `<p><a href="/">all runs</a></p>
<h1>${escaped(record.name)}</h1>
<p>${escaped(id)}, <code>${escaped(record.pipeline)}</code>: <strong id="state" class="${state}">${state}</strong></p>
<table id="stages" data-live="${state === "running" ? "yes" : "no"}"><thead><tr><th scope="col">stage</th><th scope="col">state</th><th scope="col">done</th><th scope="col">cached</th><th scope="col">failed</th><th scope="col">seconds</th><th scope="col">why</th></tr></thead><tbody>
${progressOf(record, new Map()).stages.map(row).join("\n")}
</tbody></table>
<p id="counts" aria-live="polite"></p>
${warnings === "" ? "" : `<h2>Warnings</h2><ul>${warnings}</ul>`}
<h2>Files</h2><ul>${links}</ul>`,
  );
}

interface StageProgress {
  readonly id: string;
  readonly state: string;
  readonly executed: number;
  readonly cached: number;
  readonly failed: number;
  readonly seconds: number;
  readonly message: string;
}

/** `ended`: of each stage, how many of its units ended so far, by the journal: the record is written only when a stage ends. */
export function progressOf(record: RunRecord, ended: ReadonlyMap<string, { readonly done: number; readonly failed: number }>) {
  const stages = record.nodes.map(({ id, state, executed, cached, failed, seconds, message }): StageProgress => {
    const seen = ended.get(id);
    const running = state === "running" && seen !== undefined;
    return {
      id,
      state,
      executed: running ? Math.max(executed, seen.done) : executed,
      cached,
      failed: running ? Math.max(failed, seen.failed) : failed,
      seconds: Math.round(seconds * 10) / 10,
      message: message ?? "",
    };
  });
  return { state: effectiveState(record), counts: record.counts, stages };
}

function row({ id, state, executed, cached, failed, seconds, message }: StageProgress): string {
  const cells = [escaped(id), state, executed, cached, failed, seconds, escaped(message.slice(0, 300))];
  return `<tr class="${state}">${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

export const STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); vertical-align: top; }
td:nth-child(n+3) { font-variant-numeric: tabular-nums; }
.failed, .killed, .unreadable { color: #b3261e; } .done, .cached { color: #2a7d3f; } .running { font-weight: 600; }
tr.done, tr.cached { color: inherit; }
@media (prefers-color-scheme: dark) { .failed, .killed, .unreadable { color: #ff8a80; } .done, .cached { color: #7bd88f; } }
`;

/** Writes text only (textContent): what a run says is a stranger's. */
export const SCRIPT = `const table = document.getElementById("stages");
if (table?.dataset.live === "yes") {
  const source = new EventSource("events");
  source.onmessage = ({ data }) => {
    const { state, counts, stages } = JSON.parse(data);
    document.getElementById("state").textContent = state;
    document.getElementById("counts").textContent = Object.entries(counts).filter(([, n]) => n > 0).map(([name, n]) => n + " " + name).join(", ");
    table.tBodies[0].replaceChildren(...stages.map((one) => {
      const row = document.createElement("tr");
      row.className = one.state;
      for (const cell of [one.id, one.state, one.executed, one.cached, one.failed, one.seconds, one.message]) row.insertCell().textContent = String(cell);
      return row;
    }));
    if (state !== "running") { source.close(); location.reload(); }
  };
}
`;
