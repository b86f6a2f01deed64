// The bootstrap of comparisons: 10,000 resamples of 1,000 cases, and the same work in SciPy where it is installed (the ratio is what counts).
//   node test/performance/bootstrap.mjs
import { spawnSync } from "node:child_process";
import { meanOf, resampler } from "../../dist/statistics/figures.js";
import { singleRows } from "../../dist/statistics/resampling.js";

const [SAMPLES, CASES, TIMES] = [10_000, 1_000, 3];
const values = Float64Array.from({ length: CASES }, (_, i) => ((i * 7919) % 1000) / 1000);

function ours() {
  const started = performance.now();
  resampler([values], singleRows(CASES), { samples: SAMPLES, seed: 1 }).interval(meanOf(0), "bca", 0.95);
  return (performance.now() - started) / 1000;
}

const SCIPY = `
import time, numpy, scipy.stats
values = ((numpy.arange(${CASES}) * 7919) % 1000) / 1000
best = 1e9
for _ in range(${TIMES}):
    started = time.perf_counter()
    scipy.stats.bootstrap((values,), numpy.mean, n_resamples=${SAMPLES}, method="BCa", vectorized=True, axis=-1, batch=1000)
    best = min(best, time.perf_counter() - started)
print(best)
`;

const seconds = Math.min(...Array.from({ length: TIMES }, ours));
const scipy = spawnSync("python3", ["-c", SCIPY], { encoding: "utf8" });
const theirs = scipy.status === 0 ? Number(scipy.stdout) : null;
console.log(
  JSON.stringify({
    what: `BCa bootstrap of the mean, ${SAMPLES} resamples of ${CASES} cases, best of ${TIMES}`,
    seconds: Number(seconds.toFixed(3)),
    scipy_seconds: theirs === null ? null : Number(theirs.toFixed(3)),
    ratio: theirs === null ? null : Number((seconds / theirs).toFixed(2)),
  }),
);
