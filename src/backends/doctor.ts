/**
 * What `bench doctor` can say of any backend that is a program: is it there, which version, how many indexes lie below the cache. Each
 * finding that is not right says how to mend it.
 */
import { readdir } from "node:fs/promises";
import type { Finding } from "./contract.js";
import { toolVersion } from "./tool-process.js";

export interface ToolToCheck {
  readonly name: string;
  /** The program as it is run. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  /** `version:` of the configuration, which then stands in the key. */
  readonly declared: string | undefined;
  /** How to get it. */
  readonly install: string;
  /** Folder of indexes. */
  readonly indexes: string;
}

export async function toolFindings(tool: ToolToCheck): Promise<readonly Finding[]> {
  const found = await toolVersion(tool.file, tool.env);
  if (!found.ok) {
    if (tool.declared !== undefined) {
      return [
        {
          check: "installed",
          status: "warning",
          found: `${found.message}; stored answers of version ${tool.declared} can be used, new questions fail`,
          fix: tool.install,
        },
      ];
    }
    return [{ check: "installed", status: "problem", found: found.message, fix: tool.install }];
  }
  const findings: Finding[] = [
    { check: "installed", status: "ok", found: `\`${tool.file}\` runs` },
    tool.declared !== undefined && tool.declared !== found.version
      ? {
          check: "version",
          status: "warning",
          found: `it says ${found.version}, and \`version:\` says ${tool.declared}: the key of its answers would be wrong`,
          fix: "remove `version:`, or correct it",
        }
      : { check: "version", status: "ok", found: found.version },
  ];
  const count = (await readdir(tool.indexes).catch(() => [])).filter(
    (name) => name.startsWith(`${tool.name}-`) && !name.endsWith(".tmp"),
  ).length;
  findings.push({
    check: "index",
    status: "ok",
    found:
      count === 0
        ? "none yet: an index-corpus stage makes one per source tree, else the first question does"
        : `${count} below the cache, each of one source tree by its content`,
  });
  return findings;
}
