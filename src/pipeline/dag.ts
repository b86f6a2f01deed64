/**
 * The graph as a picture: plain text for a terminal, Mermaid for Markdown, DOT for Graphviz.
 *
 * A person thinks in stages, so cells are grouped under theirs. Names and labels come from a file that anyone may have written and
 * are escaped for each format.
 */
import { visible } from "../base/diagnostics.js";
import type { PipelineGraph, StageNode } from "./model.js";

export const DAG_FORMATS = ["text", "mermaid", "dot"] as const;
export type DagFormat = (typeof DAG_FORMATS)[number];

interface Group {
  readonly stage: string;
  readonly kind: string;
  readonly nodes: readonly StageNode[];
  /** Stages that it needs, in the order of `needs`, and how many nodes of each flow into one node here. */
  readonly needs: readonly { readonly stage: string; readonly count: number }[];
}

/** Ends with a line break. */
export function renderDag(graph: PipelineGraph, format: DagFormat): string {
  const groups = groupsOf(graph);
  switch (format) {
    case "text":
      return textDag(graph, groups);
    case "mermaid":
      return mermaidDag(groups);
    case "dot":
      return dotDag(graph, groups);
  }
}

function groupsOf({ nodes }: PipelineGraph): Group[] {
  const stageOf = new Map(nodes.map(({ id, stage }) => [id, stage]));
  const byStage = new Map<string, StageNode[]>();
  for (const node of nodes) {
    const group = byStage.get(node.stage);
    if (group === undefined) byStage.set(node.stage, [node]);
    else group.push(node);
  }
  return [...byStage].map(([stage, members]) => {
    const counts = new Map<string, number>();
    for (const id of members[0]?.needs ?? []) {
      const need = stageOf.get(id) ?? id;
      counts.set(need, (counts.get(need) ?? 0) + 1);
    }
    const needs = [...counts].map(([need, count]) => ({ stage: need, count }));
    return { stage, kind: members[0]?.kind ?? "", nodes: members, needs };
  });
}

/**
 * One line per stage, in an order in which each stands below what it needs; cells listed below it. Cells like those of a stage
 * that it needs are not listed again.
 */
function textDag(graph: PipelineGraph, groups: readonly Group[]): string {
  const cells = graph.nodes.length;
  const counted = `${plural(groups.length, "stage")}${cells === groups.length ? "" : `, ${cells} nodes`}`;
  const lines = [`${visible(graph.name)}: ${counted}`, ""];
  const names = Math.max(0, ...groups.map(({ stage }) => stage.length));
  const kinds = Math.max(0, ...groups.map(({ kind }) => visible(kind).length));
  const labels = new Map(groups.map(({ stage, nodes }) => [stage, labelsOf(nodes)]));
  for (const { stage, kind, nodes, needs } of groups) {
    const inputs = needs.map((need) => (need.count > 1 ? `${need.stage} (${need.count} cells joined)` : need.stage));
    const arrow = inputs.length === 0 ? "" : `  <- ${inputs.join(", ")}`;
    lines.push(`  ${stage.padEnd(names)}  ${visible(kind).padEnd(kinds)}${arrow}`.trimEnd());
    const own = labelsOf(nodes);
    if (own.length === 0) continue;
    const same = needs.find((need) => need.count === 1 && equal(labels.get(need.stage) ?? [], own));
    if (same !== undefined) lines.push(`  ${" ".repeat(names)}  ${plural(own.length, "cell")}, one for each of ${same.stage}`);
    else for (const label of own) lines.push(`  ${" ".repeat(names)}  - ${label}`);
  }
  return `${lines.join("\n")}\n`;
}

function labelsOf(nodes: readonly StageNode[]): string[] {
  return nodes.flatMap(({ label }) => (label === null ? [] : [visible(label)]));
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, index) => label === b[index]);
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Ids of our own (`n0`): names may be words of the format's language. */
function idsOf(groups: readonly Group[]): ReadonlyMap<string, string> {
  return new Map(groups.flatMap(({ nodes }) => nodes).map((node, index) => [node.id, `n${index}`]));
}

function mermaidDag(groups: readonly Group[]): string {
  const ids = idsOf(groups);
  const lines = ["flowchart LR"];
  for (const [index, { stage, kind, nodes }] of groups.entries()) {
    const title = `${mermaidText(stage)}<br/><small>${mermaidText(kind)}</small>`;
    if (nodes.every(({ label }) => label === null)) {
      for (const { id } of nodes) lines.push(`  ${ids.get(id)}["${title}"]`);
      continue;
    }
    lines.push(`  subgraph s${index}["${mermaidText(`${stage} (${kind})`)}"]`);
    for (const { id, label } of nodes) lines.push(`    ${ids.get(id)}["${mermaidText(label ?? stage)}"]`);
    lines.push("  end");
  }
  for (const { nodes } of groups)
    for (const { id, needs } of nodes) for (const need of needs) lines.push(`  ${ids.get(need)} --> ${ids.get(id)}`);
  return `${lines.join("\n")}\n`;
}

/** Mermaid's own entities: `#quot;`. Everything that could end the text or be read as markup is written as its code point. */
function mermaidText(text: string): string {
  return visible(text).replace(/["#&<>`[\]{}()|\\;]/g, (character) => `#${character.codePointAt(0)};`);
}

function dotDag(graph: PipelineGraph, groups: readonly Group[]): string {
  const ids = idsOf(groups);
  const lines = [`digraph ${dotText(graph.name)} {`, "  rankdir=LR;", "  node [shape=box];"];
  for (const [index, { stage, kind, nodes }] of groups.entries()) {
    if (nodes.every(({ label }) => label === null)) {
      for (const { id } of nodes) lines.push(`  ${ids.get(id)} [label=${dotText(stage, kind)}];`);
      continue;
    }
    lines.push(`  subgraph cluster_${index} {`, `    label=${dotText(`${stage} (${kind})`)};`);
    for (const { id, label } of nodes) lines.push(`    ${ids.get(id)} [label=${dotText(label ?? stage)}];`);
    lines.push("  }");
  }
  for (const { nodes } of groups)
    for (const { id, needs } of nodes) for (const need of needs) lines.push(`  ${ids.get(need)} -> ${ids.get(id)};`);
  lines.push("}");
  return `${lines.join("\n")}\n`;
}

/** A quoted DOT string; several texts become its lines. */
function dotText(...texts: readonly string[]): string {
  return `"${texts.map((text) => visible(text).replace(/["\\]/g, "\\$&")).join("\\n")}"`;
}
