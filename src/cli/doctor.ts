/**
 * `bench doctor [PIPELINE]`: looks at everything that a run would need, before it needs it, and says how to mend what is wrong. Nothing
 * that costs money is asked, and no secret is shown.
 */
import { visible } from "../base/diagnostics.js";
import type { Finding } from "../base/finding.js";
import type { StageKind } from "../engine/contract.js";
import type { StageNode } from "../pipeline/model.js";
import { type Command, EXIT, type Io, type OptionValue } from "./contract.js";
import { cacheFinding, nodeFinding, programFinding, tokenFinding } from "./doctor-checks.js";
import { flag } from "./options.js";
import { type Prepared, preparePipeline, world } from "./prepare.js";
import { benchVersion, cacheFolder, findProjectRoot } from "./project.js";

/** A stage that has not looked around by then hangs. */
const STAGE_MS = 60_000;

interface Placed extends Finding {
  /** The stage, or null for what every pipeline needs. */
  readonly stage: string | null;
}

export const command: Command = {
  usage: "doctor [pipeline]",
  summary: "Check what is installed, set and reachable, and say how to mend it; with a pipeline, also what its stages need",
  options: [
    { flag: "--set <k=v>", description: "Set a parameter of the pipeline (repeatable)", repeated: true },
    { flag: "--offline", description: "No network: what would need it is not looked at" },
    { flag: "--cache <folder>", description: "The cache (default cache)" },
    { flag: "--json", description: "One JSON value on stdout" },
  ],
  examples: ["bench doctor", "bench doctor pipelines/quickstart.yaml"],
  run: doctor,
};

async function doctor(args: readonly string[], options: Readonly<Record<string, OptionValue>>, io: Io): Promise<number> {
  const [path] = args;
  const json = flag(options, "json");
  const prepared = path === undefined ? undefined : await preparePipeline(path, options, io);
  if (prepared === null) return EXIT.usage;
  const root = prepared?.projectRoot ?? findProjectRoot(io.cwd);
  const cache = cacheFolder(options, root, io.cwd);
  const general = [
    nodeFinding(process.versions.node),
    ...(await Promise.all([
      programFinding("git", "checking out commits", io),
      programFinding("npm", "source trees from npm packages", io),
      cacheFinding(cache, io),
      ...(prepared === undefined || asksGitHub(prepared) ? [tokenFinding([io.cwd, root], io)] : []),
    ])),
  ];
  const findings: Placed[] = general.map((finding) => ({ stage: null, ...finding }));
  if (!json) io.stdout(`bench ${await benchVersion()}\n${general.map(line).join("")}`);

  for (const node of prepared?.graph.nodes ?? []) {
    const kind = prepared?.kinds.get(node.kind);
    if (prepared === undefined || kind?.doctor === undefined) continue;
    const found = await look(node, kind, { baseFolder: prepared.graph.folder, cache, offline: flag(options, "offline") }, io);
    findings.push(...found.map((finding) => ({ stage: node.id, ...finding })));
    if (!json && found.length > 0) io.stdout(`\n${node.id}\n${found.map(line).join("")}`);
  }

  const count = (status: Finding["status"]) => findings.filter((finding) => finding.status === status).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (json) io.stdout(`${JSON.stringify({ ok: problems === 0, problems, warnings, findings }, null, 2)}\n`);
  else io.stdout(`\n${problems === 0 ? "No problems" : plural(problems, "problem")}, ${plural(warnings, "warning")}.\n`);
  return problems === 0 ? EXIT.done : EXIT.failed;
}

/** Does a stage of the pipeline ask GitHub itself, and no recording? */
function asksGitHub({ graph, kinds }: Pick<Prepared, "graph" | "kinds">): boolean {
  return graph.nodes.some(({ kind, config }) => {
    const recorded = typeof config === "object" && config !== null && "recording" in config && config.recording !== undefined;
    return kinds.get(kind)?.fetches === true && !recorded;
  });
}

async function look(
  node: StageNode,
  kind: StageKind,
  where: { readonly baseFolder: string; readonly cache: string; readonly offline: boolean },
  io: Io,
): Promise<readonly Finding[]> {
  const { join } = await import("node:path");
  const late = AbortSignal.timeout(STAGE_MS);
  const signal = AbortSignal.any([io.interrupted, late]);
  const { sleep } = world(io).clock;
  try {
    const looking = kind.doctor?.(node.config, {
      baseFolder: where.baseFolder,
      env: io.env,
      cacheFolder: (name) => join(where.cache, name),
      offline: where.offline,
      sleep,
      signal,
    });
    const gaveUp = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    return (await Promise.race([looking, gaveUp])) ?? [];
  } catch (error) {
    const why = late.aborted ? `no answer within ${STAGE_MS / 1000} s` : error instanceof Error ? error.message : String(error);
    return [{ check: "look around", status: "problem", found: why }];
  }
}

const MARKS: Readonly<Record<Finding["status"], string>> = { ok: "✓", warning: "!", problem: "✗" };

function line({ check, status, found, fix }: Finding): string {
  const head = `${MARKS[status]} ${check.padEnd(12)}  ${visible(found)}\n`;
  return fix === undefined ? head : `${head}  ${"".padEnd(12)}  -> ${visible(fix)}\n`;
}

function plural(count: number, what: string): string {
  return `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`;
}
