/**
 * Asks GraphQL for single things, many at a time: whoever needs an issue or a pull request asks for it alone, and what is asked for at about
 * the same time goes out in one request.
 *
 * Each answer is on disk, by what was asked and not by the request that it came with, before anyone reads it: after a kill the
 * next run may put other things together and still asks for nothing twice. A request that is too heavy for the server is split; an
 * error that concerns one thing costs that thing alone another attempt.
 */
import { type Digest, digestJson } from "../base/json.js";
import { err, ok, type Result } from "../base/result.js";
import type { ClientTrouble, GitHubClient, GraphAnswer, GraphError } from "./client.js";
import { type Fields, instant, isFields, object } from "./fields.js";
import {
  aliasOf,
  BATCH,
  batchQuery,
  type GraphAsk,
  type GraphQuery,
  INNER_PAGE,
  listQuery,
  QUERIES_DIGEST,
  SMALLEST_INNER_PAGE,
} from "./graphql-queries.js";
import { type AnswerStore, BRIDGE } from "./kept-answers.js";
import type { LimitState } from "./limits.js";

/** `unsupported`: the server has no GraphQL, or not the fields that are asked for; REST may have what is needed. */
export type GraphTrouble = ClientTrouble | { readonly type: "unsupported"; readonly message: string };

export interface GraphOptions {
  readonly client: GitHubClient;
  readonly api: string;
  readonly state: LimitState;
  /** null for recordings. */
  readonly store: AnswerStore | null;
  readonly refresh: boolean;
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly saved: () => void;
}

/** What is asked for within this time of each other goes out together: far less than one answer takes. */
const GATHERING = 15;
/** Issues of one page of the list; fewer where the server fails on so many. */
const LIST_PAGE = 100;
/** Requests under way at once. */
const CONCURRENT = 2;
/** Attempts for one thing where the server fails on it alone. */
const ATTEMPTS = 4;

interface Waiting {
  readonly ask: GraphAsk;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly settle: (result: Result<Fields | null, GraphTrouble>) => void;
  readonly fail: (reason: unknown) => void;
  attempts: number;
  /** Most that may be asked together with it, after a request that was too heavy. */
  together: number;
  page: number;
}

export class GraphBatches {
  readonly #options: GraphOptions;
  readonly #underWay = new Map<string, Promise<Result<Fields | null, GraphTrouble>>>();
  /** Asked in this run: what it kept is new enough for a refresh. */
  readonly #fresh = new Set<string>();
  #waiting: Waiting[] = [];
  #running = 0;
  #gathering = false;

  constructor(options: GraphOptions) {
    this.#options = options;
  }

