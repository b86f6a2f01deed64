/** What `bench doctor` says of an `mcp` backend: does the server answer, has it the tool, does the tool get what it needs. */

import { redactor } from "../base/env-secrets.js";
import type { DoctorEnvironment, Finding } from "./contract.js";
import { ConnectionFailed, Connections, NO_LIMIT_MS } from "./mcp-connection.js";
import type { Options } from "./mcp-options.js";
import { serverFor } from "./mcp-server.js";
import { lastLines } from "./tool-process.js";

export async function look(config: Options, environment: DoctorEnvironment): Promise<readonly Finding[]> {
  if (environment.offline && config.url !== undefined) {
    return [{ check: "probe", status: "warning", found: `${config.url} was not asked (--offline)` }];
  }
  // Without a question there is no source tree: the server is started in the pipeline's folder.
  const server = await serverFor(config, environment, config.cwd === undefined ? environment.baseFolder : undefined);
  if (typeof server === "string") return [{ check: "server", status: "problem", found: server }];
  const connections = new Connections(environment.sleep);
  try {
    return await connections.with("doctor", server, environment.signal, async ({ client, server: introduced }) => {
      const { tools } = await client.listTools(undefined, { signal: environment.signal, timeout: NO_LIMIT_MS });
      const findings: Finding[] = [
        {
          check: "server",
          status: "ok",
          found: introduced === null ? "answers" : `${introduced.name} ${introduced.version} answers`,
        },
      ];
      const tool = tools.find(({ name }) => name === config.tool);
      if (tool === undefined) {
        const names = tools.map(({ name }) => name).join(", ");
        return [
          ...findings,
          { check: "tool", status: "problem", found: `there is no tool ${config.tool}`, fix: `set \`tool\` to one of: ${names}` },
        ];
      }
      const missing = (tool.inputSchema.required ?? []).filter((name) => !Object.hasOwn(config.arguments, name));
      findings.push(
        missing.length === 0
          ? { check: "tool", status: "ok", found: `${config.tool} is there` }
          : {
              check: "tool",
              status: "problem",
              found: `${config.tool} also needs ${missing.join(", ")}`,
              fix: "add them to `arguments`",
            },
      );
      return findings;
    });
  } catch (error) {
    const redact = redactor(environment.env, config.env);
    const said = error instanceof ConnectionFailed ? lastLines(redact(error.errorOutput)) : "";
    const found = `no connection: ${redact(error instanceof Error ? error.message : String(error))}${said}`;
    return [{ check: "server", status: "problem", found, fix: "check `command` or `url`, and that the server starts by hand" }];
  } finally {
    await connections.close();
  }
}
