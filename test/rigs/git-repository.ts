/** A real git repository in a temporary folder, with fixed people and dates, so that its commit ids never change. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface GitRig {
  readonly folder: string;
  /** stdout of `git args`, trimmed. */
  git(...args: string[]): string;
  write(path: string, content: string): void;
  link(path: string, target: string): void;
  remove(path: string): void;
  /** Commits everything; gives the commit's id. */
  commit(message: string): string;
}

export function gitRig(): GitRig {
  const folder = mkdtempSync(join(tmpdir(), "bench-git-"));
  let seconds = 1_700_000_000;
  const env = () => ({
    PATH: process.env.PATH ?? "",
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "A",
    GIT_AUTHOR_EMAIL: "a@example.org",
    GIT_COMMITTER_NAME: "C",
    GIT_COMMITTER_EMAIL: "c@example.org",
    GIT_AUTHOR_DATE: `${seconds} +0000`,
    GIT_COMMITTER_DATE: `${seconds} +0000`,
  });
  const rig: GitRig = {
    folder,
    git: (...args) =>
      execFileSync("git", args, { cwd: folder, env: env(), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim(),
    write: (path, content) => {
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
    },
    link: (path, target) => symlinkSync(target, join(folder, path)),
    remove: (path) => rmSync(join(folder, path)),
    commit: (message) => {
      seconds += 60;
      rig.git("add", "-A");
      rig.git("commit", "-q", "--allow-empty", "-m", message);
      return rig.git("rev-parse", "HEAD");
    },
  };
  rig.git("init", "-q", "-b", "main");
  // So that a clone of this repository by address can be a blobless one.
  rig.git("config", "uploadpack.allowFilter", "true");
  rig.git("config", "uploadpack.allowAnySHA1InWant", "true");
  return rig;
}
