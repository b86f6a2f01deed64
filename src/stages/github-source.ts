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
import { BRIDGE } from "../github/kept-answers.js";
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
};

export interface SourceConfig {
  readonly recording?: string | undefined;
  readonly github_url?: string | undefined;
}

/** GitHub asks for few requests at once; four keep one waiting connection busy without provoking the secondary limit. */
const CONCURRENCY = 4;
const USER_AGENT = "bench (benchwright)";

export function sourceResource(config: SourceConfig, name: string): { name: string; concurrency: number } {
  return { name: config.recording === undefined ? name : `${name}-recording`, concurrency: CONCURRENCY };
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

/** The recording's content is part of the key, its path is not. */
export async function identifySource(config: SourceConfig, tools: StageTools): Promise<readonly KeyPart[]> {
  if (config.recording === undefined) return [];
  try {
    return [part("recording", digestBytes(await readFile(resolve(tools.baseFolder, config.recording))))];
  } catch {
    return [part("recording", "unreadable")];
  }
}

const keptPullSchema = z.object({
  title: z.string().nullable(),
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  merged_at: z.string().nullable(),
  at: z.number(),
});

/** What the stages of one run know together; it lives as long as the run's clock, which all of them are given. */
interface SharedKnowledge {
  readonly limits: Map<string, LimitState>;
  readonly pulls: Map<string, PullFacts | "issue">;
}
const shared = new WeakMap<Clock, SharedKnowledge>();

function knowledgeOf(clock: Clock): SharedKnowledge {
  let knowledge = shared.get(clock);
  if (knowledge === undefined) {
    knowledge = { limits: new Map(), pulls: new Map() };
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
  readonly #tools: StageTools;
  readonly #clients = new Map<string, Promise<GitHubClient>>();

  private constructor(read: ReadRecording, token: FoundToken | null, api: string | null, tools: StageTools) {
    this.recording = read.recording;
    this.digest = read.digest;
    this.problem = read.problem;
    this.token = token;
    this.api = api;
    this.#tools = tools;
  }

  static async open(config: SourceConfig, tools: StageTools): Promise<GitHubSource> {
    const api = config.github_url === undefined ? null : apiUrl({ enterpriseHost: null }, config.github_url);
    const read =
      config.recording === undefined
        ? { digest: null, recording: null, problem: null }
        : await readRecording(config.recording, tools);
    const problem = read.problem ?? (api !== null && !api.ok ? api.error : null);
    const token = config.recording === undefined ? await readToken(tools) : null;
    return new GitHubSource({ ...read, problem }, token, api?.ok ? api.value : null, tools);
  }

  /** The client for one server; made when first needed. */
  client(api: string): Promise<GitHubClient> {
    let client = this.#clients.get(api);
    if (client === undefined) {
      client = this.#open(api);
      this.#clients.set(api, client);
    }
    return client;
  }

  #open(api: string): Promise<GitHubClient> {
    const tools = this.#tools;
    const { limits } = knowledgeOf(tools.clock);
    const { recording } = this;
    const key = recording === null ? api : `recording ${this.digest}`;
    const state = limits.get(key) ?? new LimitState();
    limits.set(key, state);
    return openClient({
      api,
      token: this.token?.token ?? null,
      userAgent: USER_AGENT,
      world: tools,
      state,
      resource: recording === null ? new URL(api).host : "recording",
      send: recording === null ? fetch : recordingFetch(recording, { api }),
      store:
        recording === null ? { memory: tools.memory("github-etags"), putBytes: tools.putBytes, getBytes: tools.getBytes } : null,
      refresh: tools.refresh,
      offline: tools.offline && recording === null,
      limits: { showLimit: recording === null },
    });
  }

  /** What this run already saw of a pull request (in an issue list, an event, an answer); `issue` where the number is an issue's. */
  known(api: string, repository: string, number: number): PullFacts | "issue" | undefined {
    return knowledgeOf(this.#tools.clock).pulls.get(this.#knownKey(api, `${repository}#${number}`));
  }

  /** Remembers who a number belongs to. A body is left out: it is large, and whoever needs it asks for the pull request itself. */
  learn(api: string, pull: PullFacts): void {
    if (pull.merged_at === undefined) return;
    const { repository, number, title, url, created_at, merged_at } = pull;
    knowledgeOf(this.#tools.clock).pulls.set(this.#knownKey(api, pullKey(pull)), {
      repository,
      number,
      title,
      url,
      created_at,
      merged_at,
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
      told.map(({ repository, number, title, url, created_at, merged_at }) =>
        memory.set(this.#knownKey(api, `${repository}#${number}`), { title, url, created_at, merged_at: merged_at ?? null, at }),
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
export function outcomeOf(trouble: ClientTrouble): UnitOutcome {
  switch (trouble.type) {
    case "limit":
      return { type: "stop", message: trouble.message, resumeAt: trouble.resumeAt };
    case "failed":
      return { type: "failed", status: "failed", message: trouble.message, ...(trouble.again ? { retry: {} } : {}) };
    case "absent":
    case "moved":
      return { type: "failed", status: "failed", message: trouble.message };
  }
}

export function cantAsk(problem: string): UnitOutcome {
  return { type: "failed", status: "failed", message: problem };
}

export const RECORDED_ELSEWHERE =
  "the issues come from a recording and this stage has none: give it the same `recording:` as fetch-issues has";
