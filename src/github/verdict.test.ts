import { describe, expect, test } from "vitest";
import { verdictOn } from "./verdict.js";

const NOW = Date.UTC(2026, 0, 1);
const at = (status: number, headers: Record<string, string>, text = '{"message":"no"}', before = 0) =>
  verdictOn({ status, headers: new Headers({ "content-type": "application/json", ...headers }), text }, NOW, before);
const seconds = (from: number) => String(NOW / 1000 + from);

describe("limits", () => {
  test("primary: until the reset, and a second more", () => {
    expect(at(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds(60) })).toEqual({
      type: "limit",
      kind: "primary",
      wait: 61_000,
    });
    expect(at(429, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds(-600) })).toEqual({
      type: "limit",
      kind: "primary",
      wait: 1000,
    });
    expect(at(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon" })).toEqual({
      type: "limit",
      kind: "primary",
      wait: 60_000,
    });
  });

  test("the reset is in the server's time, which its date tells", () => {
    const date = new Date(NOW + 3_600_000).toUTCString();
    expect(at(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds(3660), date })).toEqual({
      type: "limit",
      kind: "primary",
      wait: 61_000,
    });
  });

  test("secondary: what retry-after says, in seconds or as a date; it wins over the reset", () => {
    expect(at(403, { "retry-after": "7" })).toEqual({ type: "limit", kind: "secondary", wait: 7000 });
    expect(at(429, { "retry-after": new Date(NOW + 9000).toUTCString() })).toEqual({
      type: "limit",
      kind: "secondary",
      wait: 9000,
    });
    expect(at(403, { "retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds(600) })).toMatchObject({
      wait: 7000,
    });
    expect(at(429, { "retry-after": "0" })).toMatchObject({ wait: 1000 });
    expect(at(429, { "retry-after": "999999999" })).toMatchObject({ wait: 86_400_000 });
  });

  test("secondary without retry-after: a minute, doubled each time", () => {
    const message = '{"message":"You have exceeded a secondary rate limit"}';
    expect([0, 1, 2].map((before) => at(403, {}, message, before))).toMatchObject([
      { wait: 60_000 },
      { wait: 120_000 },
      { wait: 240_000 },
    ]);
    expect(at(429, {}, "{}")).toEqual({ type: "limit", kind: "secondary", wait: 60_000 });
  });

  test("a refusal is an answer", () => {
    expect(at(403, { "x-ratelimit-remaining": "17" }, '{"message":"Resource not accessible"}')).toEqual({ type: "answer" });
    for (const status of [401, 404, 410, 422, 451]) expect(at(status, {})).toEqual({ type: "answer" });
  });
});

describe("worth asking again", () => {
  test.each([500, 502, 503, 504, 408])("%d", (status) => {
    expect(at(status, {})).toMatchObject({ type: "again", wait: 0 });
  });
  test("waits as long as the server says", () =>
    expect(at(503, { "retry-after": "5" })).toMatchObject({ type: "again", wait: 5000 }));
  test("an empty, cut or foreign body with status 200", () => {
    expect(at(200, {}, "  ")).toMatchObject({ type: "again" });
    expect(at(200, {}, '[{"number":1},{"nu')).toMatchObject({ type: "again" });
    expect(at(200, { "content-type": "text/html" }, "[]")).toMatchObject({ type: "again" });
    expect(at(200, {}, "<!DOCTYPE html><p>")).toMatchObject({ type: "again" });
  });
  test("a proxy's page in place of a refusal", () =>
    expect(at(403, { "content-type": "text/html" }, "<html>")).toMatchObject({ type: "again" }));
});

describe("GraphQL's limits in a 200", () => {
  const body = (type: string, message: string) => JSON.stringify({ data: null, errors: [{ type, message }] });
  test("the primary one, by its type", () => {
    const limited = body("RATE_LIMITED", "API rate limit exceeded");
    expect(at(200, { "retry-after": "7" }, limited)).toEqual({ type: "limit", kind: "primary", wait: 7000 });
    expect(at(200, {}, limited)).toEqual({ type: "limit", kind: "primary", wait: 60_000 });
  });
  test("the secondary one, by its words", () => {
    const slow = body("OTHER", "You have exceeded a secondary rate limit. Please wait");
    expect(at(200, {}, slow)).toEqual({ type: "limit", kind: "secondary", wait: 60_000 });
  });
  test("no other error", () => {
    expect(at(200, {}, body("NOT_FOUND", "Could not resolve"))).toEqual({ type: "answer" });
    expect(at(200, {}, '{"errors":"x"}')).toEqual({ type: "answer" });
  });
});

test("answers", () => {
  expect(at(200, {}, "[]")).toEqual({ type: "answer" });
  expect(at(200, { "content-type": "text/plain" }, "[1]")).toEqual({ type: "answer" });
  expect(at(304, {}, "")).toEqual({ type: "answer" });
  expect(at(301, {}, "")).toEqual({ type: "answer" });
});
