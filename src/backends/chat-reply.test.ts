import * as fc from "fast-check";
import { expect, test } from "vitest";
import { errorIn, failureOf, retryAfter } from "./chat-failure.js";
import { fillsContext, planContext } from "./chat-ollama.js";
import { readCompletion, readOllama } from "./chat-reply.js";

/** Bodies that look like answers and have anything in their members. */
const hostile = fc.dictionary(
  fc.constantFrom(
    "choices",
    "message",
    "usage",
    "error",
    "detail",
    "model",
    "done",
    "done_reason",
    "prompt_eval_count",
    "__proto__",
  ),
  fc.oneof(
    fc.jsonValue(),
    fc.array(fc.dictionary(fc.constantFrom("message", "text", "finish_reason", "content", "thinking", "type"), fc.jsonValue())),
    fc.dictionary(fc.constantFrom("content", "thinking", "message", "code", "prompt_tokens", "tool_calls"), fc.jsonValue()),
  ),
);

test("whatever a body holds, it is read or told to be wrong, and counts are counts", () => {
  fc.assert(
    fc.property(hostile, (body) => {
      for (const read of [readCompletion, readOllama]) {
        const result = read(body);
        if (!result.ok) {
          expect(result.error.message).not.toBe("");
          continue;
        }
        expect(typeof result.value.text).toBe("string");
        for (const count of Object.values(result.value.usage))
          expect(count === null || (Number.isSafeInteger(count) && count >= 0)).toBe(true);
      }
      const error = errorIn(body);
      const context = { who: "h (m)", model: "m", provider: "openai", keyPlace: null, hasKey: false, now: 0 };
      for (const status of [301, 400, 429, 500]) {
        const failure = failureOf(status, {}, error, context);
        expect(["failed", "rate_limited"]).toContain(failure.status);
        expect((failure.error ?? "").length).toBeLessThan(1200);
      }
    }),
  );
});

test("the time to wait, however it is told", () => {
  const now = Date.UTC(2026, 0, 1);
  for (const [headers, expected] of [
    [{}, null],
    [{ "retry-after": "20" }, 20],
    [{ "retry-after": "0.5" }, 0.5],
    [{ "retry-after": "-3" }, 0],
    [{ "retry-after": new Date(now + 90_000).toUTCString() }, 90],
    [{ "retry-after": new Date(now - 90_000).toUTCString() }, 0],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 0.25],
    [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "120ms" }, 0.12],
    [{ "x-ratelimit-remaining-requests": "4", "x-ratelimit-reset-requests": "6m0s" }, null],
    [{ "x-ratelimitbysize-remaining-minute": "0", "x-ratelimitbysize-reset-minute": "30" }, 30],
    [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3.5s" }, 3723.5],
    [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "whenever" }, null],
  ] as const) {
    expect([headers, retryAfter(headers, now)]).toEqual([headers, expected]);
  }
});

test("context lengths cover the prompt where the model can, and end with what it can", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 200_000 }),
      fc.option(fc.integer({ min: 1, max: 5000 }), { nil: null }),
      fc.option(fc.integer({ min: 512, max: 300_000 }), { nil: null }),
      (characters, maxTokens, contextLength) => {
        const { lengths, problem } = planContext(
          [{ role: "user", content: "x".repeat(characters) }],
          "auto",
          maxTokens,
          contextLength,
        );
        const limit = contextLength ?? 131_072;
        if (problem !== null) {
          expect(characters / 8).toBeGreaterThan(limit - 1);
          expect(lengths).toEqual([]);
          return;
        }
        expect(lengths.length).toBeGreaterThan(0);
        expect(lengths.at(-1)).toBe(limit);
        expect(lengths[0]).toBeGreaterThanOrEqual(Math.min(limit, Math.ceil(characters / 3)));
        expect([...lengths].sort((a, b) => a - b)).toEqual(lengths);
      },
    ),
  );
  expect(planContext([{ role: "user", content: "x" }], 2048, null, null).lengths).toEqual([2048]);
  expect([fillsContext(4096, 4096), fillsContext(4020, 4096), fillsContext(2000, 4096), fillsContext(null, 4096)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
