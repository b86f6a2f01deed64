import { describe, expect, test } from "vitest";
import { chatEndpoint, type Provider } from "./chat-url.js";

const url = (provider: Provider, base?: string) => {
  const endpoint = chatEndpoint(provider, base);
  return endpoint.ok ? endpoint.value.url : `error: ${endpoint.error}`;
};

describe("chatEndpoint", () => {
  test("the providers' own addresses", () => {
    expect(url("openai")).toBe("https://api.openai.com/v1/chat/completions");
    expect(url("mistral")).toBe("https://api.mistral.ai/v1/chat/completions");
    expect(url("ollama")).toBe("http://localhost:11434/api/chat");
    expect(url("openai-compatible")).toContain("give base_url");
  });

  test("the original's rules", () => {
    for (const [base, expected] of [
      ["localhost:8000", "http://localhost:8000/v1/chat/completions"],
      ["https://gateway.example/", "https://gateway.example/v1/chat/completions"],
      ["https://gateway.example/v1", "https://gateway.example/v1/chat/completions"],
      ["https://gateway.example/v1/", "https://gateway.example/v1/chat/completions"],
      ["https://gateway.example/openai/v1/chat/completions", "https://gateway.example/openai/v1/chat/completions"],
      ["https://gateway.example/models", "https://gateway.example/models/v1/chat/completions"],
      ["https://gateway.example/v1?api-version=2", "https://gateway.example/v1/chat/completions?api-version=2"],
    ] as const) {
      expect(url("openai", base)).toBe(expected);
    }
  });

  test("Ollama is asked natively, whichever of its addresses is given", () => {
    for (const path of ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/api", "/api/chat"]) {
      expect(url("ollama", `box:11434${path}`)).toBe("http://box:11434/api/chat");
    }
    expect(url("ollama", "https://proxy.example/ollama/v1")).toBe("https://proxy.example/ollama/api/chat");
  });

  test("what is shown and kept has no query", () => {
    const endpoint = chatEndpoint("openai", "https://gateway.example/v1?api-version=2#x");
    expect(endpoint).toMatchObject({ value: { shown: "https://gateway.example/v1/chat/completions", host: "gateway.example" } });
  });

  test("no secrets in addresses, no other schemes, no nonsense", () => {
    expect(url("openai", "https://user:secret@gateway.example")).toContain("no password");
    expect(url("openai", "https://gateway.example/v1?api_key=secret")).toContain("no key");
    expect(url("openai", "ftp://gateway.example")).toContain("use http:// or https://");
    expect(url("openai", "http://")).toContain("is no address");
    expect(url("openai", " ")).toContain("give base_url");
  });

  test("an unencrypted way over a network is told from one on this machine", () => {
    const open = (base: string) => {
      const endpoint = chatEndpoint("openai", base);
      return endpoint.ok && endpoint.value.open;
    };
    expect(["http://localhost:1", "http://127.0.0.1", "http://[::1]:8", "https://far.example"].map(open)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(open("http://far.example")).toBe(true);
  });
});
