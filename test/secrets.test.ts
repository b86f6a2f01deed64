/**
 * A token of every known shape through every channel (variable, file, command line, address, what a server quotes in an error, a child's error output, what
 * a module throws), and then a look for it in all that is written or said: cache, journal, records, reports of every format, bundle, terminal.
 */

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bench, folderWith } from "./rigs/bench-command.js";
import { everythingIn } from "./rigs/everything.js";

/** Letters that look random; put together here, so that no file of the project holds anything of a token's shape. */
const random = (length: number) => "q7Zk2Rw9Xb4Tn6Vc1Md8Ls3Pf5Hj0GyAeUiOaBdCtEvFxNz".repeat(8).slice(0, length);
const SHAPES: Readonly<Record<string, string>> = {
  GITHUB_TOKEN: `${"gh"}p_${random(36)}`,
  OPENAI_API_KEY: `${"sk"}-proj-${random(60)}`,
  ANTHROPIC_API_KEY: `${"sk"}-ant-api03-${random(60)}`,
  MISTRAL_API_KEY: random(32),
  HF_TOKEN: `${"h"}f_${random(34)}`,
  AWS_SECRET_ACCESS_KEY: `${random(20)}/${random(19)}`,
  AWS_ACCESS_KEY_ID: `${"AK"}IA${"Q7ZK2RW9XB4TN6VC"}`,
  SLACK_TOKEN: `${"xo"}xb-${random(24)}`,
  NPM_TOKEN: `${"np"}m_${random(36)}`,
  GOOGLE_API_KEY: `${"AI"}za${random(35)}`,
  VOYAGE_API_KEY: `pa-${random(40)}`,
  DB_PASSWORD: "correct horse battery staple",
  MY_CREDENTIALS: `user:${random(16)}`,
};

test("no token of any shape is left anywhere", async () => {
  const said: string[] = [];
  // A server that quotes whatever key it is given, in headers and body, as an error.
  const server = createServer((request, response) => {
    const given = String(request.headers.authorization ?? request.headers["x-api-key"] ?? "");
    response.writeHead(request.url?.includes("models") ? 200 : 400, { "content-type": "application/json", "x-echo": "no" });
    response.end(JSON.stringify({ error: { message: `you sent ${given}, and that is wrong`, code: "bad", type: given } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = Object.keys(SHAPES);
  const file = random(40).split("").reverse().join("");
  const folder = folderWith({
    ".env.github": `GITHUB_TOKEN=${SHAPES.GITHUB_TOKEN}\n`,
    "keys/openai.txt": `${file}\n`,
    "pipelines/own.mjs": `export default {
  summary: "throws what it finds", identityOf: () => ({}),
  open: async (_, { env }) => ({ ask: async () => { throw new Error(Object.values(env).join(" ")); }, close: async () => { throw new Error(env.OPENAI_API_KEY); } }),
};`,
    "pipelines/loud.mjs": `console.error(Object.values(process.env).join(" ")); process.exit(3);`,
    "pipelines/cases.jsonl": ["a", "b"]
      .map((id) => JSON.stringify({ id, title: `case ${id}`, targets: [{ path: "x.c" }] }))
      .join("\n"),
    "pipelines/p.yaml": `name: p
params: { address: "${url}" }
stages:
  dataset: { uses: import-dataset, with: { path: cases.jsonl } }
  answers:
    uses: query-backend
    needs: dataset
    retry: 0
    matrix:
      backend:
        - { kind: command, name: loud, run: [node, ./loud.mjs], env: [${names.join(", ")}], version: "1" }
        - { kind: command, name: served, run: [node, ./loud.mjs], protocol: json-lines, env: [${names.join(", ")}], version: "1" }
        - { kind: chat, name: by-variable, provider: openai, model: m, base_url: "\${params.address}" }
        - { kind: chat, name: by-file, provider: openai-compatible, model: m, base_url: "\${params.address}", api_key_file: ../keys/openai.txt }
        - { kind: chat, name: mistral, provider: mistral, model: m, base_url: "\${params.address}" }
        - { kind: lightrag, url: "\${params.address}", api_key_env: VOYAGE_API_KEY }
        - { kind: embedding, provider: openai, model: m, base_url: "\${params.address}" }
        - { kind: ./own.mjs }
        - { kind: empty }
  scores: { uses: score, needs: [dataset, answers] }
  intervals: { uses: bootstrap, needs: scores, with: { samples: 10 } }
  report: { uses: report, needs: [scores, intervals], with: { formats: [json, markdown, html] } }
`.replace(/ {8}- \{ kind: embedding.*\n/, ""),
  });
  const env = { ...SHAPES, PATH: process.env.PATH ?? "", HOME: folder };
  const type = async (...argv: string[]) => {
    const done = await bench(folder, argv, env);
    said.push(`${argv.join(" ")}\n${done.stdout}\n${done.stderr}`);
    return done.exit;
  };
  expect(await type("run", "pipelines/p.yaml", "--trace", "trace.json")).toBe(1);
  expect(await type("run", "pipelines/p.yaml", "--json")).toBe(1);
  await type("plan", "pipelines/p.yaml");
  await type("explain", "pipelines/p.yaml", "answers[by-variable]", "a");
  await type("doctor", "pipelines/p.yaml", "--json");
  await type("status", "latest", "--json");
  for (const format of ["json", "jsonl", "csv", "markdown", "latex", "html", "junit", "trec", "qrels"])
    await type("report", "latest", "--format", format, "--out", `out/${format}/`);
  await type("export", "bundle", "latest", "--out", "bundle.tgz");
  await type("cache", "verify", "--json");
  // A token on the command line, and one in an address: neither is written down, and what is refused does not quote it.
  const inAddress = `https://someone:${random(14)}@127.0.0.1:9/o/r.git`;
  await type("mine", "o/r", "--github-url", url, "--token", SHAPES.GITHUB_TOKEN ?? "", "--max-wait", "1s", "--issue-limit", "1");
  writeFileSync(
    join(folder, "pipelines/git.yaml"),
    `name: g\nstages:\n  dataset: { uses: import-dataset, with: { path: cases.jsonl } }\n  sources: { uses: checkout, needs: dataset, with: { git: "${inAddress}", at: main } }\n`,
  );
  await type("run", "pipelines/git.yaml");
  server.close();

  // The files in which this test itself put a token.
  const given = /\.env\.github$|keys[/\\]openai\.txt$|git\.yaml$/;
  const everything = (await everythingIn(folder)).filter(({ where }) => !given.test(where));
  const secrets = { ...SHAPES, "the key in the file": file, "the password in the address": random(14) };
  const found = Object.entries(secrets).flatMap(([name, value]) => [
    ...everything.filter(({ text }) => text.includes(value)).map(({ where }) => `${name} in ${where.replace(folder, "")}`),
    // What was typed is the person's own.
    ...said
      .filter((text) => text.slice(text.indexOf("\n")).includes(value))
      .map((text) => `${name} said by ${text.split(" ")[0]}`),
  ]);
  expect(found).toEqual([]);
  expect(everything.length).toBeGreaterThan(30);
});
