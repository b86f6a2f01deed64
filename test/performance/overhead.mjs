// Part of `npm run bench`: what the engine itself costs per item, with stages that do nothing, and how long the command line takes to start.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bench, cli, median, once, ROUNDS, verdict } from "./measure.mjs";

// The same zod as the command line has: a schema of another copy would not be known as one.
const ZOD = `import * as z from ${JSON.stringify(import.meta.resolve("zod"))};\n`;
const SOURCE = (count) => `${ZOD}export default {
  kind: "", summary: "items", shape: "whole", version: 1, produces: "things", consumes: {}, precious: false,
  config: z.strictObject({}),
  run: async () => ({ ok: true, value: { items: Array.from({ length: ${count} }, (_, n) => ({ id: "i" + n, value: { n } })), meta: null } }),
};
`;
const NOTHING = `${ZOD}export default {
  kind: "", summary: "nothing", shape: "items", version: 1, over: "things", produces: "others", consumes: { things: "one" }, precious: false,
  config: z.strictObject({}),
  resource: () => ({ name: "nothing", concurrency: 64 }), prepare: async () => null, parts: () => [],
  units: (_, item, value) => [{ id: item.id, parts: [{ name: "item", value: item.digest }], data: value }],
  execute: async (_, unit) => ({ type: "done", items: [{ id: unit.id, value: { n: unit.data.n + 1 } }] }),
};
`;

/** Nothing, done for 10,000 items: looked up, run, stored and journalled, less what a run of one item takes. */
export function overhead(folder, items = 10_000) {
  const run = (count, round) => {
    const project = join(folder, `overhead-${count}-${round}`);
    mkdirSync(join(project, "pipelines"), { recursive: true });
    writeFileSync(join(project, "pipelines", "source.mjs"), SOURCE(count));
    writeFileSync(join(project, "pipelines", "nothing.mjs"), NOTHING);
    writeFileSync(
      join(project, "pipelines", "p.yaml"),
      "name: n\nstages:\n  a: { uses: ./source.mjs }\n  b: { uses: ./nothing.mjs, needs: a }\n",
    );
    return bench(project, ["run", "pipelines/p.yaml", "--json", "--quiet"], 1);
  };
  const pairs = Array.from({ length: ROUNDS }, (_, round) => [run(1, round), run(items, round)]);
  const { counts } = JSON.parse(pairs[0][1].stdout);
  const each = (name) => (median(pairs.map(([one, many]) => many[name] - one[name])) / items) * 1000;
  console.log(
    `engine overhead: ${each("wall").toFixed(3)} ms per item in process (processor ${each("cpu").toFixed(3)} ms); executed ${counts.executed}`,
  );
  const byProcessor = each("cpu") <= 0.3 ? "met" : "missed";
  console.log(
    `  ${verdict(each("wall"), 0.3, "ms", { digits: 3 })}; by processor time: ${byProcessor} (${each("cpu").toFixed(3)})`,
  );
}

/** `bench --help` beside bare Node. */
export function startUp(folder) {
  const pairs = Array.from({ length: ROUNDS * 2 }, () => [
    once([process.execPath, cli, "--help"], { cwd: folder }),
    once([process.execPath, "-e", "0"], { cwd: folder }),
  ]);
  const help = median(pairs.map(([one]) => one.wall));
  const node = median(pairs.map(([, one]) => one.wall));
  console.log(`start-up: bench --help ${help.toFixed(3)} s, node -e 0 ${node.toFixed(3)} s`);
  console.log(`  ${verdict((help - node) * 1000, 120, "ms over bare Node", { digits: 0 })}`);
}
