/** Links to files on code hosts: the path inside the repository, without branch and anchor. */

/** Branch names that are usually followed by a second segment (`feature/x`): the path may then start one or two segments later. */
const FOLDED_REFS =
  /^(?:feature|features|feat|fix|bugfix|hotfix|release|releases|refs|heads|tags|user|users|dependabot|renovate)$/i;

/**
 * Paths that a blob URL of a code host points at, most likely first; null for any other URL (a home page, an issue).
 * The branch is one segment unless its first word is one of those that teams use as folders of branches.
 */
export function blobPath(url: string): readonly string[] | null {
  const clean = decode(url.replace(/[?#].*$/su, ""));
  const segments = clean.replace(/^[a-z]+:\/\//i, "").split("/");
  const host = (segments[0] ?? "").toLowerCase();
  let start = -1;
  if (host === "raw.githubusercontent.com") {
    // owner / repository / ref / path
    start = 4;
  } else {
    const mark = segments.findIndex((segment, at) => at >= 2 && (segment === "blob" || segment === "raw" || segment === "blame"));
    if (mark > 0) start = mark + 2;
    // Gitea and Forgejo: owner/repository/src/branch/<ref>/path
    const src = segments.findIndex((segment, at) => at === 3 && segment === "src");
    if (mark < 0 && src > 0 && /^(?:branch|commit|tag)$/.test(segments[src + 1] ?? "")) start = src + 3;
  }
  if (start < 0 || start >= segments.length) return null;
  const paths = [segments.slice(start).join("/")];
  if (FOLDED_REFS.test(segments[start - 1] ?? "")) {
    for (const skip of [1, 2]) {
      if (start + skip < segments.length) paths.push(segments.slice(start + skip).join("/"));
    }
  }
  return paths.filter((path) => path !== "").map((path) => path.replace(/:\d{1,7}$/, ""));
}

function decode(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
