/**
 * GraphQL queries of mining: what is asked of an issue, a pull request, a commit, and how many of them go into one request.
 *
 * A query is put together from asks that have nothing to do with each other, each under an alias of its own, so that one that fails leaves
 * the others alone. Values travel as variables, never as text. Each query tells its cost (`rateLimit`).
 */
import { digestJson } from "../base/json.js";

/** One thing to ask for. `after`: cursor of the page before it, for what has several pages. */
export type GraphAsk =
  | {
      readonly kind: "issue" | "issue-texts";
      readonly repository: string;
      readonly number: number;
      readonly after: string | null;
    }
  | { readonly kind: "listed-issue"; readonly repository: string; readonly number: number }
  | { readonly kind: "pull"; readonly repository: string; readonly number: number }
  | {
      readonly kind: "pull-timeline" | "pull-files" | "pull-commits";
      readonly repository: string;
      readonly number: number;
      readonly after: string | null;
    }
  | { readonly kind: "commit"; readonly repository: string; readonly sha: string };

export type GraphKind = GraphAsk["kind"];

const PULL = `fragment Pull on PullRequest {
  __typename number title body url createdAt mergedAt baseRefName baseRefOid headRefName changedFiles
  author { __typename login }
  mergeCommit { oid }
  repository { nameWithOwner defaultBranchRef { name } }
}`;

const SOURCE = `fragment Source on ReferencedSubject {
  __typename
  ... on Issue { number title body url createdAt repository { nameWithOwner } }
  ...Pull
}`;

const ISSUE_FIELDS = `fragment Listed on Issue {
  number title body url state stateReason(enableDuplicate: true) createdAt closedAt updatedAt lastEditedAt
  author { __typename login }
  labels(first: 100) { nodes { name description } }
  milestone { title description }
  comments { totalCount }
  repository { nameWithOwner }
}`;

const PAGE = "pageInfo { hasNextPage endCursor }";

const EVENTS = `__typename
  ... on ClosedEvent { createdAt stateReason closer { __typename ... on Commit { oid repository { nameWithOwner } } ...Pull } }
  ... on CrossReferencedEvent { createdAt willCloseTarget source { ...Source } }
  ... on ConnectedEvent { createdAt source { ...Source } subject { ...Source } }
  ... on DisconnectedEvent { createdAt source { ...Source } subject { ...Source } }
  ... on ReferencedEvent { createdAt commit { oid } commitRepository { nameWithOwner } }
  ... on TransferredEvent { createdAt }`;

const EVENT_TYPES = "CLOSED_EVENT CROSS_REFERENCED_EVENT CONNECTED_EVENT DISCONNECTED_EVENT REFERENCED_EVENT TRANSFERRED_EVENT";

const CLOSED_BY = `number closedByPullRequestsReferences(first: 20, includeClosedPrs: true) { nodes { ...Pull } }
  linkedByHand: closedByPullRequestsReferences(first: 20, includeClosedPrs: true, userLinkedOnly: true) { nodes { ...Pull } }`;

/** What each kind selects; `$page` is the size of inner pages, `$after` stands for the ask's own cursor. */
const SELECTIONS: Readonly<Record<GraphKind, string>> = {
  issue: `issue(number: $number) {
    ${CLOSED_BY}
    timelineItems(first: $page, after: $after, itemTypes: [${EVENT_TYPES}]) { ${PAGE} nodes { ${EVENTS} } }
  }`,
  "issue-texts": `issue(number: $number) {
    ${CLOSED_BY}
    timelineItems(first: $page, after: $after, itemTypes: [${EVENT_TYPES} ISSUE_COMMENT RENAMED_TITLE_EVENT]) {
      ${PAGE} nodes { ${EVENTS} ... on IssueComment { createdAt body } ... on RenamedTitleEvent { createdAt previousTitle currentTitle } }
    }
  }`,
  "listed-issue": "issue(number: $number) { ...Listed }",
  pull: `pullRequest(number: $number) {
    ...Pull
    timelineItems(first: $page, itemTypes: [CROSS_REFERENCED_EVENT]) { ${PAGE} nodes { ${EVENTS} } }
    files(first: 100) { ${PAGE} nodes { path additions deletions changeType } }
  }`,
  "pull-timeline": `pullRequest(number: $number) {
    timelineItems(first: $page, after: $after, itemTypes: [CROSS_REFERENCED_EVENT]) { ${PAGE} nodes { ${EVENTS} } }
  }`,
  "pull-files": `pullRequest(number: $number) { files(first: 100, after: $after) { ${PAGE} nodes { path additions deletions changeType } } }`,
  "pull-commits": `pullRequest(number: $number) { commits(first: 100, after: $after) { ${PAGE} nodes { commit { oid message } } } }`,
  commit: `object(oid: $sha) { __typename ... on Commit { oid message associatedPullRequests(first: 20) { nodes { ...Pull } } } }`,
};

