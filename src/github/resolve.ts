/**
 * From an issue to its links: one timeline request, and further requests only where a decision hangs on them.
 *
 * The timeline already carries comments, cross-references with the other side's text and merge time, and the close event. What it lacks:
 * the merge commit and base of a pull request that counts (one request), which pull request a closing commit belongs to (one), the
 * messages of commits that name the issue (only while nothing better is known), and whether the change was reverted later (the pull
 * request's own timeline).
 */
import { err, ok, type Result } from "../base/result.js";
import type { LinkGrade } from "../dataset/schema.js";
import type { ClientTrouble } from "./client.js";
import {
  asLink,
  type Candidate,
  Candidates,
  closingWords,
  inMergeOrder,
  isInWindow,
  type LastClose,
  type LinkSetting,
  lastCloseOf,
  objectionsTo,
} from "./links.js";
import { type ReferencePatterns, referencesIn } from "./references.js";
import { saysItReverts } from "./reverts.js";
import { isOn, type LinkRules } from "./rules.js";
import type { IssueItem, LinksItem, Reference } from "./schema.js";
import { CLOSING_GRADES, type LinkScope, selectLinks, widestRule } from "./select.js";
import { type PullDetails, type PullFacts, pullKey, readTimeline, type TimelineFacts } from "./timeline.js";

/** What can be asked. Each gives null where the thing does not exist; other trouble is thrown as `LookupTrouble`. */
export interface Lookups {
  /** Events of an issue; of a pull request, its cross-references at least. */
  timeline(number: number, of: "issue" | "pull"): Promise<readonly unknown[] | null>;
  /** From what is known already where possible. */
  facts(repository: string, number: number): Promise<PullFacts | null>;
  details(repository: string, number: number): Promise<PullDetails | null>;
  /** Commits of a pull request (at most 250, as GitHub gives). */
  commits(number: number): Promise<readonly { readonly sha: string | null; readonly message: string }[] | null>;
  commit(sha: string): Promise<{ readonly message: string } | null>;
  pullsOfCommit(sha: string): Promise<readonly PullDetails[] | null>;
}

/** Ends a resolution; caught at its border. */
export class LookupTrouble extends Error {
  readonly trouble: ClientTrouble;
  constructor(trouble: ClientTrouble) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

export interface ResolveOptions {
  readonly scope: LinkScope;
  readonly patterns: ReferencePatterns;
  /** Host of web addresses: `github.com`. */
  readonly webHost: string;
  readonly curated: readonly { readonly pull: string; readonly why: string }[];
  readonly rules: LinkRules;
}

/** Bounds what one issue may cost where nothing clear is found: an issue that a hundred commits name is a tracker, not a bug. */
const MOST_SEARCHED = 10;
const DEEPEST_REVERT = 4;
const WITNESSED: ReadonlySet<LinkGrade> = new Set<LinkGrade>(["keyword", "commit", "manual"]);

export async function resolveLinks(
  issue: IssueItem,
  look: Lookups,
  options: ResolveOptions,
): Promise<Result<LinksItem, ClientTrouble>> {
  try {
    return ok(await new Resolution(issue, look, options).run());
  } catch (error) {
    if (error instanceof LookupTrouble) return err(error.trouble);
    throw error;
  }
}

class Resolution {
  readonly #issue: IssueItem;
  readonly #look: Lookups;
  readonly #options: ResolveOptions;
  readonly #repository: string;
  readonly #candidates = new Candidates();
  readonly #dropped: LinksItem["dropped"] = [];
  readonly #notes: string[] = [];
  #setting: LinkSetting;

  constructor(issue: IssueItem, look: Lookups, options: ResolveOptions) {
    this.#issue = issue;
    this.#look = look;
    this.#options = options;
    this.#repository = issue.repository.toLowerCase();
    this.#setting = { issue, close: { at: null, commit: null, reason: null }, rules: options.rules, transferred: false };
  }

  get #close(): LastClose {
    return this.#setting.close;
  }

