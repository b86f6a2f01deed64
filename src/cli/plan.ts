/** `bench plan PIPELINE`: per stage items, hits, misses and the first reason. */
import { planRun } from "../engine/plan.js";
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
        `${known} requests or queries are known to be needed${open > 0 ? `; ${open} stages can say how many only when those before them have run` : ""}.`,
      );
    io.stdout(`${lines.join("\n")}\n`);
    return EXIT.done;
  },
};
