// Compiles src/ to dist/, unless dist/ is already the result of exactly these sources. With --check it only says whether it is.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { pageScript } from "./page-script.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const hash = createHash("sha256");
for (const file of [
  "tsconfig.json",
  "tsconfig.build.json",
  "tsconfig.page.json",
  "package-lock.json",
  "scripts/build.mjs",
  "scripts/page-script.mjs",
  ...sources("src"),
]) {
  hash.update(`${file}\0`).update(readFileSync(join(root, file)));
}
const digest = hash.digest("hex");
const stamp = join(root, "dist", ".built-from");
const entry = join(root, "dist", "cli", "main.js");
if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest && existsSync(entry)) process.exit(0);
if (process.argv.includes("--check")) {
  console.error("dist/ is not the result of these sources: npm run build");
  process.exit(1);
}

rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
const compile = (config) => spawnSync(process.execPath, [tsc, "-p", config], { cwd: root, stdio: "inherit" }).status ?? 1;
// A browser's code and Node's are compiled for different worlds; the page's modules then become the one script of its file.
const status = compile("tsconfig.build.json") || compile("tsconfig.page.json");
if (status === 0) {
  const page = join(root, "dist", "report", "html", "page");
  writeFileSync(join(root, "dist", "report", "html", "page-script.js"), pageScript(page, "main"));
  writeFileSync(join(root, "dist", "report", "html", "page.css"), readFileSync(join(root, "src/report/html/page/page.css")));
  rmSync(page, { recursive: true });
  await bundle();
  chmodSync(entry, 0o755);
  writeFileSync(stamp, digest);
}
process.exit(status);

/**
 * Makes the command line of few files instead of many hundred: nearly all that a run of nothing takes is Node loading modules. What is loaded
 * on demand stays apart. Packages with native parts or files of their own are loaded from where they are installed.
 */
async function bundle() {
  const made = await rolldown({
    cwd: root,
    input: { "cli/main": entry },
    platform: "node",
    external: [/^node:/, /^sqlite3/, /^pino/, /^thread-stream/, /^web-tree-sitter/, /^tree-sitter-wasms/],
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await made.write({
    dir: join(root, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "bundle/[name]-[hash].js",
  });
  await made.close();
}

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sources(path);
      return (path.endsWith(".ts") && !path.endsWith(".test.ts")) || path.endsWith(".css") ? [path] : [];
    })
    .sort();
}
