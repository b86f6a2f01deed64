// How the benchmarks measure: a command's wall time, processor time (user + system) and largest memory, medians of five, and how a figure is
// held against its goal. Seconds wobble on a busy machine, processor time less so: both are printed, and the goal is held against the wall.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const cli = join(root, "dist", "cli", "main.js");
export const ROUNDS = 5;

/** A folder that is gone when `work` has ended. */
export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "bench-performance-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function has(program, ...argv) {
  return spawnSync(program, argv.length === 0 ? ["--version"] : argv, { stdio: "ignore" }).status === 0;
}

// A shell that measures its child, and a hook that writes down how much memory a Node process took at most (in KiB, as Node says).
const SHELL = `TIMEFORMAT='%R %U %S'; { time "$@" >"$OUT" 2>"$ERR" ; } 2>"$TIMES"`;
const HOOK =
  'process.on("exit", () => require("node:fs").writeFileSync(process.env.BENCH_PEAK, String(process.resourceUsage().maxRSS)));';

/** One call: `{ wall, cpu }` in seconds, `peak` in MB (Node programs only), `stdout`. A command that fails ends the benchmark. */
export function once(command, { cwd, env = {}, node = false, status = [0] }) {
  const scratch = mkdtempSync(join(tmpdir(), "bench-measured-"));
  const [OUT, ERR, TIMES, BENCH_PEAK] = ["out", "err", "times", "peak"].map((name) => join(scratch, name));
  const hook = join(scratch, "peak.cjs");
  writeFileSync(hook, HOOK);
  try {
    const run = spawnSync("bash", ["-c", SHELL, "bash", ...command], {
      cwd,
      env: { ...process.env, ...env, OUT, ERR, TIMES, ...(node ? { BENCH_PEAK, NODE_OPTIONS: `--require=${hook}` } : {}) },
    });
    const stdout = readFileSync(OUT, "utf8");
    if (!status.includes(run.status)) {
      throw new Error(
        `${command.slice(0, 3).join(" ")} ended with ${run.status}: ${readFileSync(ERR, "utf8").slice(-2000)}${stdout.slice(-500)}`,
      );
    }
    const [wall, user, system] = readFileSync(TIMES, "utf8").trim().split("\n").at(-1).split(" ").map(Number);
    return { wall, cpu: user + system, peak: node ? Number(readFileSync(BENCH_PEAK, "utf8")) / 1024 : null, stdout };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Medians of several calls; `before` runs before each, unmeasured. */
export function medians(command, options, rounds = ROUNDS, before = () => {}) {
  const all = Array.from({ length: rounds }, (_, round) => {
    before(round);
    return once(command, options);
  });
  const of = (name) => median(all.map((one) => one[name]));
  return {
    wall: of("wall"),
    cpu: of("cpu"),
    peak: options.node ? Math.max(...all.map(({ peak }) => peak)) : null,
    stdout: all.at(-1).stdout,
  };
}

export function bench(cwd, argv, rounds = ROUNDS, before = undefined) {
  return medians([process.execPath, cli, ...argv], { cwd, node: true }, rounds, before);
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

export function show({ wall, cpu, peak }) {
  return `${wall.toFixed(2)} s (processor ${cpu.toFixed(2)} s${peak === null ? "" : `, ${Math.round(peak)} MB`})`;
}

/** `met` or `missed`, against at most (or at least) the goal. */
export function verdict(value, goal, unit, { atLeast = false, digits = 2 } = {}) {
  const isMet = atLeast ? value >= goal : value <= goal;
  return `goal ${atLeast ? "at least" : "at most"} ${goal} ${unit}: ${isMet ? "met" : "missed"} (${value.toFixed(digits)})`;
}
