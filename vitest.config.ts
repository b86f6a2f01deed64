import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "./test/rigs/temporary-folder.ts",
    // Generous: tests assert counts and never seconds, and a busy machine is not a failure.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    reporters: ["default", "./test/rigs/closing-line.ts"],
  },
});
