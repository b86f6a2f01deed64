// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in pipeline files are the subject here
import { describe, expect, test } from "vitest";
import { graphOf, mistakesOf } from "../../test/rigs/pipeline-marks.js";
import { looksSecret } from "./params.js";

const pipeline = (params: string, repo = "${params.p}", more = ""): string =>
  `params: ${params}\nstages:\n  s: { uses: fetch-issues, with: { repo: "${repo}"${more} } }`;
const config = (...args: Parameters<typeof graphOf>) => graphOf(...args).nodes[0]?.config;

describe("references", () => {
  test("alone they keep the type, inside a text they are text as written", () => {
    expect(config(pipeline("{ p: x, n: 5 }", "${params.p}", ', limit: "${params.n}"'))).toMatchObject({ repo: "x", limit: 5 });
    expect(config(pipeline("{ p: 1.10 }", "v${params.p}-${params.p}"))).toMatchObject({ repo: "v1.10-1.10" });
  });

  test("`$${` is a literal, and what is put in is not scanned again", () => {
    expect(config(pipeline('{ p: "$${env.HOME}" }', "${params.p} $${x} $$${y}"))).toMatchObject({
      repo: "${env.HOME} ${x} $${y}",
    });
    expect(config(pipeline("{ p: x }", "${params.p}"), { set: ["p='${env.HOME}'"] })).toMatchObject({ repo: "${env.HOME}" });
  });

  test("members of a parameter", () => {
    expect(config(pipeline("{ p: { repo: [a, b] } }", "${params.p.repo.1}"))).toMatchObject({ repo: "b" });
    expect(mistakesOf(pipeline("{ p: { repo: a } }", "${params.p.name}"))[0]?.message).toBe(
      "the parameter `p` has no member `name`",
    );
    expect(mistakesOf(pipeline("{ p: { repo: a } }", "${params.p.constructor}"))[0]?.message).toContain("no member");
  });

  test("parameters refer to parameters and the environment, whatever their order", () => {
    const text = pipeline('{ p: "${params.owner}/${params.name}", owner: "${env.OWNER}", name: x }');
    expect(graphOf(text, { env: { OWNER: "me" } }).params).toEqual({ p: "me/x", owner: "me", name: "x" });
  });

  test("a default that is replaced is not looked at", () => {
    expect(config(pipeline('{ p: "${env.NOT_SET}" }'), { set: ["p=x"] })).toMatchObject({ repo: "x" });
  });

  test("names of Object's members are neither parameters nor variables", () => {
    expect(mistakesOf(pipeline("{ p: x }", "${params.toString}"))[0]?.message).toBe("there is no parameter `toString`");
    expect(mistakesOf(pipeline("{ p: x }", "${env.constructor}"))[0]?.message).toContain("`constructor` is not set");
    expect(config(pipeline("{ constructor: x }", "${params.constructor}"))).toMatchObject({ repo: "x" });
  });

  test("growth without end is refused", () => {
    const doubling = Array.from({ length: 40 }, (_, index) => `p${index}: "\${params.p${index + 1}}\${params.p${index + 1}}"`);
    const text = pipeline(`{ p: "\${params.p0}", ${doubling.join(", ")}, p40: ${"x".repeat(1000)} }`);
    expect(
      mistakesOf(text)
        .map(({ message }) => message)
        .join(),
    ).toContain("too long");
    const chain = Array.from({ length: 900 }, (_, index) => `p${index}: "\${params.p${index + 1}}"`);
    expect(mistakesOf(pipeline(`{ p: "\${params.p0}", ${chain.join(", ")}, p900: x }`))[0]?.message).toContain(
      "more than 50 steps",
    );
    const lists = mistakesOf(pipeline('{ p: x, a: [1], b: ["${params.a}", "${params.a}"] }'));
    expect(lists[0]?.message).toContain("within `params` only single values");
    const copies = mistakesOf(
      `params: { l: [${"1,".repeat(5000)}] }\nstages: { s: { uses: fetch-issues, with: { repo: x, limit: [${'"${params.l}",'.repeat(5000)}] } } }`,
    );
    expect(copies.filter(({ message }) => message === "references make this file too large")).toHaveLength(1);
  });

  test("a parameter that nothing uses is warned of, unless there are mistakes", () => {
    expect(graphOf(pipeline("{ p: x, q: y }")).warnings).toMatchObject([
      { line: 1, column: 17, message: "nothing uses the parameter `q`" },
    ]);
    expect(mistakesOf(pipeline("{ p: x }", "${params.o}"))).toHaveLength(1);
  });
});

