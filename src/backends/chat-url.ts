/**
 * Where a chat model is asked. The rules for addresses are the original evaluator's, so that a `--base-url` of old goes on working;
 * Ollama's native interface, which alone can set the context length, is found from the same addresses. Pure.
 */
import { err, ok, type Result } from "../base/result.js";

export const PROVIDERS = ["ollama", "openai", "mistral", "openai-compatible"] as const;
export type Provider = (typeof PROVIDERS)[number];

const DEFAULT_BASES: Readonly<Record<Provider, string | null>> = {
  ollama: "http://localhost:11434",
  openai: "https://api.openai.com",
  mistral: "https://api.mistral.ai",
  "openai-compatible": null,
};

export interface Endpoint {
  /** What is posted to, query included. */
  readonly url: string;
  /** Without the query, which some gateways want a secret in: for keys, reports and messages. */
  readonly shown: string;
  /** Host and port. */
  readonly host: string;
  /** Ollama: the address without the interface's own path, with no slash at its end. */
  readonly root: string;
  /** The key would travel in the clear over a network. */
  readonly open: boolean;
}

const SCHEME = /^[a-z][a-z0-9+.-]{0,20}:\/\//i;
const SECRET_PARAMETER = /key|token|secret|sig|passw|auth/i;

/**
 * No scheme: `http://` is put before it. A path that ends in `/chat/completions` stays, one in `/v1` gets `/chat/completions`, any other
 * `/v1/chat/completions`. For Ollama: `/api/chat` below the address, from which `/v1`, `/v1/chat/completions`, `/api` and `/api/chat` are
 * taken off. The error says what is wrong with the address.
 */
export function chatEndpoint(provider: Provider, baseUrl: string | undefined): Result<Endpoint, string> {
  const given = baseUrl?.trim() ?? DEFAULT_BASES[provider];
  if (given === null || given === "") {
    return err("this provider has no usual address: give base_url, such as http://localhost:8000/v1");
  }
  let url: URL;
  try {
    url = new URL(SCHEME.test(given) ? given : `http://${given}`);
  } catch {
    return err(`${JSON.stringify(given)} is no address: write it as https://host or http://host:port`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return err(`${url.protocol}// is no way to ask a model: use http:// or https://`);
  if (url.username !== "" || url.password !== "") {
    return err("an address must hold no password: give the key in the environment (api_key_env) or in a file (api_key_file)");
  }
  const secret = [...url.searchParams.keys()].find((name) => SECRET_PARAMETER.test(name));
  if (secret !== undefined) {
    return err(
      `an address must hold no key (\`${secret}=\`): give it in the environment (api_key_env) or in a file (api_key_file)`,
    );
  }
  url.hash = "";
  const base = withoutSlashes(url.pathname);
  const root = base.replace(/(?:\/v1(?:\/chat\/completions)?|\/api(?:\/chat)?)$/i, "");
  url.pathname = provider === "ollama" ? `${root}/api/chat` : completions(base);
  return ok({
    url: url.href,
    shown: url.origin + url.pathname,
    host: url.host,
    root: url.origin + root,
    open: url.protocol === "http:" && !isLoopback(url.hostname),
  });
}

function completions(path: string): string {
  if (/\/chat\/completions$/i.test(path)) return path;
  return /\/v1$/i.test(path) ? `${path}/chat/completions` : `${path}/v1/chat/completions`;
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
