/**
 * Was a change taken back? GitHub's revert button makes a pull request titled `Revert "<title>"` whose body says
 * `Reverts owner/repo#N`; people write the same by hand. A revert of the revert brings the change back.
 */
import { proseOf } from "./prose.js";
import type { PullFacts } from "./timeline.js";

/** Does `later` say that it reverts `pull`? `later` lives in the same repository. */
export function saysItReverts(
  later: Pick<PullFacts, "repository" | "title" | "body">,
  pull: PullFacts,
  webHost: string,
): boolean {
  const title = later.title?.trim() ?? "";
  if (pull.title !== null && title.toLowerCase().startsWith(`revert "${pull.title.trim().toLowerCase()}"`)) return true;
  const prose = proseOf(later.body ?? "");
  const host = webHost.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_-])revert(?:s|ed|ing)?:?[ \\t]{1,8}(?:(?:pr|pull request)[ \\t]{1,8})?` +
      `(?:https?://${host}/([A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})/pull/([0-9]{1,10})|([A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})?#([0-9]{1,10}))(?![\\p{L}\\p{N}_])`,
    "giu",
  );
  for (const text of [title, prose]) {
    for (const match of text.matchAll(pattern)) {
      const repository = (match[1] ?? match[3] ?? later.repository).toLowerCase();
      if (repository === pull.repository && Number(match[2] ?? match[4]) === pull.number) return true;
    }
  }
  return false;
}
