// `npm run bench`: how long `bench` takes and how much it keeps, as ratios to peers in the same run, with the counts that make the figures
// mean something, and each goal as met or missed. Not part of the tests: seconds wobble, and the machine may be busy.
// `npm run bench -- noop rescore` measures these only.
import { availableParallelism, loadavg } from "node:os";
import { bm25 } from "./bm25.mjs";
import { inFolder } from "./measure.mjs";
import { mining } from "./mining.mjs";
import { noop } from "./noop.mjs";
import { overhead, startUp } from "./overhead.mjs";
import { peers } from "./peers.mjs";

const ours = {};
const PARTS = {
  noop: (folder) => {
    for (const items of [100, 1_000, 10_000, 100_000]) ours[items] = noop(folder, items);
  },
  peers: (folder) => peers(folder, ours),
  overhead,
  startup: startUp,
  mining,
  bm25,
  bootstrap: () => import("./bootstrap.mjs"),
  rescore: () => import("./rescore.mjs"),
  html: () => import("./html.mjs"),
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`there is no part ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
console.log(`${availableParallelism()} cores, load ${loadavg()[0].toFixed(1)}, Node ${process.version}`);
for (const [name, part] of Object.entries(PARTS)) if (named.length === 0 || named.includes(name)) await inFolder(part);
