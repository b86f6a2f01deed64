// Installs the dependencies exactly as locked, and only when they are not there yet (so that a second run needs no network).
//
// SQLite's add-on is compiled where no ready-made binary can be downloaded. node-gyp then wants Node's headers; when they lie
// beside the running Node (most installations) it is told so, and nothing has to be downloaded.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const lock = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
const stamp = join(root, "node_modules", ".installed-from");

if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) process.exit(0);

const env = { ...process.env };
const prefix = resolve(dirname(process.execPath), "..");
const configured = Object.keys(env).some((name) => name.toLowerCase() === "npm_config_nodedir");
if (!configured && existsSync(join(prefix, "include", "node", "node.h"))) env.npm_config_nodedir = prefix;

const npm = process.env.npm_execpath;
const [command, args] = npm ? [process.execPath, [npm]] : ["npm", []];
const done = spawnSync(command, [...args, "ci", "--no-audit", "--no-fund"], { cwd: root, env, stdio: "inherit" });
if (done.status === 0) writeFileSync(stamp, lock);
else if (done.error) console.error(`npm could not be started: ${done.error.message}`);
process.exit(done.status ?? 1);
