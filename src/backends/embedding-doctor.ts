/** What `bench doctor` says of an embedding model: is a key set, does the server answer, is the model there; locally, is the package there. */
import { listedModel } from "./chat-doctor.js";
import { readKey } from "./chat-key.js";
import type { DoctorEnvironment, Finding } from "./contract.js";
import { type EmbeddingOptions, embeddingEndpoint, isRemote } from "./embedding-options.js";

/** Needed for `provider: local`, and no dependency of ours. */
export const PACKAGE = "@huggingface/transformers";

export async function embeddingDoctor(options: EmbeddingOptions, environment: DoctorEnvironment): Promise<readonly Finding[]> {
  if (!isRemote(options)) {
    try {
      // By a variable, so that nothing looks for it before somebody wants it.
      const name: string = PACKAGE;
      await import(name);
    } catch {
      return [{ check: "package", status: "problem", found: `${PACKAGE} is not installed`, fix: `npm install ${PACKAGE}` }];
    }
    return [
      { check: "package", status: "ok", found: `${PACKAGE} is there` },
      { check: "model", status: "ok", found: `${options.model}: loaded, if need be fetched, with the first question` },
    ];
  }
  const { url, host } = embeddingEndpoint(options);
  let key: string | null;
  const findings: Finding[] = [];
  try {
    const read = await readKey(options, environment);
    key = read.value;
    findings.push({ check: "key", status: "ok", found: key === null ? "no key is sent" : `the key in ${read.place} is sent` });
  } catch (error) {
    return [{ check: "key", status: "problem", found: error instanceof Error ? error.message : String(error) }];
  }
  if (environment.offline) return [...findings, { check: "probe", status: "warning", found: `${host} was not asked: offline` }];
  const models = url.replace(/\/embeddings$/, "/models");
  return [...findings, await listedModel({ url: models, host, key, model: options.model }, environment.signal)];
}
