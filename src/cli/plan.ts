/** `bench plan PIPELINE`: per stage items, hits, misses and the first reason. */
import { type NodePlan, planRun } from "../engine/plan.js";
import type { PipelineGraph } from "../pipeline/model.js";
import { plural } from "../report/numbers.js";
import { type Command, EXIT } from "./contract.js";
import { flag } from "./options.js";
import { withPlanning } from "./planning.js";
import { PIPELINE_OPTIONS, preparePipeline } from "./prepare.js";

export const command: Command = {
  usage: "plan <pipeline>",
  summary: "Say what a run would do, and why; nothing is executed",
  options: [...PIPELINE_OPTIONS, { flag: "--json", description: "One JSON value on stdout" }],
  run: async (args, options, io) => {
    const prepared = await preparePipeline(args[0] as string, options, io);
    if (prepared === null) return EXIT.usage;
    const plans = await withPlanning(prepared, options, io, planRun);
    if (flag(options, "json")) {
      io.stdout(`${JSON.stringify({ pipeline: prepared.graph.name, stages: plans }, null, 2)}\n`);
      return EXIT.done;
    }
    const name = Math.max(5, ...plans.map(({ id }) => id.length));
    const uses = Math.max(4, ...plans.map((plan) => plan.uses.length));
    const number = (value: number | null) => (value === null ? "?" : String(value)).padStart(7);
    const lines = [`${"stage".padEnd(name)}  ${"uses".padEnd(uses)}    units     hits   misses  why`];
    for (const plan of plans) {
      const why = plan.state === "hit" ? "nothing to do" : plan.state === "left-out" ? "left out" : (plan.reason ?? "");
      lines.push(
        `${plan.id.padEnd(name)}  ${plan.uses.padEnd(uses)}  ${number(plan.units)}  ${number(plan.hits)}  ${number(plan.misses)}  ${why}`,
      );
    }
    const paid = plans.filter(({ precious, state }) => precious && (state === "run" || state === "unknown"));
    const known = paid.reduce((total, { misses }) => total + (misses ?? 0), 0);
    const open = paid.filter(({ state, units }) => state === "unknown" || units === null).length;
    if (plans.every(({ state }) => state === "hit" || state === "left-out")) lines.push("", "Everything is in the cache.");
    else
      lines.push(
        "",
        `${plural(known, "request or query is", "requests or queries are")} known to be needed${open > 0 ? `; ${plural(open, "stage")} can say how many only when those before them have run` : ""}.`,
      );
    lines.push(...costLines(plans), ...firstLines(plans, prepared.graph, args[0] as string));
    io.stdout(`${lines.join("\n")}\n`);
    return EXIT.done;
  },
};

/** How to learn the number of paid questions without asking one. */
function firstLines(plans: readonly NodePlan[], graph: PipelineGraph, path: string): string[] {
  const open = new Set(plans.flatMap(({ id, uses, state }) => (uses === "query-backend" && state === "unknown" ? [id] : [])));
  const needed = new Set(graph.nodes.flatMap(({ id, needs }) => (open.has(id) ? needs : [])));
  const stages = new Set(
    graph.nodes.flatMap(({ id, stage, kind }) => (needed.has(id) && kind !== "query-backend" ? [stage] : [])),
  );
  if (stages.size === 0) return [];
  const until = [...stages].map((stage) => `--until ${stage}`).join(" ");
  return ["", `To learn how many questions that is and about what they cost, without asking one: bench run ${path} ${until}`];
}

/** What is going to be paid for, by stage, as far as it can be told before anything is sent. */
function costLines(plans: readonly NodePlan[]): string[] {
  const paid = plans.flatMap(({ id, estimate }) => (estimate === null ? [] : [{ id, ...estimate }]));
  if (paid.length === 0) return [];
  const width = Math.max(...paid.map(({ id }) => id.length));
  const lines = paid.map(({ id, queries, tokens, usd, budget }) => {
    const used = tokens === null ? "an unknown number of tokens" : `about ${tokens.toLocaleString("en-US")} tokens`;
    const cost = usd === null ? "at an unknown price" : `about $${usd.toFixed(usd < 1 ? 4 : 2)}`;
    const bounds = Object.entries(budget ?? {}).map(([what, most]) => (what === "usd" ? `$${most}` : `${most} ${what}`));
    const bound = bounds.length === 0 ? "" : `; the stage may spend ${bounds.join(", ")} in one run`;
    return `  ${id.padEnd(width)}  ${plural(queries, "query", "queries")}, ${used}, ${cost}${bound}`;
  });
  const known = paid.flatMap(({ usd }) => usd ?? []);
  const total = known.reduce((sum, usd) => sum + usd, 0);
  const rest = paid.length - known.length;
  const sum =
    known.length === 0
      ? ""
      : ` Together about $${total.toFixed(total < 1 ? 4 : 2)}${rest > 0 ? `, and the cost of ${plural(rest, "stage")} of unknown price` : ""}.`;
  return [
    "",
    "What that costs, from the lengths of the prompts (4 characters per token), 500 tokens per answer and the price table; thinking and further attempts come on top:",
    ...lines,
    ...(sum === "" ? [] : [sum.trim()]),
  ];
}
