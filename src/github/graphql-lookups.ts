/** What the resolution of links asks for, answered by GraphQL. Each answer comes in the shape that REST gives it. */
import { type Fields, isFields, object, text } from "./fields.js";
import type { GraphBatches, GraphTrouble } from "./graphql-batch.js";
import { eventOf, fileObject, nextCursor, nodesOf, pullOfNode, pullsWithin, statedEvents } from "./graphql-facts.js";
import type { GraphAsk } from "./graphql-queries.js";
import type { Lookups } from "./resolve.js";
import { type PullDetails, type PullFacts, pullKey } from "./timeline.js";

/** As many pages as REST is asked for. */
const MOST_TIMELINE_PAGES = 600;
const MOST_COMMIT_PAGES = 3;
const MOST_FILE_PAGES = 30;

/** Ends a resolution whose answers do not come. */
export class GraphTroubleError extends Error {
  readonly trouble: GraphTrouble;
  constructor(trouble: GraphTrouble) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

export interface GraphLookupOptions {
  /** `owner/repo` of the issues, as GitHub spells it. */
  readonly repository: string;
  /** Comments and changed titles too: for rules that read every text. */
  readonly texts: boolean;
  readonly known: (repository: string, number: number) => Promise<PullFacts | "issue" | undefined>;
  /** Told of every pull request that an answer carries. */
  readonly learn: (pulls: readonly PullFacts[]) => Promise<void>;
  readonly signal: AbortSignal;
}

export function graphLookups(graph: GraphBatches, options: GraphLookupOptions): Lookups {
  const { repository, signal } = options;
  const home = repository.toLowerCase();
  const carried = new Map<string, PullDetails>();
  const load = async (ask: GraphAsk): Promise<Fields | null> => {
    const loaded = await graph.load(ask, signal);
    if (!loaded.ok) throw new GraphTroubleError(loaded.error);
    for (const pull of pullsWithin(loaded.value)) carried.set(pullKey(pull), pull);
    return loaded.value;
  };
  const details = async (of: string, number: number): Promise<PullDetails | null> => {
    const known = carried.get(`${of}#${number}`);
    if (known !== undefined) return known;
    const node = await load({ kind: "pull", repository: of === home ? repository : of, number });
    const pull = node === null ? null : pullOfNode(node);
    if (pull !== null) await options.learn([pull]);
    return pull;
  };
  return {
    details,
    timeline: async (number, of) => {
      const events = of === "pull" ? await pullEvents(load, repository, number) : await issueEvents(load, options, number);
      if (events !== null) await options.learn([...carried.values()]);
      return events;
    },
    facts: async (of, number) => {
      const known = carried.get(`${of}#${number}`) ?? (await options.known(of, number));
      if (known === "issue") return null;
      const found = known ?? (await details(of, number));
      if (found === null) return null;
      // Without its text, as whoever asks for facts expects: a text that was not asked for is read where it is.
      const { title, url, created_at, merged_at, bot } = found;
      return { repository: of, number, title, url, created_at, merged_at, bot };
    },
    commits: async (number) => {
      const nodes = await paged(load, { kind: "pull-commits", repository, number }, "commits", MOST_COMMIT_PAGES);
      return (
        nodes?.nodes.map((node) => {
          const commit = object(node, "commit");
          return { sha: text(commit, "oid"), message: text(commit, "message") ?? "" };
        }) ?? null
      );
    },
    commit: async (sha) => {
      const node = await load({ kind: "commit", repository, sha });
      return node === null || node.__typename !== "Commit" ? null : { message: text(node, "message") ?? "" };
    },
    pullsOfCommit: async (sha) => {
      const node = await load({ kind: "commit", repository, sha });
      if (node === null) return null;
      const pulls = nodesOf(node, "associatedPullRequests").flatMap((pull) => pullOfNode(pull) ?? []);
      // REST's list does not tell it: the same facts make the same keys.
      return pulls.map((pull) => ({ ...pull, changed_files: null }));
    },
  };
}

type Load = (ask: GraphAsk) => Promise<Fields | null>;

async function issueEvents(load: Load, { repository, texts }: GraphLookupOptions, number: number): Promise<Fields[] | null> {
  const kind = texts ? "issue-texts" : "issue";
  const first = await load({ kind, repository, number, after: null });
  // Another number: it was transferred, and is another repository's now.
  if (first === null || first.number !== number) return null;
  // What is stated comes first: whatever the events tell of the same pull request is told later and kept.
  const events = [...statedEvents(first), ...timelineOf(first)];
  let after = nextCursor(first, "timelineItems");
  for (let page = 2; after !== null && page <= MOST_TIMELINE_PAGES; page++) {
    const next: Fields | null = await load({ kind, repository, number, after });
    if (next === null) break;
    events.push(...timelineOf(next));
    const cursor = nextCursor(next, "timelineItems");
    after = cursor === after ? null : cursor;
  }
  return events;
}

async function pullEvents(load: Load, repository: string, number: number): Promise<Fields[] | null> {
  const first = await load({ kind: "pull", repository, number });
  if (first === null) return null;
  const events = timelineOf(first);
  const after = nextCursor(first, "timelineItems");
  if (after === null) return events;
  const rest = await paged(load, { kind: "pull-timeline", repository, number }, "timelineItems", MOST_TIMELINE_PAGES, after);
  return [...events, ...eventsOf(rest?.nodes ?? [])];
}

function timelineOf(thread: Fields): Fields[] {
  return eventsOf(nodesOf(thread, "timelineItems"));
}

function eventsOf(nodes: readonly Fields[]): Fields[] {
  return nodes.map(eventOf).filter((event) => event !== null);
}

interface Paged {
  readonly nodes: Fields[];
  /** True where `most` pages ended it. */
  readonly cut: boolean;
}

async function paged(
  load: Load,
  ask: { readonly kind: "pull-timeline" | "pull-files" | "pull-commits"; readonly repository: string; readonly number: number },
  connection: string,
  most: number,
  from: string | null = null,
): Promise<Paged | null> {
  const nodes: Fields[] = [];
  let after = from;
  for (let page = 1; ; page++) {
    const found: Fields | null = await load({ ...ask, after });
    if (found === null) return page === 1 && from === null ? null : { nodes, cut: true };
    nodes.push(...nodesOf(found, connection));
    const next = nextCursor(found, connection);
    if (next === null) return { nodes, cut: false };
    if (page >= most || next === after) return { nodes, cut: true };
    after = next;
  }
}

export interface GraphFiles {
  /** As REST lists them, but without former paths. */
  readonly files: readonly Fields[];
  readonly cut: boolean;
}

/** The files of a pull request, or null where it is gone. Throws `GraphTroubleError`. */
export async function graphFiles(
  graph: GraphBatches,
  repository: string,
  number: number,
  signal: AbortSignal,
): Promise<GraphFiles | null> {
  const load: Load = async (ask) => {
    const loaded = await graph.load(ask, signal);
    if (!loaded.ok) throw new GraphTroubleError(loaded.error);
    return loaded.value;
  };
  // The question that the resolution of links asked already, so that its answer is there.
  const pull = await load({ kind: "pull", repository, number });
  if (pull === null || !isFields(pull.files)) return null;
  const first = nodesOf(pull, "files");
  const after = nextCursor(pull, "files");
  if (after === null) return { files: first.map(fileObject), cut: false };
  const rest = await paged(load, { kind: "pull-files", repository, number }, "files", MOST_FILE_PAGES - 1, after);
  return { files: [...first, ...(rest?.nodes ?? [])].map(fileObject), cut: rest?.cut ?? true };
}
