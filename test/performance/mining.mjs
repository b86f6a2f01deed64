// Part of `npm run bench`: what mining 200 issues asks of GitHub, counted at a server that answers from a recording: requests and bytes.
// Each issue is closed by a pull request of three files. Counts are exact, so there are no medians.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { cli, root } from "./measure.mjs";

const ISSUES = 200;

export async function mining(folder) {
  const [{ recordingSchema }, { recordingServer }] = await Promise.all(
    ["recording.js", "recording-server.js"].map((name) => import(join(root, "dist", "github", name))),
  );
  const seen = { requests: 0, bytes: 0, paths: new Map() };
  let answer = () => ({ status: 500, headers: {}, body: "" });
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { status, headers, body } = answer({
        method: request.method,
        url: `${base()}${request.url}`,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      seen.requests += 1;
      seen.bytes += Buffer.byteLength(body);
      const kind = request.url
        .split("?")[0]
        .replace(/\d+/g, "N")
        .replace(/[0-9a-f]{40}/g, "SHA");
      seen.paths.set(kind, (seen.paths.get(kind) ?? 0) + 1);
      response.writeHead(status, headers);
      response.end(body);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = () => `http://127.0.0.1:${server.address().port}`;
  answer = recordingServer(recordingSchema.parse(recording()), { api: base() });
  try {
    for (const api of ["rest", "graphql"]) {
      Object.assign(seen, { requests: 0, bytes: 0, paths: new Map() });
      const project = join(folder, `mine-${api}`);
      mkdirSync(join(project, "pipelines"), { recursive: true });
      const run = await ended(
        spawn(
          process.execPath,
          [
            cli,
            "mine",
            "o/r",
            "--api",
            api,
            "--github-url",
            base(),
            "--issue-limit",
            String(ISSUES),
            "--links",
            "closing",
            "--quiet",
            "--json",
          ],
          { cwd: project, env: { ...process.env, GITHUB_TOKEN: "none" } },
        ),
      );
      if (run.status !== 0) {
        console.log(`mining, ${ISSUES} issues by ${api}: not offered here, or not by this server (exit ${run.status})`);
        continue;
      }
      console.log(
        `mining, ${ISSUES} issues by ${api}: ${seen.requests} requests, ${seen.bytes} bytes of answers; ${(seen.requests / ISSUES).toFixed(2)} requests per issue`,
      );
      for (const [path, count] of [...seen.paths].toSorted(([, a], [, b]) => b - a))
        console.log(`  ${String(count).padStart(5)} ${path}`);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function ended(child) {
  child.stdout.resume();
  child.stderr.resume();
  return new Promise((resolve) => child.on("close", (status) => resolve({ status })));
}

function recording() {
  const at = (day) => new Date(Date.UTC(2024, 0, day)).toISOString();
  const sha = (n) => n.toString(16).padStart(40, "0");
  const numbers = Array.from({ length: ISSUES }, (_, index) => index + 1);
  return {
    ...{ format: "bench-github-recording", version: 1, recorded_at: at(31) },
    repository: { full_name: "o/r", default_branch: "main" },
    issues: numbers.map((number) => ({
      ...{
        number,
        title: `Issue ${number}`,
        body: "words ".repeat(80),
        state: "closed",
        state_reason: "completed",
        created_at: at(1),
        closed_at: at(20),
      },
      timeline: [
        { event: "cross-referenced", created_at: at(10), source: { repository: "o/r", number: 1000 + number } },
        { event: "closed", created_at: at(20) },
      ],
    })),
    pulls: numbers.map((number) => ({
      ...{
        number: 1000 + number,
        title: `Change ${number}`,
        body: `Fixes #${number}`,
        state: "closed",
        created_at: at(2),
        closed_at: at(10),
        merged_at: at(10),
      },
      ...{ merge_commit_sha: sha(5000 + number), base: { ref: "main", sha: sha(number) } },
      files: [1, 2, 3].map((file) => ({
        filename: `src/F${(number * file) % 90}.java`,
        status: "modified",
        additions: 3,
        deletions: 1,
      })),
    })),
    ...{ foreign_pulls: [], curated_links: [] },
  };
}
