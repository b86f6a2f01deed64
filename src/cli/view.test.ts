import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { thisProcess } from "../engine/record.js";
import { main } from "./main.js";

let folder: string;
let ending: AbortController;
let ended: Promise<number>;
let url: string;

const node = (state: string, more: object = {}) => ({
  ...{
    id: "answers[<b>]",
    name: "answers",
    uses: "query-backend",
    label: "<b>",
    needs: [],
    produces: "answers",
    state,
    key: null,
    output: null,
  },
  ...{ items: 0, units: 0, executed: 0, cached: 0, failed: 0, statuses: {}, seconds: 0, message: null, ...more },
});
function write(id: string, state: string, nodes: readonly object[]): void {
  const run = join(folder, "evaluation_results", id);
  mkdirSync(run, { recursive: true });
  const record = {
    ...{
      schema_version: 1,
      run_id: id,
      pipeline: "p.yaml",
      name: "shop <script>alert(1)</script>",
      command: [],
      state,
      started_at: "2026-01-01T00:00:00Z",
    },
    ...{
      finished_at: null,
      resume_at: null,
      exit: null,
      process: thisProcess(),
      versions: { bench: "0", node: "0" },
      params: {},
    },
    ...{ counts: { queries: 3 }, nodes, reports: [], warnings: ["a <b>warning</b>"] },
  };
  writeFileSync(join(run, "run.json"), JSON.stringify(record));
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "bench-view-"));
  write("20260101T000000Z-shop", "done", [node("done", { executed: 5 })]);
  writeFileSync(join(folder, "evaluation_results/20260101T000000Z-shop/report.md"), "# Report\n");
  writeFileSync(join(folder, "secret.txt"), "not for you");
  ending = new AbortController();
  let said: (text: string) => void = () => {};
  const first = new Promise<string>((resolve) => {
    said = resolve;
  });
  ended = main(["view"], {
    stdout: (text) => said(text),
    stderr: () => {},
    env: {},
    cwd: folder,
    terminal: { isTTY: false, columns: 80, colour: false },
    interrupted: ending.signal,
  });
  url = (await first).trim();
});
afterEach(async () => {
  ending.abort();
  expect(await ended).toBe(0);
  rmSync(folder, { recursive: true });
});

/** Without the tidying that fetch does: the path and the host as they are. */
function get(
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<{ status: number; text: string; policy: string }> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port, path, method, headers: { host: `127.0.0.1:${port}`, ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text, policy: String(response.headers["content-security-policy"]) }),
        );
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}

describe("bench view", () => {
  test("lists runs, shows one and its files; what a run says stays text", async () => {
    const index = await get("/");
    expect(index.text).toContain("20260101T000000Z-shop");
    expect(index.text).toContain("shop &lt;script&gt;alert(1)&lt;/script&gt;");
    expect(index.policy).toContain("script-src 'self'");
    const run = await get("/run/20260101T000000Z-shop/");
    expect(run.text).toContain("answers[&lt;b&gt;]");
    expect(run.text).toContain("a &lt;b&gt;warning&lt;/b&gt;");
    expect((await get("/run/20260101T000000Z-shop/report.md")).text).toBe("# Report\n");
    for (const asset of ["/view.js", "/view.css"]) expect((await get(asset)).status).toBe(200);
  });

  test("serves nothing beside the runs, nobody but this machine, and only reads", async () => {
    for (const path of [
      "/run/../secret.txt",
      "/run/20260101T000000Z-shop/..%2f..%2f..%2fsecret.txt",
      "/run/..%2f../x",
      "/run/20260101T000000Z-shop/%2e%2e/secret.txt",
      "/all/%2e%2e%2fx",
      "/all/..",
      "//secret.txt",
      "/%zz",
    ]) {
      const { status, text } = await get(path);
      expect([path, status >= 400, text.includes("not for you")]).toEqual([path, true, false]);
    }
    expect((await get("/", { host: "evil.example:80" })).status).toBe(403);
    expect((await get("/", {}, "POST")).status).toBe(405);
  });

  test("a run under way is told as it goes, and the telling ends with it", async () => {
    const id = "20260102T000000Z-live";
    write(id, "running", [node("running")]);
    const { body } = await fetch(new URL(`/run/${id}/events`, url));
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => JSON.parse(String((await reader?.read())?.value).replace(/^data: /, ""));
    expect(await next()).toMatchObject({ state: "running", stages: [{ executed: 0 }] });
    writeFileSync(
      join(folder, "evaluation_results", id, "journal.jsonl"),
      '{"type":"unit","stage":"answers[<b>]","status":"completed"}\n{"type":"unit","sta',
    );
    expect(await next()).toMatchObject({ state: "running", stages: [{ executed: 1 }] });
    write(id, "done", [node("done", { executed: 2 })]);
    expect(await next()).toMatchObject({ state: "done", stages: [{ executed: 2 }] });
    expect((await reader?.read())?.done).toBe(true);
  });
});
