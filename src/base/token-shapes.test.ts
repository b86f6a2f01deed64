import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { processorSeconds } from "../../test/rigs/processor-time.js";
import { findTokens, secretVariables } from "./token-shapes.js";

/** Letters that look random; put together here, so that no file of the project holds anything of a token's shape. */
const random = (length: number) => "q7Zk2Rw9Xb4Tn6Vc1Md8Ls3Pf5Hj0GyAeUiOaBdCtEvFxNz".repeat(8).slice(0, length);

const TOKENS: readonly (readonly [string, string])[] = [
  ["GitHub token", `${"gh"}p_${random(36)}`],
  ["GitHub token", `${"gh"}s_${random(40)}`],
  ["GitHub fine-grained token", `${"github"}_pat_${random(22)}_${random(40)}`],
  ["GitLab token", `${"gl"}pat-${random(20)}`],
  ["OpenAI key", `${"sk"}-${random(48)}`],
  ["OpenAI key", `${"sk"}-proj-${random(60)}`],
  ["Anthropic key", `${"sk"}-ant-api03-${random(60)}`],
  ["AWS access key", `${"AK"}IA${"Q7ZK2RW9XB4TN6VC"}`],
  ["Google API key", `${"AI"}za${random(35)}`],
  ["Slack token", `${"xo"}xb-${random(24)}`],
  ["Hugging Face token", `${"h"}f_${random(34)}`],
  ["npm token", `${"np"}m_${random(36)}`],
  ["private key", `-----BEGIN ${"RSA "}PRIVATE KEY-----`],
  ["private key", `-----BEGIN ${""}PRIVATE KEY-----`],
  ["JSON Web Token", `${"ey"}J${random(20)}.${"ey"}J${random(40)}.${random(43)}`],
  ["bearer token", `Authorization: Bearer ${random(40)}`],
  ["password in an address", `https://someone:${random(12)}@example.org/x.git`],
];

describe("findTokens", () => {
  test.each(TOKENS)("%s: %s", (shape, token) => {
    for (const text of [token, `a "${token}" b`, JSON.stringify({ header: token }), `x=${token}\n`]) {
      expect(findTokens(text).map((found) => found.shape)).toContain(shape);
    }
  });

  test("tells where to look and not what it is", () => {
    const token = `${"gh"}p_${random(36)}`;
    const [found] = findTokens(`${token} and again ${token}`);
    expect(findTokens(`${token} ${token}`)).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain(token.slice(8));
    expect(found?.fingerprint).toMatch(/^[0-9a-f]{12}$/);
  });

  test.each([
    "src/main/java/org/json/JSONObject.java",
    "the task-oriented risk-averse desk-top",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://example.org:8080/a@b",
    "ssh://git@example.org/x.git",
    `ghp_${"x".repeat(36)}`,
    `Bearer ${"0".repeat(40)}`,
    "mailto:someone@example.org",
  ])("is silent on %s", (text) => {
    expect(findTokens(text)).toEqual([]);
  });

  test("values of secret-looking variables are found whatever their shape", () => {
    const env = { MISTRAL_API_KEY: "plain-looking-value", PATH: "/usr/bin", SSH_AUTH_SOCK: "/tmp/agent", TOKEN: "short" };
    const secrets = secretVariables(env);
    expect([...secrets.keys()]).toEqual(["MISTRAL_API_KEY"]);
    const found = findTokens("key is plain-looking-value!", secrets);
    expect(found).toMatchObject([{ shape: "value of the variable MISTRAL_API_KEY" }]);
    expect(JSON.stringify(found)).not.toContain("plain-looking");
  });

  test("takes any text, quickly", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 500 }), (text) => Array.isArray(findTokens(text))));
    for (const text of [
      "a://".repeat(50_000),
      "eyJ".repeat(50_000),
      "Bearer ".repeat(30_000),
      "sk-".repeat(50_000),
      "a:b".repeat(50_000),
    ]) {
      // Milliseconds if linear, minutes if not.
      expect(processorSeconds(() => findTokens(text))).toBeLessThan(10);
    }
  });
});