  /** What stands below the ask's repository (`issue`, `pullRequest`, `object`), or null where it does not exist. */
  async load(ask: GraphAsk, signal: AbortSignal): Promise<Result<Fields | null, GraphTrouble>> {
    const key = `${this.#options.api} ${QUERIES_DIGEST} ${keyOf(ask)}`;
    for (;;) {
      signal.throwIfAborted();
      const other = this.#underWay.get(key);
      if (other === undefined) break;
      // If the other one was interrupted and we were not, the loop asks for itself.
      const result = await other.catch(() => null);
      if (result !== null) return result;
    }
    const asking = this.#find(ask, key, signal);
    this.#underWay.set(key, asking);
    try {
      return await asking;
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** One page of closed issues: the repository's object. */
  async list(repository: string, after: string | null, signal: AbortSignal): Promise<Result<Fields | null, GraphTrouble>> {
    const key = `${this.#options.api} ${QUERIES_DIGEST} list ${repository.toLowerCase()} ${after ?? ""}`;
    const kept = await this.#kept(key);
    if (kept !== undefined) return ok(kept);
    for (let size = LIST_PAGE, attempt = 1; ; attempt++, size = Math.ceil(size / 2)) {
      const answer = await this.#send(listQuery(repository, after, size), signal);
      let trouble: GraphTrouble;
      if (answer.ok) {
        const { data, errors } = answer.value;
        const found = object(isFields(data) ? data : {}, "repository");
        if (errors.length === 0 && isFields(found.issues)) {
          await this.#keep(key, found);
          return ok(found);
        }
        const [error] = errors;
        if (error === undefined || error.type === "NOT_FOUND")
          return err({
            type: "absent",
            message: `POST /graphql: the repository ${repository} does not exist, or this token may not see it`,
          });
        trouble = troubleOf(error);
        if (trouble.type !== "failed" || !trouble.again) return err(trouble);
      } else {
        trouble = answer.error;
        if (trouble.type !== "failed" || !isTooHeavy(trouble.status)) return answer;
      }
      if (attempt >= ATTEMPTS) return err(trouble);
    }
  }

  async #find(ask: GraphAsk, key: string, signal: AbortSignal): Promise<Result<Fields | null, GraphTrouble>> {
    const kept = await this.#kept(key);
    if (kept !== undefined) return ok(kept);
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        ask,
        key,
        signal,
        settle: resolve,
        fail: reject,
        attempts: 0,
        together: BATCH[ask.kind],
        page: INNER_PAGE,
      });
      void this.#gather(signal);
    });
  }

  /** Sends as soon as nothing more comes, or as soon as a request is full. */
  async #gather(signal: AbortSignal): Promise<void> {
    if (this.#gathering) return;
    this.#gathering = true;
    try {
      while (this.#waiting.length > 0 && this.#running < CONCURRENT) {
        for (let before = -1; before !== this.#waiting.length && !this.#isFull(); ) {
          before = this.#waiting.length;
          await this.#options.sleep(GATHERING, signal).catch(() => {});
        }
        if (this.#running >= CONCURRENT) break;
        const batch = this.#take();
        if (batch.length === 0) break;
        this.#running += 1;
        void this.#run(batch).finally(() => {
          this.#running -= 1;
          if (this.#waiting.length > 0) void this.#gather(signal);
        });
      }
    } finally {
      this.#gathering = false;
    }
    if (this.#waiting.length > 0 && this.#running === 0) void this.#gather(signal);
  }

  #isFull(): boolean {
    const [first] = this.#waiting;
    return first !== undefined && this.#waiting.length >= first.together;
  }

  /** The oldest ask and others that may go with it. Interrupted ones leave. */
  #take(): Waiting[] {
    for (const one of this.#waiting) if (one.signal.aborted) one.fail(one.signal.reason);
    this.#waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
    const [first] = this.#waiting;
    if (first === undefined) return [];
    const batch: Waiting[] = [];
    for (const one of this.#waiting) {
      // Only whole shares: asks of different kinds have different weights.
      const weight = [...batch, one].reduce((sum, { together }) => sum + 1 / together, 0);
      if (one.page === first.page && weight <= 1 + 1e-9) batch.push(one);
    }
    this.#waiting = this.#waiting.filter((one) => !batch.includes(one));
    return batch;
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    try {
      const query = batchQuery(
        batch.map(({ ask }) => ask),
        first.page,
      );
      const answer = await this.#send(query, first.signal);
      if (answer.ok) await this.#deal(batch, answer.value);
      else if (answer.error.type === "failed" && isTooHeavy(answer.error.status)) this.#lighter(batch, answer.error);
      else for (const one of batch) one.settle(answer);
    } catch (error) {
      // The first one's interruption is not the others'.
      for (const one of batch) {
        if (one === first || one.signal.aborted || !first.signal.aborted) one.fail(error);
        else this.#waiting.push(one);
      }
    }
  }

  async #deal(batch: readonly Waiting[], { data, errors }: GraphAnswer): Promise<void> {
    const aliases = new Set<string | number | undefined>(batch.map((_, index) => aliasOf(index)));
    // An error of no single thing: the query as a whole was refused, or gave nothing.
    const general = errors.find(({ path }) => !aliases.has(path[0]));
    if (general !== undefined) {
      const trouble = troubleOf(general);
      if (trouble.type === "failed" && trouble.again) this.#lighter(batch, trouble);
      else for (const one of batch) one.settle(err(trouble));
      return;
    }
    const answers = isFields(data) ? data : {};
    for (const [index, one] of batch.entries()) {
      const alias = aliasOf(index);
      const own = errors.filter(({ path }) => path[0] === alias);
      const blocking = own.find((error) => !isTolerable(error));
      if (blocking !== undefined) {
        const trouble = troubleOf(blocking);
        if (trouble.type === "failed" && trouble.again) this.#again(one, trouble);
        else one.settle(err(trouble));
        continue;
      }
      const found = Object.values(object(answers, alias)).find(isFields) ?? null;
      await this.#keep(one.key, found);
      one.settle(ok(found));
    }
  }

  /** Asked again in halves; a single thing with fewer inner entries. */
  #lighter(batch: readonly Waiting[], trouble: ClientTrouble): void {
    const half = Math.max(1, Math.ceil(batch.length / 2));
    for (const one of batch) {
      if (batch.length > 1) {
        one.together = Math.min(one.together, half);
        this.#waiting.push(one);
      } else this.#again(one, trouble);
    }
  }

  #again(one: Waiting, trouble: ClientTrouble): void {
    one.attempts += 1;
    if (one.attempts >= ATTEMPTS) {
      one.settle(err(trouble));
      return;
    }
    // Alone, so that it holds up nobody, and lighter, since a server that fails on it may take too long over it.
    one.together = 1;
    one.page = Math.max(SMALLEST_INNER_PAGE, Math.floor(one.page / 2));
    this.#waiting.push(one);
  }

  async #send({ query, variables }: GraphQuery, signal: AbortSignal): Promise<Result<GraphAnswer, GraphTrouble>> {
    const answer = await this.#options.client.graphql(query, variables, signal);
    if (answer.ok) {
      this.#noteCost(answer.value);
      return answer;
    }
    const { error } = answer;
    if (error.type === "absent" || error.type === "moved" || (error.type === "failed" && error.status === 405))
      return err({ type: "unsupported", message: "the server has no GraphQL API" });
    return err(error);
  }

  /** The next query will cost about as much as this one. */
  #noteCost({ data }: GraphAnswer): void {
    const rate = object(isFields(data) ? data : {}, "rateLimit");
    const { state } = this.#options;
    if (typeof rate.cost === "number" && Number.isSafeInteger(rate.cost)) state.cost = Math.max(1, rate.cost);
    const resetAt = instant(rate, "resetAt");
    // Headers say the same, where a server or a proxy in between sends them.
    if (state.left !== null || resetAt === null || typeof rate.remaining !== "number") return;
    state.left = rate.remaining;
    state.resetAt = Date.parse(resetAt);
  }

  async #kept(key: string): Promise<Fields | null | undefined> {
    const { store, refresh, now, saved } = this.#options;
    if (store === null || (refresh && !this.#fresh.has(key))) return undefined;
    const value = await store.memory.get(key).catch(() => undefined);
    if (!isFields(value) || typeof value.digest !== "string" || typeof value.at !== "number") return undefined;
    if (!this.#fresh.has(key) && now() - value.at >= BRIDGE) return undefined;
    const bytes = await store.getBytes(value.digest as Digest).catch(() => null);
    if (bytes === null) return undefined;
    // Another stage's question in the same run was never a request of its own.
    if (!this.#fresh.has(key)) saved();
    const read: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return isFields(read) ? read : null;
  }

  async #keep(key: string, found: Fields | null): Promise<void> {
    const { store, now } = this.#options;
    this.#fresh.add(key);
    if (store === null) return;
    const digest = await store.putBytes(Buffer.from(JSON.stringify(found), "utf8"));
    await store.memory.set(key, { digest, at: now() });
  }
}

function keyOf(ask: GraphAsk): string {
  const { kind, repository } = ask;
  const thing = "sha" in ask ? ask.sha : `${ask.number}`;
  return `${kind} ${repository.toLowerCase()} ${thing} ${"after" in ask && ask.after !== null ? digestJson(ask.after) : ""}`;
}

function isTooHeavy(status: number | undefined): boolean {
  return status !== undefined && status >= 500;
}

/** Something inside that nobody may read (a private pull request that names the issue) or that is gone: left out, as REST leaves it out. */
function isTolerable({ type, path }: GraphError): boolean {
  if (type === "NOT_FOUND") return true;
  return type === "FORBIDDEN" && path.length > 2;
}

const UNKNOWN_QUERY = new Set([
  "undefinedField",
  "argumentNotAccepted",
  "undefinedType",
  "parseError",
  "GRAPHQL_VALIDATION_FAILED",
]);

function troubleOf({ type, message }: GraphError): GraphTrouble {
  if (type !== null && UNKNOWN_QUERY.has(type))
    return { type: "unsupported", message: `the server's GraphQL API lacks what is asked for (${message})` };
  if (type === "FORBIDDEN" || type === "INSUFFICIENT_SCOPES") {
    return {
      type: "failed",
      again: false,
      message: `POST /graphql: access was refused (${message}); the token may lack the right to read this repository`,
    };
  }
  return {
    type: "failed",
    again: true,
    message: `POST /graphql: ${message || "an error without a message"}; run the same command again later`,
  };
}
