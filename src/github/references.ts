/**
 * References to pull requests as the `mentions` rule reads them: in every string of an object, whatever the member is called, and
 * in every object that carries a `pull_request` member and a number.
 *
 * Three patterns, all case-insensitive, all linear: web address `/pull/N`, API address `/pulls/N`, shorthand `owner/repo#N`. A bare
 * `#12`, `GH-12` or an address of an issue is no reference here: with it the same words would mean other things in other places.
 */
import { isFields } from "./fields.js";
import type { Reference } from "./schema.js";

const OWNER_AND_NAME = "([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)";

export type ReferencePatterns = readonly { readonly how: Reference["how"]; readonly pattern: RegExp }[];

/**
 * Patterns for one server. `webHost` is where its pages are (`github.com`), `api` where it was asked; pages of github.com also name
 * api.github.com, wherever the answers come from.
 */
export function referencePatterns(webHost: string, api: string): ReferencePatterns {
  const apis = new Set([api.replace(/^https?:\/\//i, ""), ...(webHost === "github.com" ? ["api.github.com"] : [])]);
  const bases = [...apis].map(escaped).join("|");
  return [
    { how: "web-url", pattern: new RegExp(`https?://${escaped(webHost)}/${OWNER_AND_NAME}/pull/([0-9]{1,10})`, "gi") },
    { how: "api-url", pattern: new RegExp(`https?://(?:${bases})/repos/${OWNER_AND_NAME}/pulls/([0-9]{1,10})`, "gi") },
    // Begins where a name begins, so that a long run of name characters is looked at once.
    { how: "shorthand", pattern: new RegExp(`(?<![A-Za-z0-9_.-])${OWNER_AND_NAME}#([0-9]{1,10})`, "gi") },
  ];
}

/** Host of the web pages of the server that an object came from: by the object's own address, else by the API's. */
export function webHostOf(htmlUrl: string | null, api: string): string {
  if (htmlUrl !== null && htmlUrl.length < 2000) {
    try {
      return new URL(htmlUrl).host.replace(/^www\./, "");
    } catch {
      // No address: fall through.
    }
  }
  const { host } = new URL(api);
  return host === "api.github.com" ? "github.com" : host;
}

/** All references inside `value`, each pull request once, in the order met. `repository` is the one for objects that name none. */
export function referencesIn(value: unknown, repository: string, patterns: ReferencePatterns): Reference[] {
  const found = new Map<string, Reference>();
  const add = (name: string, number: number, how: Reference["how"]): void => {
    if (!Number.isSafeInteger(number) || number < 1) return;
    const reference = { repository: name.toLowerCase(), number, how };
    const key = `${reference.repository}#${number}`;
    if (!found.has(key)) found.set(key, reference);
  };
  // An explicit stack: nesting is the sender's choice, the depth of our call stack is not.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") searchText(next, patterns, add);
    else if (Array.isArray(next)) for (let i = next.length - 1; i >= 0; i--) open.push(next[i]);
    else if (isFields(next)) {
      if (next.pull_request && typeof next.number === "number") add(repositoryOf(next) ?? repository, next.number, "object");
      for (const member of Object.values(next).reverse()) open.push(member);
    }
  }
  return [...found.values()];
}

function searchText(
  text: string,
  patterns: ReferencePatterns,
  add: (name: string, number: number, how: Reference["how"]) => void,
): void {
  for (const { how, pattern } of patterns) {
    for (const match of text.matchAll(pattern)) add(`${match[1]}/${match[2]}`, Number(match[3]), how);
  }
}

/** `owner/repo` of an issue object: its `repository_url` ends in `/repos/owner/repo`. */
export function repositoryOf(issue: Readonly<Record<string, unknown>>): string | null {
  const address = issue.repository_url;
  if (typeof address === "string") {
    const match = /\/repos\/([A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+)\/?$/.exec(address.slice(-300));
    if (match) return match[1] ?? null;
  }
  const repository = issue.repository;
  const name = isFields(repository) ? repository.full_name : undefined;
  return typeof name === "string" && /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/.test(name) ? name : null;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