const FRAGMENTS: readonly (readonly [name: string, text: string])[] = [
  ["Source", SOURCE],
  ["Pull", PULL],
  ["Listed", ISSUE_FIELDS],
];

const RATE = "rateLimit { cost remaining limit resetAt }";

/** Most asks of one request, by kind: GitHub computes an answer within ten seconds or gives none. */
export const BATCH: Readonly<Record<GraphKind, number>> = {
  issue: 25,
  "issue-texts": 25,
  "listed-issue": 50,
  pull: 25,
  "pull-timeline": 25,
  "pull-files": 25,
  "pull-commits": 25,
  commit: 50,
};
/** Events of one inner page, and the fewest that halving goes down to. */
export const INNER_PAGE = 50;
export const SMALLEST_INNER_PAGE = 5;

/** Part of a kept answer's key: another selection is another answer. */
export const QUERIES_DIGEST = digestJson([SELECTIONS, FRAGMENTS, INNER_PAGE]).slice(-12);

export interface GraphQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, string | number | null>>;
}

export function aliasOf(index: number): string {
  return `n${index}`;
}

/** One query for all `asks`, the answer to the i-th under `aliasOf(i)`. */
export function batchQuery(asks: readonly GraphAsk[], page: number): GraphQuery {
  const variables: Record<string, string | number | null> = {};
  const declared: string[] = [];
  const declare = (name: string, type: string, value: string | number | null): void => {
    declared.push(`$${name}: ${type}`);
    variables[name] = value;
  };
  const parts = asks.map((ask, index) => {
    const [owner = "", name = ""] = ask.repository.split("/");
    declare(`owner${index}`, "String!", owner);
    declare(`name${index}`, "String!", name);
    if ("number" in ask) declare(`number${index}`, "Int!", ask.number);
    if ("after" in ask) declare(`after${index}`, "String", ask.after);
    if ("sha" in ask) declare(`sha${index}`, "GitObjectID!", ask.sha);
    const selection = SELECTIONS[ask.kind].replace(/\$(number|after|sha)\b/g, (_, variable: string) => `$${variable}${index}`);
    return `${aliasOf(index)}: repository(owner: $owner${index}, name: $name${index}) { ${selection} }`;
  });
  const body = parts.join("\n");
  if (body.includes("$page")) declare("page", "Int!", page);
  return { query: withFragments(`query(${declared.join(", ")}) {\n${RATE}\n${body}\n}`), variables };
}

/** A page of closed issues, most recently updated first. */
export function listQuery(repository: string, after: string | null, size: number): GraphQuery {
  const [owner = "", name = ""] = repository.split("/");
  const query = `query($owner: String!, $name: String!, $after: String, $size: Int!) {
${RATE}
repository(owner: $owner, name: $name) {
  nameWithOwner
  issues(first: $size, after: $after, states: [CLOSED], orderBy: { field: UPDATED_AT, direction: DESC }) { ${PAGE} nodes { ...Listed } }
}
}`;
  return { query: withFragments(query), variables: { owner, name, after, size } };
}

/** A fragment that is not used makes a query invalid, so only those that are named are added. */
function withFragments(query: string): string {
  let whole = query;
  for (const [name, text] of FRAGMENTS) if (new RegExp(`\\.\\.\\.${name}\\b`).test(whole)) whole += `\n${text}`;
  return whole;
}
