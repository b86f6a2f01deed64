/** A vitest reporter that ends with one plain line, `N passed, N failed, N skipped`, for whoever reads the output by machine. */
import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that could not be loaded has no tests to count, and is a failure all the same.
      if (module.errors().length > 0) counts.failed += 1;
    }
    const skipped = counts.skipped + counts.pending;
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  }
}
