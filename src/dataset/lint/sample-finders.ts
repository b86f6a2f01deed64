/** What is wrong with the sample as a whole: too small, not independent, answered by a constant. */
import { counted, percentOf } from "./contract.js";
import type { Finder } from "./finder.js";
import { clustersOfChanges, halfWidth, sizeOf } from "./size.js";

export const sharedChange: Finder = ({ cases, withTargets }) => {
  const clusters = clustersOfChanges(withTargets);
  const shared = clusters.filter(({ length }) => length > 1).sort((a, b) => b.length - a.length);
  const concerned = shared.reduce((sum, { length }) => sum + length, 0);
  if (concerned === 0) return null;
  const repeated = new Set(shared.flatMap(([, ...others]) => others));
  return {
    name: "shared-change",
    severity: "warning",
    count: concerned,
    of: withTargets.length,
    unit: "cases",
    what: `${concerned} cases share a pull request with another one: ${withTargets.length} cases are ${counted(clusters.length, "independent draw")} ("cluster: change" of the bootstrap resamples them together)`,
    examples: shared.slice(0, 5).map((ids) => ids.slice(0, 6).join(", ")),
    cases: shared.flat(),
    without: sizeOf(cases.filter(({ id }) => !repeated.has(id))),
  };
};

/** A constant answer that hits one case in four is a system to be beaten. */
const CONSTANT = 0.25;
const FEWEST_CASES = 5;

export const concentration: Finder = ({ cases, withTargets }) => {
  const { constant } = sizeOf(withTargets);
  if (constant === null || withTargets.length < FEWEST_CASES || constant.share < CONSTANT) return null;
  const hit = withTargets.filter(({ targets }) => targets.some(({ path }) => path === constant.path)).map(({ id }) => id);
  const ids = new Set(hit);
  return {
    name: "concentration",
    severity: "warning",
    count: constant.hits,
    of: withTargets.length,
    unit: "cases",
    what: `always answering ${constant.path} hits ${constant.hits} of ${withTargets.length} cases (${percentOf(constant.hits, withTargets.length)}): read every Hit@1 beside it, and beside the backend "popularity"`,
    examples: [],
    cases: hit,
    without: sizeOf(cases.filter(({ id }) => !ids.has(id))),
  };
};

/** With a hundred independent cases an interval reaches 0.1 to either side at most. */
const ENOUGH = 100;
const HARDLY_ANY = 30;

export const tinySample: Finder = ({ withTargets }) => {
  const { clusters } = sizeOf(withTargets);
  const half = halfWidth(clusters);
  if (clusters >= ENOUGH) return null;
  const cases =
    clusters === withTargets.length
      ? counted(clusters, "case")
      : `${counted(withTargets.length, "case")} in ${counted(clusters, "cluster")}`;
  return {
    name: "tiny-sample",
    severity: clusters < HARDLY_ANY ? "error" : "warning",
    count: withTargets.length,
    of: ENOUGH,
    unit: "cases",
    what:
      half === null
        ? "no case has a target: nothing can be scored"
        : `${cases} with a target: a 95 % interval is up to ±${half.toFixed(2)} wide, and smaller differences can't be told from chance`,
    examples: [],
    cases: [],
    without: null,
  };
};
