/** What `bench doctor` says about a chat model: is a key set, does the server answer, is the model there. Asks nothing that is paid for. */

import { record } from "./chat-failure.js";
import { exchange } from "./chat-http.js";
import { readKey } from "./chat-key.js";
import { ollamaFacts } from "./chat-ollama.js";
import { type ChatOptions, endpointOf } from "./chat-options.js";
import type { DoctorEnvironment, Finding } from "./contract.js";
import { loadPrices, priceOf } from "./prices.js";

export async function chatDoctor(options: ChatOptions, environment: DoctorEnvironment): Promise<readonly Finding[]> {
  const endpoint = endpointOf(options);
  const findings: Finding[] = [await priceFinding(options, environment)];
  let key: Awaited<ReturnType<typeof readKey>>;
  try {
    key = await readKey(options, environment);
    const found = key.value === null ? "no key is sent" : `the key in ${key.place} is sent`;
    findings.unshift({ check: "key", status: "ok", found });
  } catch (error) {
    findings.unshift({ check: "key", status: "problem", found: error instanceof Error ? error.message : String(error) });
    return findings;
  }
  if (environment.offline)
    return [...findings, { check: "probe", status: "warning", found: `${endpoint.host} was not asked: offline` }];

  const caller = { options, key, environment: { clock: () => 0 } };
  if (options.provider === "ollama") {
    const facts = await ollamaFacts(caller, environment.signal);
    if (facts.version === null) {
      return [
        ...findings,
        {
          check: "probe",
          status: "problem",
          found: `no Ollama server answers at ${endpoint.root}`,
          fix: "start it (ollama serve), or give base_url",
        },
      ];
    }
    findings.push({ check: "version", status: "ok", found: `Ollama ${facts.version} answers at ${endpoint.root}` });
    if (facts.digest === null) {
      findings.push({
        check: "model",
        status: "problem",
        found: `${options.model} is not there`,
        fix: `ollama pull ${options.model}`,
      });
    } else {
      const reads = facts.contextLength === null ? "" : `, reads ${facts.contextLength} tokens`;
      findings.push({ check: "model", status: "ok", found: `${options.model}, revision ${facts.digest.slice(0, 12)}${reads}` });
    }
    return findings;
  }
  const { shown, host } = endpoint;
  const models = shown.replace(/\/chat\/completions$/i, "/models");
  return [...findings, await listedModel({ url: models, host, key: key.value, model: options.model }, environment.signal)];
}

async function priceFinding(options: ChatOptions, { baseFolder }: DoctorEnvironment): Promise<Finding> {
  try {
    const price = priceOf(await loadPrices(options.prices, baseFolder), options.provider, options.model);
    if (price === null)
      return {
        check: "price",
        status: "warning",
        found: `the price of ${options.model} is unknown`,
        fix: "add it to a table of your own (prices:)",
      };
    return {
      check: "price",
      status: "ok",
      found: `$${price.input} and $${price.output} per million tokens in and out, as of ${price.as_of}`,
    };
  } catch (error) {
    return { check: "price", status: "problem", found: error instanceof Error ? error.message : String(error) };
  }
}

/** The list of models costs nothing and shows whether the key is taken. `url`: of that list. */
export async function listedModel(
  { url, host, key, model }: { readonly url: string; readonly host: string; readonly key: string | null; readonly model: string },
  signal: AbortSignal,
): Promise<Finding> {
  const end = await exchange({ method: "GET", url, key, maxBytes: 4_194_304 }, signal);
  if (end.type !== "answer")
    return {
      check: "probe",
      status: "problem",
      found: `${host} does not answer (${end.type})`,
      fix: "check base_url and the network",
    };
  if (end.status === 401 || end.status === 403)
    return { check: "probe", status: "problem", found: `${host} refuses the key (${end.status})`, fix: "check the key" };
  if (end.status !== 200)
    return { check: "probe", status: "warning", found: `${host} answers, but lists no models (${end.status})` };
  let names: unknown[] = [];
  try {
    const data = record(JSON.parse(end.body))?.data;
    names = Array.isArray(data) ? data.map((one) => record(one)?.id) : [];
  } catch {
    return { check: "probe", status: "problem", found: `${host} answers with something that is no JSON`, fix: "check base_url" };
  }
  if (names.includes(model)) return { check: "model", status: "ok", found: `${host} has ${model}` };
  return { check: "model", status: "warning", found: `${host} does not list ${model}`, fix: "check the model's name" };
}
