/**
 * `https://github.com/{repository}`: one address for the cases of many repositories, each of which is cloned once.
 *
 * The name comes from a data set, thus from strangers, and becomes part of an address or a path: only what GitHub lets a repository be
 * called is put in, so that it can't climb out of a folder, name another host or become an option.
 */
import { err, type Result } from "../base/result.js";
import { type GitPlace, parsePlace } from "./git.js";

const PLACEHOLDER = "{repository}";

export function isPerRepository(address: string): boolean {
  return address.includes(PLACEHOLDER);
}

/** `owner/name` of letters, digits, `.`, `_`, `-`; neither part is `.` or `..`, or begins with `-`. */
export function isRepositoryName(name: string): boolean {
  const parts = name.split("/");
  return parts.length === 2 && parts.every((part) => /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}$/.test(part) && !/^\.{1,2}$/.test(part));
}

/** The place that an address with `{repository}` means for this one; `repository` null = the case names none. */
export function placeOfRepository(address: string, repository: string | null, baseFolder: string): Result<GitPlace, string> {
  if (!isPerRepository(address)) return parsePlace(address, baseFolder);
  if (repository === null) return err(`the address ${address} needs the case's repository, and the data set does not say it`);
  if (!isRepositoryName(repository))
    return err(`${JSON.stringify(repository.slice(0, 100))} is no name of a repository (owner/name)`);
  return parsePlace(address.replaceAll(PLACEHOLDER, repository), baseFolder);
}
