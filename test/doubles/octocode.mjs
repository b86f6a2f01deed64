#!/usr/bin/env node
/**
 * Stands in for Muvon's octocode: the same commands, options, files, outputs and complaints, and a search that counts words.
 * DOUBLE_FAULT chooses what goes wrong; DOUBLE_LOG gets a line per call.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { extname, join, relative } from "node:path";

const VERSION = process.env.DOUBLE_VERSION ?? "0.22.0";
const FAULT = process.env.DOUBLE_FAULT ?? "";
const argv = process.argv.slice(2);
if (process.env.DOUBLE_LOG) appendFileSync(process.env.DOUBLE_LOG, `${JSON.stringify(argv)}\n`);

function usage(message) {
  process.stderr.write(`error: ${message}\n\nUsage: octocode <COMMAND>\n\nFor more information, try '--help'.\n`);
  process.exit(2);
}
function bail(message) {
  process.stderr.write(`Error: ${message}\n`);
  process.exit(1);
}

const [command, ...rest] = argv;
if (command === "--version") {
  process.stdout.write(`octocode ${VERSION}\n`);
  process.exit(0);
}
if (FAULT === "hang") await new Promise((resolve) => setTimeout(resolve, 600_000));

const system = join(process.env.XDG_DATA_HOME ?? join(homedir(), ".local", "share"), "octocode");
mkdirSync(join(system, "fastembed"), { recursive: true });
function projectId() {
  let remote = "";
  try {
    remote = execFileSync("git", ["-C", process.cwd(), "remote", "get-url", "origin"], {
      stdio: ["ignore", "pipe", "ignore"],
    }).toString();
  } catch {
    // No repository: the path names the project.
  }
  return createHash("sha256")
    .update(remote.trim() || process.cwd())
    .digest("hex")
    .slice(0, 16);
}
const storage = join(system, projectId(), "storage");

function walk(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? walk(path) : [relative(process.cwd(), path)];
    });
}

if (command === "index") {
  const unknown = rest.find((token) => token !== "--no-git");
  if (unknown !== undefined) usage(`unexpected argument '${unknown}' found`);
  if (!rest.includes("--no-git") && !existsSync(".git")) {
    process.stdout.write("❌ Error: Not in a git repository root!\n");
    process.exit(1);
  }
  process.stdout.write("⠋ Indexing ...\n");
  mkdirSync(storage, { recursive: true });
  writeFileSync(join(system, "fastembed", "model.onnx"), "model");
  writeFileSync(join(storage, "files.json"), JSON.stringify(walk(process.cwd())));
  process.stdout.write("✓ Indexing complete!\n");
  process.exit(0);
}
if (command !== "search") usage(`unrecognized subcommand '${command}'`);

const VALUES = {
  "-m": "mode",
  "--mode": "mode",
  "-f": "format",
  "--format": "format",
  "-t": "threshold",
  "--threshold": "threshold",
};
const given = { mode: "all", format: "cli" };
const queries = [];
for (let i = 0; i < rest.length; i++) {
  const token = rest[i];
  if (token === "--") {
    queries.push(...rest.slice(i + 1));
    break;
  }
  if (token in VALUES) given[VALUES[token]] = rest[++i];
  else if (token === "-e" || token === "--expand") given.expand = true;
  else if (token.startsWith("-")) usage(`unexpected argument '${token}' found`);
  else queries.push(token);
}
if (!existsSync(storage)) bail("No index found. Please run 'octocode index' first to create an index.");
if (queries.length === 0) usage("the following required arguments were not provided: <QUERIES>...");
for (const [i, query] of queries.entries()) {
  const bytes = Buffer.byteLength(query.trim());
  if (bytes < 3) bail(`Query ${i + 1} must be at least 3 characters long`);
  if (bytes > 500) bail(`Query ${i + 1} must be no more than 500 characters long`);
}
if (FAULT === "silent") process.exit(0);
if (FAULT === "no-json") {
  process.stdout.write("No results found for the query.\n");
  process.exit(0);
}
if (given.expand) process.stdout.write("Expanding symbols...\n");

// The settings file, as far as this double knows it.
const settings = {};
if (process.env.OCTOCODE_CONFIG_PATH) {
  let table = "";
  for (const line of readFileSync(process.env.OCTOCODE_CONFIG_PATH, "utf8").split("\n")) {
    const header = /^\[([a-z_.]+)\]/.exec(line);
    const pair = /^([a-z_]+) *= *([^#\s]+)/.exec(line);
    if (header) table = `${header[1]}.`;
    else if (pair) settings[table + pair[1]] = pair[2];
  }
}
const keywords =
  settings["search.hybrid.enabled"] === "true" ? Number(settings["search.hybrid.default_keyword_weight"] ?? 0.3) : 0;
if (settings["search.reranker.enabled"] === "true" && !process.env.VOYAGE_API_KEY) bail("VOYAGE_API_KEY is not set");

const words = (text) => new Set(text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []);
const asked = words(queries.join(" "));
const blocks = JSON.parse(readFileSync(join(storage, "files.json"), "utf8")).flatMap((path) => {
  const lines = readFileSync(path, "utf8").split("\n");
  const found = [];
  for (let start = 0; start < lines.length; start += 5) {
    const content = lines.slice(start, start + 5).join("\n");
    const named = [...words(path)].filter((word) => asked.has(word)).length;
    const score = [...words(content)].filter((word) => asked.has(word)).length + 3 * keywords * named;
    // Rows as the parser counts them: from 0.
    if (score > 0) found.push({ path, content, start_line: start, end_line: Math.min(lines.length, start + 5) - 1, score });
  }
  return found;
});
blocks.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
const isDocument = ({ path }) => extname(path) === ".md";
const code = blocks
  .filter((block) => !isDocument(block))
  .slice(0, 20)
  .map(({ path, content, start_line, end_line, score }) => ({
    path,
    language: extname(path).slice(1),
    content,
    symbols: [],
    start_line,
    end_line,
    hash: createHash("sha256").update(content).digest("hex"),
    distance: 1 - score / asked.size,
  }));
const documents = blocks
  .filter(isDocument)
  .slice(0, 20)
  .map(({ path, content, start_line, end_line }) => ({
    path,
    title: path,
    content,
    context: [],
    level: 1,
    start_line,
    end_line,
    hash: "0",
  }));
const result =
  given.mode === "code"
    ? code
    : given.mode === "docs"
      ? documents
      : given.mode === "text"
        ? []
        : { code_blocks: code, document_blocks: documents, text_blocks: [] };
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
