/** `bench mine` by one API or the other against local servers; every server's exchanges must be ones that GitHub's published descriptions allow. */
import { expect } from "vitest";
import type { OptionValue } from "../../src/cli/contract.js";
import type { Recording } from "../../src/github/recording.js";
import { GitHubServer, type GitHubServerOptions } from "./github-server.js";
import { type MinedFile, MineRig, withoutTime } from "./mine-rig.js";

const TOKEN = "ghp_thisMustNeverBeSeen1234567890";

export class ApiRigs {
  readonly #rigs: MineRig[] = [];
  readonly #servers: GitHubServer[] = [];

  /** After each test. */
  async end(): Promise<void> {
    const closed = this.#servers.splice(0);
    await Promise.all(closed.map((server) => server.close()));
    for (const rig of this.#rigs.splice(0)) rig.remove();
    expect([...new Set(closed.flatMap(({ mistakes }) => mistakes))].slice(0, 10)).toEqual([]);
  }

  rig(token: string | null = TOKEN): MineRig {
    const rig = token === null ? new MineRig() : new MineRig(token);
    this.#rigs.push(rig);
    return rig;
  }

  async serve(recording: Recording, options: GitHubServerOptions = {}): Promise<GitHubServer> {
    const server = await GitHubServer.start(recording, { token: TOKEN, ...options });
    this.#servers.push(server);
    return server;
  }

  async mineBy(api: string, server: GitHubServer, more: Readonly<Record<string, OptionValue>> = {}, repo = "O/R") {
    const rig = this.rig();
    const from = server.requests.length;
    const result = await rig.json([repo], { "github-url": server.url, "issue-limit": "0", api, ...more });
    expect([result.exit, result.stderr]).toEqual([0, expect.any(String)]);
    const text = withoutTime(rig.read(result.repositories[0]?.file ?? ""));
    return { rig, result, text, file: JSON.parse(text) as MinedFile, requests: server.requests.slice(from) };
  }
}
