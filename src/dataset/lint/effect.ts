/** What a data set would be without a finding, in words. */
import type { Size } from "./contract.js";

/** `cases with targets 65 -> 64, targets 2554 -> 274, constant answer 45 % -> 45 %`: only what changes. */
export function effectText(before: Size, after: Size): string {
  const share = ({ constant }: Size) => (constant === null ? "-" : `${Math.round(100 * constant.share)} %`);
  const pairs: [string, string, string][] = [
    ["cases with targets", String(before.cases_with_targets), String(after.cases_with_targets)],
    ["targets", String(before.targets), String(after.targets)],
    ["best constant answer", share(before), share(after)],
  ];
  const changed = pairs.filter(([, a, b]) => a !== b).map(([name, a, b]) => `${name} ${a} -> ${b}`);
  return changed.length === 0 ? "nothing changes" : changed.join(", ");
}
