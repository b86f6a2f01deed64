/**
 * Where the three fetch stages get their answers from: a recording, or a server with its token. Not a stage kind; what the three share.
 *
 * A recording that can't be read is no exception: the units say so, like any other trouble on the way.
 */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as z from "zod";
import { type Digest, digestBytes } from "../base/json.js";
import { type KeyPart, part } from "../cache/key.js";
import type { Clock, StageTools, UnitOutcome } from "../engine/contract.js";
import { type ClientTrouble, type GitHubClient, openClient } from "../github/client.js";
import { GraphBatches, type GraphTrouble } from "../github/graphql-batch.js";
import { type AnswerStore, BRIDGE } from "../github/kept-answers.js";
import { LimitState } from "../github/limits.js";
import { parseRecording, type Recording } from "../github/recording.js";
import { recordingFetch } from "../github/recording-server.js";
import { apiUrl } from "../github/repository.js";
import { type PullFacts, pullKey } from "../github/timeline.js";
import { type FoundToken, findToken, TOKEN_FILE } from "../github/token.js";

export const sourceConfig = {
  recording: z
    .string()
    .optional()
    .describe("File with recorded GitHub answers, relative to the pipeline file: served instead of the network, without a token"),
  github_url: z
    .string()
    .optional()
    .describe("Base address of the REST API where it is not github.com's: https://HOST/api/v3 for GitHub Enterprise"),
  api: z
    .enum(["auto", "rest", "graphql"])
    .optional()
    .describe(
      "Which API is asked: graphql (needs a token; tens of issues per request), rest, or auto (default): graphql with a token, else rest",
    ),
};

export interface SourceConfig {
  readonly recording?: string | undefined;
  readonly github_url?: string | undefined;
  readonly api?: "auto" | "rest" | "graphql" | undefined;
}

/** GitHub asks for few requests at once; four keep one waiting connection busy without provoking the secondary limit. */
const CONCURRENCY = 4;
/** Units at work where they may share requests; those of one server are bound by the client. */
const TOGETHER = 100;
export const datasetConfig = {
  dataset: z
    .string()
    .optional()
    .describe(
      "An older mined file, relative to the pipeline file: its issues alone are looked at, and only what it lacks is asked for",
    ),
};

/** Attempts at a GraphQL query that the server fails on, before it is asked in smaller parts. */
const GRAPH_ATTEMPTS = 2;
const USER_AGENT = "bench (benchwright)";

export function sourceResource(config: SourceConfig, name: string): { name: string; concurrency: number } {
  const api = config.api ?? "auto";
  const mayShare = api === "graphql" || (api === "auto" && config.recording === undefined);
  return {
    name: config.recording === undefined ? name : `${name}-recording`,
    concurrency: mayShare ? TOGETHER : CONCURRENCY,
  };
}

interface ReadRecording {
  readonly digest: Digest | null;
  readonly recording: Recording | null;
  readonly problem: string | null;
}

async function readRecording(path: string, tools: Pick<StageTools, "baseFolder">): Promise<ReadRecording> {
  let bytes: Buffer;
  try {
    bytes = await readFile(resolve(tools.baseFolder, path));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    return {
      digest: null,
      recording: null,
      problem: `the recording ${path} can't be read (${code}): check the path, which is relative to the pipeline file`,
    };
  }
  const parsed = parseRecording(bytes.toString("utf8"));
  const digest = digestBytes(bytes);
  if (!parsed.ok) return { digest, recording: null, problem: `the recording ${path} can't be used: ${parsed.error}` };
  return { digest, recording: parsed.value, problem: null };
}

/** The content of files that are read is part of the key, their paths are not. */
export async function identifySource(
  config: SourceConfig & { readonly dataset?: string | undefined },
  tools: StageTools,
): Promise<readonly KeyPart[]> {
  const parts: KeyPart[] = [];
  for (const name of ["recording", "dataset"] as const) {
    const path = config[name];
    if (path === undefined) continue;
    const bytes = await readFile(resolve(tools.baseFolder, path)).catch(() => null);
    parts.push(part(name, bytes === null ? "unreadable" : digestBytes(bytes)));
  }
  return parts;
}

const keptPullSchema = z.object({
  title: z.string().nullable(),
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  merged_at: z.string().nullable(),
  bot: z.boolean().optional(),
  at: z.number(),
});

/** What the stages of one run know together; it lives as long as the run's clock, which all of them are given. */
interface SharedKnowledge {
  readonly limits: Map<string, LimitState>;
  readonly pulls: Map<string, PullFacts | "issue">;
  readonly graphs: Map<string, Promise<GraphBatches>>;
  /** Servers that turned out to have no GraphQL that serves. */
  readonly withoutGraph: Set<string>;
}
const shared = new WeakMap<Clock, SharedKnowledge>();

