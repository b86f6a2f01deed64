/** A run's context for commands that only look: nothing is executed, nothing is written to the run folder. */
import type { Cache } from "../cache/cache.js";
import { Channel } from "../engine/channel.js";
import type { RunContext } from "../engine/context.js";
import type { History } from "../engine/plan.js";
import { listRuns } from "../engine/record.js";
import { redactor } from "../engine/redact.js";
import { Resources } from "../engine/resources.js";
import type { Io, OptionValue } from "./contract.js";
import { type Prepared, runOptions, world } from "./prepare.js";
import { cacheFolder, openCache, outFolder } from "./project.js";

export async function withPlanning<T>(
  prepared: Prepared,
  options: Readonly<Record<string, OptionValue>>,
  io: Io,
  use: (context: RunContext, history: History, cache: Cache) => Promise<T>,
): Promise<T> {
  const out = outFolder(options, prepared.projectRoot, io.cwd);
  const cache = await openCache(cacheFolder(options, prepared.projectRoot, io.cwd), io);
  try {
    const { graph, kinds } = prepared;
    const context: RunContext = {
      graph,
      kinds,
      cache,
      options: runOptions(prepared, options, Date.now()),
      world: world(io),
      resources: new Resources(null),
      channels: new Map(graph.nodes.map(({ id }) => [id, new Channel()])),
      progress: new Map(),
      events: (event) => {
        if (event.type === "warning") io.stderr(`warning: ${event.message}\n`);
      },
      counts: {},
      signal: io.interrupted,
      restart: { wanted: false },
      verifyHits: false,
      lost: new Set(),
      executed: new Map(),
      finished: new Map(),
      files: new Set(),
      outputs: new Map(),
      opened: new Map(),
      redact: redactor(graph.secrets),
    };
    const history = (await listRuns(out))
      .map(({ record }) => record)
      .filter(({ name }) => name === graph.name)
      .reverse();
    return await use(context, history, cache);
  } finally {
    await cache.close();
  }
}
