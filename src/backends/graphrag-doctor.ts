/**
 * What `bench doctor` says of GraphRAG: which one it is and which command line it has, and what lies in its folder (settings, the variables
 * that they read, the tables of the index). Starts nothing: GraphRAG takes seconds to say its help.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Result } from "../base/result.js";
import type { Finding } from "./contract.js";
import { knowsMethod } from "./graphrag-command.js";
import { dotEnv, findData, settingsOf, variablesOf } from "./graphrag-folder.js";
import { type Generation, type GraphragProgram, generationOf } from "./graphrag-program.js";

export interface GraphragToCheck {
  readonly program: Result<GraphragProgram, string>;
  /** `cli:` of the options. */
  readonly cli: "auto" | Generation;
  readonly method: Parameters<typeof knowsMethod>[1];
  /** Absolute folder with settings and index; null: an index-corpus stage makes it. */
  readonly dir: string | null;
  /** `dir:` as written, for messages. */
  readonly shownDir: string;
  readonly data: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function graphragFindings(given: GraphragToCheck): Promise<readonly Finding[]> {
  const { program, cli, method, dir } = given;
  const findings: Finding[] = [];
  if (!program.ok) findings.push({ check: "installed", status: "problem", found: program.error });
  else {
    const { version, how, script, python } = program.value;
    const generation = cli !== "auto" ? cli : version === null ? null : generationOf(version);
    const where = how === "uv" ? "through uv" : (script ?? python ?? [])[0];
    findings.push({
      check: "installed",
      status: "ok",
      found: `GraphRAG ${version ?? "of unknown version"}, ${where}; command line: ${generation ?? "told by its help at the first question"}`,
    });
    if (generation !== null && !knowsMethod(generation, method))
      findings.push({
        check: "method",
        status: "problem",
        found: `this GraphRAG has no ${method} search`,
        fix: "use local or global, or a newer GraphRAG",
      });
  }
  if (dir === null)
    return [
      ...findings,
      { check: "index", status: "ok", found: "made by the index-corpus stage, of the tree that is asked about" },
    ];
  return [...findings, ...(await folderFindings(dir, given))];
}

async function folderFindings(dir: string, { shownDir, data, env }: GraphragToCheck): Promise<Finding[]> {
  if ((await stat(dir).catch(() => undefined))?.isDirectory() !== true)
    return [
      {
        check: "folder",
        status: "problem",
        found: `there is no folder ${dir}`,
        fix: "check `dir:`, or add an index-corpus stage to `needs`",
      },
    ];
  const findings: Finding[] = [];
  const settings = await settingsOf(dir);
  if (settings === null)
    findings.push({
      check: "settings",
      status: "problem",
      found: `${shownDir} has no settings.yaml`,
      fix: `graphrag init --root ${shownDir}, or correct \`dir:\``,
    });
  else {
    const known = { ...(await dotEnv(dir)), ...env };
    const unset = variablesOf(settings.text).filter((name) => (known[name] ?? "") === "");
    findings.push(
      unset.length === 0
        ? { check: "settings", status: "ok", found: `${settings.name}; the variables that it reads are set` }
        : {
            check: "settings",
            status: "problem",
            found: `${settings.name} reads ${unset.join(", ")}, which ${unset.length === 1 ? "is" : "are"} not set`,
            fix: `set ${unset.length === 1 ? "it" : "them"} in the environment or in ${join(shownDir, ".env")}`,
          },
    );
  }
  const index = await findData(dir, data);
  if (index !== null) {
    const times = await Promise.all(index.tables.map(async (name) => (await stat(join(index.path, name))).mtimeMs));
    const made = new Date(Math.max(...times)).toISOString().slice(0, 10);
    findings.push({
      check: "index",
      status: "ok",
      found: `${index.tables.length} tables in ${index.argument}, written ${made}; GraphRAG does not record of which commit`,
    });
  } else if (settings !== null && readsCloud(settings.text)) {
    findings.push({
      check: "index",
      status: "warning",
      found: "it lies in a cloud's storage, by the settings: it was not looked at",
    });
  } else findings.push({ check: "index", status: "problem", ...noIndex(shownDir, data) });
  const stats = index === null ? null : await readFile(join(index.path, "stats.json"), "utf8").catch(() => null);
  const documents = stats === null ? null : /"num_documents":\s{0,10}(\d{1,9})/.exec(stats)?.[1];
  if (documents !== undefined && documents !== null)
    findings.push({ check: "documents", status: "ok", found: `${documents} documents were indexed` });
  return findings;
}

/** Tables need not be files: storages of Azure and databases have other types. */
export function readsCloud(settings: string): boolean {
  return /^\s{1,40}type\s{0,10}:\s{0,10}["']?(?:blob|cosmosdb|azure)/im.test(settings);
}

/** No table of an index is there. */
export function noIndex(dir: string, data: string): { readonly found: string; readonly fix: string } {
  return {
    found: `there is no index in ${data} of ${dir} (no *.parquet)`,
    fix: `index first (graphrag index --root ${dir}), name its folder with \`data:\`, or add an index-corpus stage to \`needs\``,
  };
}