function knowledgeOf(clock: Clock): SharedKnowledge {
  let knowledge = shared.get(clock);
  if (knowledge === undefined) {
    knowledge = { limits: new Map(), pulls: new Map(), graphs: new Map(), withoutGraph: new Set() };
    shared.set(clock, knowledge);
  }
  return knowledge;
}

export class GitHubSource {
  readonly recording: Recording | null;
  /** Digest of the recording's bytes; null when live. */
  readonly digest: Digest | null;
  /** Why nothing can be asked; every unit fails with it. */
  readonly problem: string | null;
  readonly token: FoundToken | null;
  /** Base address that `github_url` gives, or null where it gives none. */
  readonly api: string | null;
  /** Whether `api: graphql` was asked for, is chosen for want of another wish, or is not. */
  readonly #graphql: "asked" | "chosen" | "no";
  readonly #tools: StageTools;
  readonly #clients = new Map<string, Promise<GitHubClient>>();

  private constructor(
    read: ReadRecording,
    token: FoundToken | null,
    api: string | null,
    graphql: "asked" | "chosen" | "no",
    tools: StageTools,
  ) {
    this.recording = read.recording;
    this.digest = read.digest;
    this.problem = read.problem;
    this.token = token;
    this.api = api;
    this.#graphql = graphql;
    this.#tools = tools;
  }

  static async open(config: SourceConfig, tools: StageTools): Promise<GitHubSource> {
    const api = config.github_url === undefined ? null : apiUrl({ enterpriseHost: null }, config.github_url);
    const read =
      config.recording === undefined
        ? { digest: null, recording: null, problem: null }
        : await readRecording(config.recording, tools);
    const token = config.recording === undefined ? await readToken(tools) : null;
    const wish = config.api ?? "auto";
    const graphql = wish === "graphql" ? "asked" : wish === "auto" && token !== null ? "chosen" : "no";
    const problem =
      read.problem ??
      (api !== null && !api.ok ? api.error : null) ??
      (graphql === "asked" && config.recording === undefined && token === null && !tools.offline ? NEEDS_TOKEN : null);
    return new GitHubSource({ ...read, problem }, token, api?.ok ? api.value : null, graphql, tools);
  }

  /** Is this server asked by GraphQL? */
  usesGraphql(api: string): boolean {
    return this.#graphql !== "no" && !knowledgeOf(this.#tools.clock).withoutGraph.has(api);
  }

  /**
   * The server's GraphQL does not serve. True: REST is asked from now on, and people are told once. False: `api: graphql` was asked for, so
   * the trouble is the person's.
   */
  withoutGraphql(api: string, why: string): boolean {
    if (this.#graphql !== "chosen") return false;
    const { withoutGraph } = knowledgeOf(this.#tools.clock);
    if (!withoutGraph.has(api)) this.#tools.warn(`${new URL(api).host}: ${why}; the REST API is asked instead`);
    withoutGraph.add(api);
    return true;
  }

  /** What asks GraphQL of one server; shared by all stages of a run, so that one's answers serve the others. */
  graph(api: string): Promise<GraphBatches> {
    const { graphs } = knowledgeOf(this.#tools.clock);
    const key = this.#knownKey(api, "graph");
    const graph = graphs.get(key) ?? this.#openGraph(api);
    graphs.set(key, graph);
    return graph;
  }

  async #openGraph(api: string): Promise<GraphBatches> {
    const tools = this.#tools;
    const state = this.#limitState(`${api} graphql`);
    const resource = this.recording === null ? `${new URL(api).host} (GraphQL)` : "recording";
    return new GraphBatches({
      client: await this.#open(api, state, resource, GRAPH_ATTEMPTS),
      api,
      state,
      store: this.recording === null ? this.#store("github-graphql") : null,
      refresh: tools.refresh && !tools.offline,
      now: () => tools.clock.now(),
      sleep: (milliseconds, signal) => tools.clock.sleep(milliseconds, signal),
      saved: () => tools.count("requests_saved"),
    });
  }

  /** The client for one server; made when first needed. */
  client(api: string): Promise<GitHubClient> {
    let client = this.#clients.get(api);
    if (client === undefined) {
      client = this.#open(api, this.#limitState(api), this.recording === null ? new URL(api).host : "recording");
      this.#clients.set(api, client);
    }
    return client;
  }

  #limitState(key: string): LimitState {
    const { limits } = knowledgeOf(this.#tools.clock);
    const name = this.recording === null ? key : `recording ${this.digest}`;
    const state = limits.get(name) ?? new LimitState();
    limits.set(name, state);
    return state;
  }

  #store(memory: string): AnswerStore {
    const { putBytes, getBytes } = this.#tools;
    return { memory: this.#tools.memory(memory), putBytes, getBytes };
  }

  #open(api: string, state: LimitState, resource: string, serverAttempts?: number): Promise<GitHubClient> {
    const tools = this.#tools;
    const { recording } = this;
    return openClient({
      api,
      token: this.token?.token ?? null,
      userAgent: USER_AGENT,
      world: tools,
      state,
      resource,
      send: recording === null ? fetch : recordingFetch(recording, { api }),
      store: recording === null ? this.#store("github-etags") : null,
      refresh: tools.refresh,
      offline: tools.offline && recording === null,
      limits: {
        showLimit: recording === null,
        concurrency: CONCURRENCY,
        ...(serverAttempts === undefined ? {} : { serverAttempts }),
      },
    });
  }

  /** What this run already saw of a pull request (in an issue list, an event, an answer); `issue` where the number is an issue's. */
  known(api: string, repository: string, number: number): PullFacts | "issue" | undefined {
    return knowledgeOf(this.#tools.clock).pulls.get(this.#knownKey(api, `${repository}#${number}`));
  }

  /** Remembers who a number belongs to. A body is left out: it is large, and whoever needs it asks for the pull request itself. */
  learn(api: string, pull: PullFacts): void {
    if (pull.merged_at === undefined) return;
    const { repository, number, title, url, created_at, merged_at, bot } = pull;
    knowledgeOf(this.#tools.clock).pulls.set(this.#knownKey(api, pullKey(pull)), {
      repository,
      number,
      title,
      url,
      created_at,
      merged_at,
      bot,
    });
  }

  /**
   * The same for a run that is killed and goes on: what it saw in a page or timeline that is then a hit, and so not read again, would cost
   * a request each. As old as kept answers may be, and never used by a refresh.
   */
  async keep(api: string, pulls: readonly PullFacts[]): Promise<void> {
    for (const pull of pulls) this.learn(api, pull);
    if (this.recording !== null) return;
    const memory = this.#tools.memory("github-pulls");
    const at = this.#tools.clock.now();
    const told = pulls.filter(({ merged_at }) => merged_at !== undefined);
    await Promise.all(
      told.map(({ repository, number, title, url, created_at, merged_at, bot }) =>
        memory.set(this.#knownKey(api, `${repository}#${number}`), {
          ...{ title, url, created_at, merged_at: merged_at ?? null, at },
          ...(bot === undefined ? {} : { bot }),
        }),
      ),
    );
  }

