/** Tests against the real tools: `npm run test:real`. Not part of `npm test`, which needs Node alone. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/real/*.real.ts"], testTimeout: 900_000, hookTimeout: 1_800_000, maxWorkers: 1, fileParallelism: false },
});
