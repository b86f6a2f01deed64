// Part of `npm run bench`, where BENCH_PEERS names some of wireit, nx, turbo (they are installed from npm into a temporary folder): their
// no-op run of N tasks that each copy a file, beside the no-op run of as many items here. They are built for tens of heavy packages; N is as
// far as each comes in reasonable time.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { medians, show } from "./measure.mjs";

const PEERS = {
  wireit: {
    packages: ["wireit@0.14.13"],
    counts: [100, 1_000],
    set: wireit,
    command: ["npm", "run", "--silent", "all"],
    again: /Ran 0 scripts|skipped|already fresh/i,
  },
  nx: {
    packages: ["nx@24.0.6"],
    counts: [100, 1_000],
    set: nx,
    command: ["npx", "nx", "run-many", "-t", "copy", "--outputStyle=static"],
    again: /existing outputs|read the output from the cache|local cache/i,
  },
  turbo: {
    packages: ["turbo@2.11.11"],
    counts: [100],
    set: turbo,
    command: ["npx", "turbo", "run", "copy", "--output-logs=none", "--no-daemon"],
    again: /FULL TURBO|(\d+) cached, \1 total/i,
  },
};

export function peers(folder, ours) {
  const wanted = (process.env.BENCH_PEERS ?? "").split(",").filter((name) => name !== "");
  for (const name of Object.keys(PEERS))
    if (!wanted.includes(name)) console.log(`${name}: not asked (BENCH_PEERS=${name} installs it from npm for the comparison)`);
  for (const name of wanted) {
    const peer = PEERS[name];
    if (peer === undefined) throw new Error(`BENCH_PEERS: there is no peer ${name}; ${Object.keys(PEERS).join(", ")}`);
    for (const count of peer.counts) {
      const cwd = join(folder, `${name}-${count}`);
      mkdirSync(cwd);
      try {
        peer.set(cwd, count);
        const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--save-dev", ...peer.packages], {
          cwd,
          encoding: "utf8",
        });
        if (installed.status !== 0) throw new Error(`npm install: ${installed.stderr.slice(-300)}`);
        const env = { NX_DAEMON: "false", NX_NO_CLOUD: "true", TURBO_TELEMETRY_DISABLED: "1", WIREIT_LOGGER: "simple", CI: "1" };
        const options = { cwd, env };
        medians(peer.command, options, 1);
        const again = medians(peer.command, options);
        const same = ours[count] === undefined ? "" : `; bench/peer ${(ours[count].wall / again.wall).toFixed(2)}`;
        console.log(
          `${name}, no-op of ${count} tasks: ${show(again)}${same}${peer.again.test(again.stdout) ? "" : " (its output does not say that nothing ran)"}`,
        );
      } catch (error) {
        console.log(`${name}, ${count} tasks: failed (${String(error.message).slice(0, 300)})`);
      }
    }
  }
}

function wireit(cwd, count) {
  const tasks = Array.from({ length: count }, (_, n) => n);
  for (const n of tasks) writeFileSync(join(cwd, `i${n}`), `${n}`);
  const own = tasks.map((n) => [`t${n}`, { command: `cat i${n} > o${n}`, files: [`i${n}`], output: [`o${n}`] }]);
  write(cwd, "package.json", {
    ...{ name: "peer", private: true },
    scripts: Object.fromEntries([["all", "wireit"], ...own.map(([name]) => [name, "wireit"])]),
    wireit: Object.fromEntries([["all", { dependencies: own.map(([name]) => name) }], ...own]),
  });
}

function nx(cwd, count) {
  write(cwd, "package.json", { name: "peer", private: true });
  write(cwd, "nx.json", {});
  for (let n = 0; n < count; n++) {
    const folder = join(cwd, "packages", `p${n}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "in"), `${n}`);
    const copy = {
      command: `cat packages/p${n}/in > packages/p${n}/out`,
      cache: true,
      inputs: ["{projectRoot}/in"],
      outputs: ["{projectRoot}/out"],
    };
    write(folder, "project.json", { name: `p${n}`, targets: { copy } });
  }
}

function turbo(cwd, count) {
  write(cwd, "package.json", { name: "peer", private: true, packageManager: "npm@10.0.0", workspaces: ["packages/*"] });
  write(cwd, "turbo.json", { tasks: { copy: { inputs: ["in"], outputs: ["out"] } } });
  for (let n = 0; n < count; n++) {
    const folder = join(cwd, "packages", `p${n}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "in"), `${n}`);
    write(folder, "package.json", { name: `p${n}`, version: "1.0.0", private: true, scripts: { copy: "cat in > out" } });
  }
}

function write(folder, name, value) {
  writeFileSync(join(folder, name), JSON.stringify(value));
}
