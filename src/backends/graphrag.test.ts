import { expect, test } from "vitest";
import { UnusableConfiguration } from "./contract.js";
import { graphrag } from "./graphrag.js";

const open = (options: unknown) => graphrag.open(graphrag.options.parse(options), {} as never);

test("has the original's defaults", () => {
  expect(graphrag.options.parse({})).toMatchObject({
    dir: "../graphrag",
    method: "local",
    mode: "auto",
    data: "./output",
    timeout: 180,
  });
});

test("takes the methods and modes that there are, and no others", () => {
  for (const method of ["local", "global", "drift", "basic"]) expect(graphrag.options.safeParse({ method }).success).toBe(true);
  for (const mode of ["auto", "venv", "uv"]) expect(graphrag.options.safeParse({ mode }).success).toBe(true);
  for (const wrong of [{ method: "naive" }, { mode: "docker" }, { timeout: 0 }, { dir: "" }, { directory: "x" }])
    expect(graphrag.options.safeParse(wrong).success).toBe(false);
});

test("what shapes the answers is its identity; where it lies and how it is started are not", () => {
  const identity = (options: object) => graphrag.identityOf(graphrag.options.parse(options));
  const base = identity({});
  for (const same of [{ dir: "/elsewhere" }, { mode: "uv" }, { timeout: 5 }, { data: "./other" }])
    expect(identity(same)).toEqual(base);
  for (const other of [{ method: "drift" }, { community_level: 2 }, { response_type: "List" }])
    expect(identity(other)).not.toEqual(base);
});

test("says that it comes with a later version, and what to do until then", async () => {
  await expect(open({})).rejects.toThrow(UnusableConfiguration);
  await expect(open({})).rejects.toThrow(/later version; leave its cells out with --only, or .*`command`/);
});
