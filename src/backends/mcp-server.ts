/** From the options of the `mcp` backend to what is started or called: the server, and the tool's arguments. */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Surroundings } from "./contract.js";
import type { Server } from "./mcp-connection.js";
import { isRelative, type Options } from "./mcp-options.js";
import { fillTemplate, type Placeholder } from "./template.js";
import { passedOn } from "./tool-process.js";

/** The server to speak to, or what is wrong. */
export async function serverFor(
  config: Options,
  environment: Surroundings,
  corpus: string | undefined,
): Promise<Server | string> {
  const { env, baseFolder } = environment;
  if (config.command === undefined) {
    const token = config.token_env === undefined ? undefined : env[config.token_env];
    if (config.token_env !== undefined && (token ?? "") === "")
      return `the environment variable ${config.token_env} is not set: \`token_env\` names it`;
    return { type: "http", url: config.url ?? "", headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } };
  }
  const cwd = config.cwd === undefined ? (corpus ?? baseFolder) : resolve(baseFolder, config.cwd);
  if ((await stat(cwd).catch(() => undefined))?.isDirectory() !== true)
    return `the working folder ${cwd} does not exist: check \`cwd:\``;
  const rooted = config.command.map((argument) => (isRelative(argument) ? resolve(baseFolder, argument) : argument));
  const [file = "", ...args] = fillTemplate(rooted, {
    query: "",
    query_file: "",
    corpus: corpus ?? "",
    folder: baseFolder,
    id: "",
    title: "",
    repo: "",
    base_commit: "",
    repeat: "",
  });
  return { type: "stdio", file, args, cwd, env: passedOn(env, config.env) };
}

/** Absolute prefixes of paths in answers: the tree's folder as given, and as the system resolves it. */
export async function rootsOf(corpus: string | undefined): Promise<string[]> {
  if (corpus === undefined) return [];
  const resolved = await realpath(corpus).catch(() => corpus);
  return [corpus, resolved].map((root) => root.replaceAll("\\", "/"));
}

/** Every text of the arguments with its placeholders replaced. */
export function filledArguments(value: unknown, values: Readonly<Record<Placeholder, string>>): Record<string, unknown> {
  const fill = (at: unknown): unknown => {
    if (typeof at === "string") return fillTemplate([at], values)[0];
    if (Array.isArray(at)) return at.map(fill);
    if (typeof at !== "object" || at === null) return at;
    return Object.fromEntries(Object.entries(at).map(([name, member]) => [name, fill(member)]));
  };
  return fill(value) as Record<string, unknown>;
}