describe("--set", () => {
  test("values are YAML", () => {
    expect(
      graphOf(pipeline("{ p: x, n: 1, l: 1, m: 1, b: 1 }"), { set: ["p=a/b", "n=5", "l=[1, x]", "m={a: 1}", "b=true"] }).params,
    ).toEqual({
      p: "a/b",
      n: 5,
      l: [1, "x"],
      m: { a: 1 },
      b: true,
    });
  });

  test("the last one counts; an empty value is an empty text", () => {
    expect(graphOf(pipeline("{ p: x, q: y }"), { set: ["p=1=2", "q="] }).params).toEqual({ p: "1=2", q: "" });
    expect(graphOf(pipeline("{ p: x }"), { set: ["p=y", "p=z"] }).params).toEqual({ p: "z" });
  });

  test("a parameter without value must be set, and can be", () => {
    expect(config(pipeline("{ p: }"), { set: ["p=x"] })).toMatchObject({ repo: "x" });
    expect(mistakesOf(pipeline("{ p: }"), { set: ["p=null"] })[0]?.message).toBe("the parameter `p` must be set");
  });

  test("what looks like a number is read as text where text is wanted, and only there", () => {
    expect(config(pipeline("{ p: x }"), { set: ["p=0012345"] })).toMatchObject({ repo: "0012345" });
    expect(
      config(pipeline("{ p: x, r: main }", "${params.p}", ', revision: "${params.r}"'), { set: ["r=12e5", "p=1"] }),
    ).toMatchObject({ repo: "1", revision: "12e5" });
    expect(mistakesOf(pipeline("{ p: 12 }"))[0]?.message).toBe("`repo`: expected text, found the number 12 (from ${params.p})");
  });

  test.each([
    ["pp=1", 1, 2, "the pipeline has no parameter `pp`"],
    ["p", 1, 1, "expected NAME=VALUE, found `p`"],
    ["=1", 1, 1, "expected NAME=VALUE"],
    ["p=[1", 3, 2, "the value is not YAML"],
    ["p=a: b", 3, 4, "the value is not YAML for a single value"],
    ["p=- a", 3, 3, "the value is not YAML for a single value"],
    ["p=\u0000", 3, 1, "the value is not YAML"],
  ])("%j is a mistake of the command line", (assignment, column, length, message) => {
    const found = mistakesOf(pipeline("{ p: x }"), { set: [assignment] });
    expect(found).toMatchObject([{ file: "--set", line: 1, column, length, message: expect.stringContaining(message) }]);
  });

  test("its mistakes come first, with those of the file", () => {
    const found = mistakesOf(`${pipeline("{ p: x }")}\n  t: { uses: nix }`, { set: ["q=1"] });
    expect(found.map(({ file }) => file)).toEqual(["--set", "pipelines/test.yaml"]);
  });
});

describe("secrets", () => {
  test.each([
    "TOKEN",
    "GITHUB_TOKEN",
    "OPENAI_API_KEY",
    "apiKey",
    "DB_PASSWORD",
    "PASSWD",
    "AWS_CREDENTIALS",
    "HTTP_AUTH",
    "OAUTH_X",
    "MY_SECRETS",
    "KEY2",
    "APIKEY",
  ])("%s looks secret", (name) => {
    expect(looksSecret(name)).toBe(true);
  });
  test.each(["HOME", "MONKEY", "AUTHOR", "KEYBOARD_LAYOUT", "TOKENIZER", "REPO"])("%s does not", (name) => {
    expect(looksSecret(name)).toBe(false);
  });

  test("values of variables that the file refers to are listed with their names", () => {
    const env = { API_KEY: "s3cret", OTHER_TOKEN: "unused", MODEL: "m", EMPTY_KEY: "" };
    const graph = graphOf(pipeline('{ p: "${env.API_KEY}-${env.MODEL}-${env.EMPTY_KEY}" }'), { env });
    expect([...graph.secrets]).toEqual([["s3cret", "API_KEY"]]);
  });

  test("no message and no label shows one", () => {
    const env = { API_KEY: "s3cret" };
    const wrong = mistakesOf(
      pipeline('{ p: x, k: ["${env.API_KEY}"] }', "${params.p}", ', limit: "${env.API_KEY}", revision: "${params.k}"'),
      { env },
    );
    expect(wrong).toHaveLength(2);
    expect(JSON.stringify(wrong)).not.toContain("s3cret");
    const text = [
      'params: { keys: ["${env.API_KEY}"] }',
      "stages:",
      "  d: { uses: import-dataset, with: { path: x } }",
      "  a:",
      "    uses: query-backend",
      "    needs: d",
      '    matrix: { backend: [{ kind: llm, model: m, key: "${env.API_KEY}" }, { kind: llm, model: m }, { kind: llm, model: "x", name: "${env.API_KEY}" }] }',
      '  b: { uses: query-backend, needs: d, matrix: { prompt: "${params.keys}" }, with: { backend: { kind: bm25 } } }',
    ].join("\n");
    const found = mistakesOf(text, { env });
    expect(found.map(({ message }) => message)).toEqual([
      "`name`: expected a label for the cell, found a text (from ${env.API_KEY})",
    ]);
    const labels = graphOf(text.replace(', name: "${env.API_KEY}"', ""), { env }).nodes.map(({ id }) => id);
    expect(labels).toEqual(["d", "a[llm-m]", "a[llm-m-2]", "a[llm-x]", "b[prompt]"]);
  });
});