  /** What this run or one shortly before saw. */
  async recall(api: string, repository: string, number: number): Promise<PullFacts | "issue" | undefined> {
    const known = this.known(api, repository, number);
    if (known !== undefined || this.recording !== null || this.#tools.refresh) return known;
    const key = this.#knownKey(api, `${repository}#${number}`);
    const kept = keptPullSchema.safeParse(await this.#tools.memory("github-pulls").get(key));
    if (!kept.success || this.#tools.clock.now() - kept.data.at > BRIDGE) return undefined;
    const { at: _, ...facts } = kept.data;
    return { repository, number, ...facts };
  }

  learnIssue(api: string, repository: string, number: number): void {
    knowledgeOf(this.#tools.clock).pulls.set(this.#knownKey(api, `${repository}#${number}`), "issue");
  }

  #knownKey(api: string, id: string): string {
    return `${this.digest ?? api} ${id}`;
  }
}

/** `.env.github` is looked for where the command was typed, then in the project. */
async function readToken(tools: StageTools): Promise<FoundToken | null> {
  const folders = [...new Set([process.cwd(), tools.projectRoot])];
  const files = await Promise.all(
    folders.map(async (folder) => {
      const path = join(folder, TOKEN_FILE);
      return { path, text: await readFile(path, "utf8").catch(() => null) };
    }),
  );
  return findToken({ env: tools.env, files });
}

/** A unit's outcome where no answer came. */
export function outcomeOf(trouble: ClientTrouble | GraphTrouble): UnitOutcome {
  switch (trouble.type) {
    case "limit":
      return { type: "stop", message: trouble.message, resumeAt: trouble.resumeAt };
    case "failed":
      return { type: "failed", status: "failed", message: trouble.message, ...(trouble.again ? { retry: {} } : {}) };
    case "unsupported":
      return cantAsk(`${trouble.message}: leave \`api: graphql\` out, and the REST API is asked`);
    case "absent":
    case "moved":
      return { type: "failed", status: "failed", message: trouble.message };
  }
}

const NEEDS_TOKEN =
  "GitHub's GraphQL API answers nobody without a token: set GITHUB_TOKEN, or leave `api: graphql` out (REST needs none)";

export function cantAsk(problem: string): UnitOutcome {
  return { type: "failed", status: "failed", message: problem };
}

export const RECORDED_ELSEWHERE =
  "the issues come from a recording and this stage has none: give it the same `recording:` as fetch-issues has";
