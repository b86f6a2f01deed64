/** The key of a chat provider: from the environment or a file, never from a pipeline file, and never shown. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ChatOptions } from "./chat-options.js";
import { endpointOf } from "./chat-options.js";
import type { Provider } from "./chat-url.js";
import { type BackendEnvironment, UnusableConfiguration } from "./contract.js";

/**
 * An `openai-compatible` server has no usual variable: a person's OpenAI key must not go to whatever address a pipeline names.
 */
const USUAL_VARIABLES: Readonly<Record<Provider, string | null>> = {
  ollama: "OLLAMA_API_KEY",
  openai: "OPENAI_API_KEY",
  mistral: "MISTRAL_API_KEY",
  "openai-compatible": null,
};
const NEEDS_KEY: ReadonlySet<Provider> = new Set(["openai", "mistral"]);
const LONGEST_KEY = 4096;

export interface ApiKey {
  /** null = none is sent. */
  readonly value: string | null;
  /** Where it is looked for, for advice: `OPENAI_API_KEY`, `the file key.txt`; null = nowhere. */
  readonly place: string | null;
}

/** Throws `UnusableConfiguration` where a key is needed or named and is not there or can't be sent. */
export async function readKey(
  options: Pick<ChatOptions, "provider" | "base_url" | "api_key_env" | "api_key_file">,
  environment: Pick<BackendEnvironment, "env" | "baseFolder">,
): Promise<ApiKey> {
  const { provider, api_key_env, api_key_file } = options;
  if (api_key_file !== undefined) {
    const place = `the file ${api_key_file}`;
    const text = await readFile(resolve(environment.baseFolder, api_key_file), "utf8").catch((error: unknown) => {
      const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
      throw new UnusableConfiguration(
        missing ? `there is no key file ${api_key_file}` : `the key file ${api_key_file} can't be read`,
      );
    });
    return { value: checked(text, place), place };
  }
  const variable = api_key_env ?? USUAL_VARIABLES[provider];
  if (variable === null) return { value: null, place: null };
  const value = environment.env[variable]?.trim() ?? "";
  if (value !== "") return { value: checked(value, variable), place: variable };
  if (api_key_env === undefined && !NEEDS_KEY.has(provider)) return { value: null, place: variable };
  throw new UnusableConfiguration(
    `${endpointOf(options).host} needs a key: set ${variable} in the environment, or name another place with api_key_env or api_key_file`,
  );
}

function checked(text: string, place: string): string {
  const key = text.trim();
  if (key === "") throw new UnusableConfiguration(`the key in ${place} is empty`);
  if (key.length > LONGEST_KEY || !/^[\x21-\x7e]+$/.test(key)) {
    throw new UnusableConfiguration(
      `what stands in ${place} is no key: it holds blanks, line breaks or characters that can't be sent`,
    );
  }
  return key;
}
