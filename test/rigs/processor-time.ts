/**
 * Processor time instead of the clock's: what other programs do on a busy machine hardly changes it. For tests that a hostile text costs linear
 * work, with bounds that are far above what it takes and far below what quadratic work would.
 */

/** Seconds of processor time of this process that `work` took, together with everything it started in it. */
export function processorSeconds(work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}
