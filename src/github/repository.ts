/**
 * Which repository is meant: slugs and the addresses that people copy (browser, clone box, CI logs), on github.com or on a
 * GitHub Enterprise host.
 */
import { err, ok, type Result } from "../base/result.js";

export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
  /** `owner/name` as typed. */
  readonly slug: string;
  /** Host of an address other than github.com, which then is a GitHub Enterprise server; null for slugs and github.com. */
  readonly enterpriseHost: string | null;
}

const PUBLIC_API = "https://api.github.com";

/** Hosts of other services, where an address can't be meant for us. */
const OTHER_SERVICES = new Set(["gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com", "sr.ht", "git.sr.ht"]);
const NAME = /^[A-Za-z0-9_.-]{1,100}$/;

/**
 * `owner/name`, `https://HOST/owner/name[.git][/tree/...]`, `ssh://git@HOST[:port]/owner/name.git`, `git@HOST:owner/name.git`.
 * The error is one sentence that says what would be right.
 */
export function parseRepository(typed: string): Result<RepositoryName, string> {
  const trimmed = typed.trim();
  if (trimmed === "" || trimmed.length > 1000) return err(notValid(typed));
  if (/^[a-z][a-z+]*:\/\//i.test(trimmed)) return fromUrl(trimmed, typed);
  const scp = /^(?:[A-Za-z0-9_.-]{1,100}@)([A-Za-z0-9.-]{1,253}):\/?(.*)$/.exec(trimmed);
  if (scp) return fromParts(scp[1] ?? "", (scp[2] ?? "").split("/"), typed);
  // `github.com/owner/name`, as browsers show it.
  const parts = trimmed.replace(/\/+$/, "").split("/");
  if (parts.length >= 3 && /^(?:www\.)?github\.com$/i.test(parts[0] ?? "")) return fromParts("github.com", parts.slice(1), typed);
  if (parts.length !== 2) return err(notValid(typed));
  return fromParts("github.com", parts, typed);
}

/** The repository without whatever else stood in what was typed (a password, a branch): what may be stored and shown. */
export function repositoryAddress({ slug, enterpriseHost }: RepositoryName): string {
  return enterpriseHost === null ? slug : `https://${enterpriseHost}/${slug}`;
}

function fromUrl(address: string, typed: string): Result<RepositoryName, string> {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return err(notValid(typed));
  }
  if (!["http:", "https:", "ssh:", "git:", "git+ssh:", "git+https:"].includes(url.protocol)) return err(notValid(typed));
  const secure = url.protocol === "http:" || url.protocol === "https:";
  return fromParts(secure ? url.host : url.hostname, url.pathname.split("/").slice(1), typed);
}

function fromParts(host: string, parts: readonly string[], typed: string): Result<RepositoryName, string> {
  const owner = parts[0] ?? "";
  const name = (parts[1] ?? "").replace(/\.git$/i, "");
  if (!isName(owner) || !isName(name)) return err(notValid(typed));
  const where = host.toLowerCase();
  if (OTHER_SERVICES.has(where))
    return err(`${shown(typed)} lies on ${where}, which is not a GitHub server: give owner/name of a GitHub repository`);
  const isPublic =
    where === "github.com" || where === "www.github.com" || where === "api.github.com" || where === "ssh.github.com";
  return ok({ owner, name, slug: `${owner}/${name}`, enterpriseHost: isPublic ? null : where });
}

function isName(text: string): boolean {
  return NAME.test(text) && text !== "." && text !== "..";
}

function notValid(typed: string): string {
  return `${shown(typed)} is not a valid repository: give owner/name, or its address such as https://github.com/owner/name`;
}

function shown(typed: string): string {
  // An address may carry a password (https://user:token@host): what stands before the @ is never shown.
  return JSON.stringify(typed.slice(0, 200).replace(/\/\/[^/@]*@/, "//"));
}

/**
 * Base address of the REST API. `githubUrl` wins and is taken as it is (`https://host/api/v3`), but for github.com itself, whose
 * API lives elsewhere.
 */
export function apiUrl(repository: Pick<RepositoryName, "enterpriseHost">, githubUrl?: string): Result<string, string> {
  if (githubUrl === undefined || githubUrl.trim() === "") {
    return ok(repository.enterpriseHost === null ? PUBLIC_API : `https://${repository.enterpriseHost}/api/v3`);
  }
  let url: URL;
  try {
    url = new URL(githubUrl.trim());
  } catch {
    return err(`github_url is no address: give for example https://github.example.com/api/v3`);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return err("github_url must begin with https:// or http://");
  if (url.username !== "" || url.password !== "")
    return err("github_url must not contain a user or a password: put the token into GITHUB_TOKEN");
  if (/^(?:www\.|api\.)?github\.com$/i.test(url.hostname)) return ok(PUBLIC_API);
  return ok(`${url.origin}${url.pathname.replace(/\/+$/, "")}`);
}