  async run(): Promise<LinksItem> {
    const { scope } = this.#options;
    const events = await this.#look.timeline(this.#issue.number, "issue");
    if (events === null) {
      this.#dropped.push({
        rule: "issue-gone",
        what: "the issue was deleted or transferred to another repository",
        item: this.#issue.id,
      });
    }
    const facts = readTimeline(events ?? [], this.#repository);
    this.#setting = { ...this.#setting, close: lastCloseOf(this.#issue, facts), transferred: facts.transferredIn };
    if (events !== null) {
      this.#fromTimeline(facts);
      await this.#fromCuration();
      if (scope !== "closing") await this.#fromReferences(events);
      if (scope !== "mentions") await this.#decideClosing(facts);
    }
    return this.#item();
  }

  #fromTimeline(facts: TimelineFacts): void {
    for (const pull of facts.pulls) {
      const candidate = this.#candidates.add(pull, "mention", "the pull request cross-references the issue");
      this.#readBody(candidate);
    }
    for (const pull of facts.connected) this.#candidates.add(pull, "manual", "connected with the issue by hand");
    if (this.#options.scope !== "mentions") {
      for (const { pull, evidence } of facts.stated) this.#readBody(this.#candidates.add(pull, "platform", evidence));
    }
    if (facts.unnamedConnections > 0) {
      this.#notes.push("a pull request was connected by hand, and the REST API does not say which");
    }
    if (facts.transferredIn) this.#notes.push("the issue was transferred here from another repository");
  }

  #readBody(candidate: Candidate): void {
    const { pull } = candidate;
    const issue = { repository: this.#repository, number: this.#issue.number };
    const words = closingWords(pull.body ?? "", "prose", pull.repository, issue, this.#options.webHost);
    if (words !== null) this.#candidates.add(pull, "keyword", `the pull request's text says ${JSON.stringify(words)}`);
  }

  async #fromCuration(): Promise<void> {
    for (const { pull: name, why } of this.#options.curated) {
      const { repository, number } = referenceOf(name);
      const known = this.#candidates.get(`${repository}#${number}`)?.pull ?? (await this.#look.facts(repository, number));
      if (known === null)
        this.#dropped.push({
          rule: "not-a-pull-request",
          what: `${name}, named by the recording's makers, is not in it`,
          item: name,
        });
      else this.#candidates.add(known, "curated", `stated by the makers of the recording: ${why}`);
    }
  }

  /** Every pull request that any text or object of the thread names. */
  async #fromReferences(events: readonly unknown[]): Promise<void> {
    // Without a closing date the `mentions` rule keeps nothing, whatever is named.
    if (this.#options.scope === "mentions" && this.#issue.closed_at === null) return;
    const references = new Map<string, Reference>();
    for (const reference of [...this.#issue.references, ...referencesIn(events, this.#repository, this.#options.patterns)]) {
      const key = pullKey(reference);
      if (!references.has(key)) references.set(key, reference);
    }
    for (const [key, reference] of references) {
      if (key === `${this.#repository}#${this.#issue.number}`) continue;
      const known = this.#candidates.get(key);
      const pull =
        known !== undefined && known.pull.merged_at !== undefined
          ? known.pull
          : await this.#look.facts(reference.repository, reference.number);
      if (pull === null) {
        this.#dropped.push({
          rule: "not-a-pull-request",
          what: `${key} is named (${reference.how}) and is no pull request that can be read`,
          item: key,
        });
      } else {
        this.#candidates.add(pull, "mention", `named in the issue, its comments or its events (${reference.how})`);
      }
    }
  }

  async #decideClosing(facts: TimelineFacts): Promise<void> {
    for (const candidate of this.#candidates.all()) {
      // Servers that do not tell merge times in events (old GitHub Enterprise).
      if (this.#isOwn(candidate) && candidate.pull.merged_at === undefined) await this.#complete(candidate);
    }
    // A reference found in a text says nothing of the pull request's own words; here every grade must be decided.
    if (this.#options.scope === "both") {
      for (const candidate of this.#candidates.all()) {
        if (this.#isOwn(candidate) && candidate.pull.merged_at != null) await this.#complete(candidate);
      }
    }
    for (const candidate of this.#candidates.all()) {
      const counts = [...candidate.grades].some((grade) => grade !== "mention");
      if (counts && this.#isOwn(candidate) && candidate.pull.merged_at != null) await this.#complete(candidate);
    }
    if (this.#close.commit !== null) await this.#matchCloseCommit(this.#close.commit);
    if (!this.#hasClosing()) await this.#searchCommitMessages(facts);
    for (const candidate of this.#candidates.all()) {
      if (!isOn(this.#options.rules, "reverted") || candidate.pull.repository !== this.#repository) continue;
      if (!this.#isClosing(candidate) || this.#objections(candidate).some(({ rule }) => rule !== "backport")) continue;
      const revert = await this.#revertOf(candidate.pull, facts.pulls, new Set(), 0);
      if (revert !== null) candidate.revertedBy = pullKey(revert);
    }
  }

  /** Which pull request does the close event's commit belong to? */
  async #matchCloseCommit(commit: string): Promise<void> {
    const short = commit.slice(0, 10);
    const byMerge = this.#candidates.all().find((candidate) => candidate.details?.merge_commit_sha === commit);
    if (byMerge !== undefined)
      return this.#namedByClose(byMerge.pull, `the close event names commit ${short}, the pull request's merge commit`);
    const pulls = await this.#look.pullsOfCommit(commit);
    const own = (pulls ?? []).filter((pull) => pull.repository === this.#repository && pull.merged_at !== null);
    for (const details of own) {
      const what = details.merge_commit_sha === commit ? "the pull request's merge commit" : "one of the pull request's commits";
      this.#namedByClose(details, `the close event names commit ${short}, ${what}`);
      const candidate = this.#candidates.get(pullKey(details));
      if (candidate !== undefined) candidate.details ??= details;
    }
    if (own.length > 0) return;
    // The server does not know (or does not offer that question): ask the merged pull requests that name the issue.
    for (const candidate of this.#searchable()) {
      await this.#complete(candidate);
      if (candidate.details?.merge_commit_sha === commit) {
        return this.#namedByClose(candidate.pull, `the close event names commit ${short}, the pull request's merge commit`);
      }
      const commits = await this.#look.commits(candidate.pull.number);
      if (commits?.some(({ sha }) => sha === commit)) {
        return this.#namedByClose(candidate.pull, `the close event names commit ${short}, one of the pull request's commits`);
      }
    }
  }

  #namedByClose(pull: PullFacts, evidence: string): void {
    this.#candidates.add(pull, "commit", evidence).namedByClose = true;
  }

  /** Closing words in commit messages, read raw. A commit that names the issue leaves a `referenced` event: without one there is nothing to find. */
  async #searchCommitMessages(facts: TimelineFacts): Promise<void> {
    if (facts.commits.length === 0) return;
    const naming = new Set(facts.commits);
    for (const candidate of this.#searchable()) {
      await this.#complete(candidate);
      const merge = candidate.details?.merge_commit_sha ?? null;
      if (merge !== null && naming.has(merge)) {
        const commit = await this.#look.commit(merge);
        if (commit !== null && this.#readMessage(candidate.pull, merge, commit.message)) continue;
      }
      for (const { sha, message } of (await this.#look.commits(candidate.pull.number)) ?? []) {
        if (sha !== null) naming.delete(sha);
        if (this.#readMessage(candidate.pull, sha ?? "", message)) break;
      }
      if (merge !== null) naming.delete(merge);
    }
    if (this.#hasClosing()) return;
    for (const sha of [...naming].slice(-MOST_SEARCHED)) {
      const commit = await this.#look.commit(sha);
      if (commit === null || this.#wordsIn(commit.message) === null) continue;
      for (const details of (await this.#look.pullsOfCommit(sha)) ?? []) {
        if (details.repository !== this.#repository || details.merged_at === null) continue;
        this.#readMessage(details, sha, commit.message);
        const candidate = this.#candidates.get(pullKey(details));
        if (candidate !== undefined) candidate.details ??= details;
      }
    }
  }

  #wordsIn(message: string): string | null {
    const issue = { repository: this.#repository, number: this.#issue.number };
    return closingWords(message, "raw", this.#repository, issue, this.#options.webHost);
  }

  #readMessage(pull: PullFacts, sha: string, message: string): boolean {
    const words = this.#wordsIn(message);
    if (words === null) return false;
    this.#candidates.add(pull, "keyword", `commit ${sha.slice(0, 10)} of the pull request says ${JSON.stringify(words)}`);
    return true;
  }

  /** The merged pull request that reverts `pull` and was not itself reverted. */
  async #revertOf(pull: PullFacts, alsoLook: readonly PullFacts[], seen: Set<string>, depth: number): Promise<PullFacts | null> {
    if (depth >= DEEPEST_REVERT || seen.has(pullKey(pull))) return null;
    seen.add(pullKey(pull));
    const events = await this.#look.timeline(pull.number, "pull");
    const naming = new Map<string, PullFacts>();
    for (const other of [...alsoLook, ...readTimeline(events ?? [], this.#repository).pulls]) naming.set(pullKey(other), other);
    for (const later of naming.values()) {
      if (later.repository !== this.#repository || later.number === pull.number) continue;
      const merged = Date.parse(later.merged_at ?? "");
      if (Number.isNaN(merged) || merged < Date.parse(pull.merged_at ?? "")) continue;
      if (!saysItReverts(later, pull, this.#options.webHost)) continue;
      if ((await this.#revertOf(later, [...naming.values()], seen, depth + 1)) === null) return later;
    }
    return null;
  }

  async #complete(candidate: Candidate): Promise<void> {
    if (candidate.details !== null) return;
    const { repository, number } = candidate.pull;
    const details = await this.#look.details(repository, number);
    if (details === null) return;
    candidate.details = details;
    const bodyWasUnknown = candidate.pull.body === undefined;
    candidate.pull = { ...details, repository, ...(bodyWasUnknown ? {} : { body: candidate.pull.body ?? null }) };
    if (bodyWasUnknown) this.#readBody(candidate);
  }

  /** Merged pull requests of this repository, in the window, that only name the issue: newest first, since the last one is the likeliest fix. */
  #searchable(): Candidate[] {
    return this.#candidates
      .all()
      .filter(({ pull }) => pull.repository === this.#repository && pull.merged_at != null)
      .filter(
        (candidate) =>
          !this.#options.rules.time_window || isInWindow(this.#issue, this.#close, { ...candidate, namedByClose: true }),
      )
      .sort((a, b) => Date.parse(b.pull.merged_at ?? "") - Date.parse(a.pull.merged_at ?? ""))
      .slice(0, MOST_SEARCHED);
  }

  /** A pull request that may count: of this repository, or of any where that rule is off. */
  #isOwn(candidate: Candidate): boolean {
    return candidate.pull.repository === this.#repository || !this.#options.rules.same_repository;
  }

  #isClosing(candidate: Candidate): boolean {
    return CLOSING_GRADES.some((grade) => candidate.grades.has(grade)) || candidate.grades.has("manual");
  }

  /**
   * A link that texts and events show. What only GitHub itself states does not end the search: GraphQL's links then hold all of REST's,
   * which sees no such statement and searches on.
   */
  #hasClosing(): boolean {
    return this.#candidates
      .all()
      .some(
        ({ grades, ...rest }) =>
          [...grades].some((grade) => WITNESSED.has(grade)) && this.#objections({ grades, ...rest }).length === 0,
      );
  }

  #objections(candidate: Candidate): LinksItem["links"][number]["objections"] {
    return objectionsTo(this.#setting, candidate);
  }

  #item(): LinksItem {
    const { scope } = this.#options;
    const links = inMergeOrder(this.#candidates.all().map((candidate) => asLink(this.#setting, candidate, scope !== "mentions")));
    const wanted = new Set(
      selectLinks({ id: this.#issue.id, links }, { closed_at: this.#issue.closed_at }, widestRule(scope)).links.map(
        ({ pull }) => pull,
      ),
    );
    return {
      id: this.#issue.id,
      issue: { repository: this.#repository, number: this.#issue.number },
      api_url: this.#issue.api_url,
      recorded: this.#issue.recorded,
      scope,
      last_close: { at: this.#close.at, commit: this.#close.commit },
      // A backport may be all that a narrower rule leaves.
      links: links.map((link) => ({ ...link, wanted: wanted.has(link.pull) || isBackportOnly(link) })),
      dropped: this.#dropped,
      notes: this.#notes,
    };
  }
}

function isBackportOnly({ merged_at, objections }: LinksItem["links"][number]): boolean {
  return merged_at !== null && objections.length > 0 && objections.every(({ rule }) => rule === "backport");
}

function referenceOf(pull: string): { repository: string; number: number } {
  const hash = pull.lastIndexOf("#");
  return { repository: pull.slice(0, hash).toLowerCase(), number: Number(pull.slice(hash + 1)) };
}
