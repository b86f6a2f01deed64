#!/usr/bin/env node
/**
 * Stands in for colgrep: the same commands, options, files, outputs and complaints, and a search that counts words. What it can't do is
 * find anything by meaning. DOUBLE_VERSION and DOUBLE_FAULT choose the release and what goes wrong; DOUBLE_LOG gets a line per call.
 */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, extname, join, relative } from "node:path";

const VERSION = process.env.DOUBLE_VERSION ?? "1.6.1";
const FAULT = process.env.DOUBLE_FAULT ?? "";
const [MAJOR, MINOR] = VERSION.split(".").map(Number);
const since = (minor) => MAJOR > 1 || MINOR >= minor;

const argv = process.argv.slice(2);
if (process.env.DOUBLE_LOG) appendFileSync(process.env.DOUBLE_LOG, `${JSON.stringify(argv)}\n`);

function usage(message) {
  process.stderr.write(
    `error: ${message}\n\nUsage: colgrep [OPTIONS] [QUERY] [PATH]... [COMMAND]\n\nFor more information, try '--help'.\n`,
  );
  process.exit(2);
}
function bail(message) {
  process.stderr.write(`Error: ${message}\n`);
  process.exit(1);
}

if (argv[0] === "--version" || argv[0] === "-V") {
  process.stdout.write(`colgrep ${VERSION}\n`);
  process.exit(0);
}

const VALUES = {
  "-k": "k",
  "--results": "k",
  "--model": "model",
  "--include": "include",
  "--exclude": "exclude",
  "--alpha": "alpha",
};
const FLAGS = new Set(["--json", "-y", "--yes", "--code-only", "--force-cpu"]);
if (since(3)) FLAGS.add("--semantic-only");
if (since(6)) FLAGS.add("--no-update");

let command = "search";
let rest = argv;
if (argv[0] === "init" || argv[0] === "search" || argv[0] === "status") {
  command = argv[0];
  rest = argv.slice(1);
}
const given = { k: "15", include: [] };
const flags = new Set();
const positional = [];
for (let i = 0; i < rest.length; i++) {
  const token = rest[i];
  if (token === "--") {
    positional.push(...rest.slice(i + 1));
    break;
  }
  if (token in VALUES) {
    const value = rest[++i];
    if (value === undefined) usage(`a value is required for '${token}' but none was supplied`);
    if (VALUES[token] === "include") given.include.push(value);
    else given[VALUES[token]] = value;
  } else if (FLAGS.has(token)) flags.add(token);
  else if (token.startsWith("-")) usage(`unexpected argument '${token}' found`);
  else positional.push(token);
}

if (FAULT === "hang") await new Promise((resolve) => setTimeout(resolve, 600_000));
if (FAULT === "model")
  bail("request error: https://huggingface.co/lightonai/LateOn-Code-edge: dns error: failed to lookup address information");
if (FAULT === "crash") process.kill(process.pid, "SIGSEGV");

function indexFolder(root) {
  const data = process.env.XDG_DATA_HOME ?? join(homedir(), ".local", "share");
  const hash = createHash("sha256").update(root).digest("hex").slice(0, 8);
  return join(data, "colgrep", "indices", `${basename(root).replace(/[^A-Za-z0-9_-]/g, "_")}-${hash}`);
}

const IGNORED = new Set(["target", "node_modules", "tmp", "logs", "vendor", ".git"]);
function walk(root, folder = root) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return IGNORED.has(entry.name) ? [] : walk(root, path);
      return entry.isFile() ? [path] : [];
    });
}

function build(root) {
  if (FAULT === "no-files") bail("No files indexed. The path contains 'tmp' which is in the default ignore list");
  const folder = indexFolder(root);
  const known = existsSync(join(folder, "index", "metadata.json"));
  const files = FAULT === "nothing" ? [] : walk(root);
  mkdirSync(join(folder, "index"), { recursive: true });
  writeFileSync(join(folder, "project.json"), JSON.stringify({ project_path: root, project_name: basename(root) }));
  writeFileSync(join(folder, "state.json"), JSON.stringify({ files: files.map((file) => relative(root, file)) }));
  writeFileSync(join(folder, "index", "metadata.json"), JSON.stringify({ model: given.model ?? "lightonai/LateOn-Code-edge" }));
  return { files, known };
}

function rootOf(path) {
  try {
    return realpathSync(path);
  } catch {
    return bail(`Path does not exist: ${path}`);
  }
}

if (command === "init") {
  const root = rootOf(positional[0] ?? ".");
  process.stderr.write("🤖 Model: lightonai/LateOn-Code-edge\n");
  const { files, known } = build(root);
  process.stderr.write(
    known
      ? `Index is up to date for ${root} (${files.length} files)\n`
      : `Indexed ${root} (added: ${files.length}, changed: 0, deleted: 0, unchanged: 0)\n`,
  );
  process.exit(0);
}

const [query, ...paths] = positional;
if (query === undefined || query.trim() === "") bail("No query provided. Use: colgrep <query> or colgrep -e <pattern>");
const root = rootOf(paths[0] ?? ".");
const index = indexFolder(root);
if (FAULT === "locked") bail("colgrep index is currently being built, rely on grep for now.");
if (!existsSync(join(index, "index", "metadata.json"))) {
  if (flags.has("--no-update"))
    bail(`No index found and --no-update was passed. Run the search without it (or \`colgrep init\`) to build the index first.`);
  build(root);
}
if (FAULT === "silent") process.exit(0);
if (FAULT === "no-json") {
  process.stdout.write("file: A.java\n");
  process.exit(0);
}
if (FAULT === "other-shape") {
  process.stdout.write(JSON.stringify({ results: [] }));
  process.exit(0);
}

const words = (text) => new Set(text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []);
const asked = words(query);
const { files } = JSON.parse(readFileSync(join(index, "state.json"), "utf8"));
const matches = (file) =>
  given.include.length === 0 ||
  given.include.some((pattern) => extname(file) === pattern.replace(/^\*/, "") || basename(file) === pattern);
const units = files.filter(matches).flatMap((file) => {
  const path = join(root, file);
  const lines = readFileSync(path, "utf8").split("\n");
  const found = [];
  for (let start = 0; start < lines.length; start += 5) {
    const code = lines.slice(start, start + 5).join("\n");
    const score = [...words(code)].filter((word) => asked.has(word)).length;
    if (score === 0) continue;
    const end = Math.min(lines.length, start + 5);
    found.push({
      unit: {
        name: `unit_${start + 1}`,
        qualified_name: `${path}::unit_${start + 1}`,
        file: path,
        line: start + 1,
        end_line: end,
        language: extname(file).slice(1),
        unit_type: "method",
        signature: lines[start],
        docstring: null,
        parameters: [],
        return_type: null,
        extends: null,
        parent_class: null,
        calls: [],
        called_by: [],
        complexity: 1,
        has_loops: false,
        has_branches: false,
        has_error_handling: false,
        variables: [],
        imports: [],
        code,
      },
      score: score / Math.max(1, asked.size),
    });
  }
  return found;
});
units.sort(
  (a, b) => b.score - a.score || (a.unit.file < b.unit.file ? -1 : a.unit.file > b.unit.file ? 1 : a.unit.line - b.unit.line),
);
process.stdout.write(`${JSON.stringify(units.slice(0, Number(given.k)), null, 2)}\n`);
