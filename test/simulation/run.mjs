// How often do the intervals hold the true value, and how often does the paired test cry wolf? Known distributions, seeded, on dist/.
//   node test/simulation/run.mjs [--draws 2000] [--write]      --write puts the tables into docs/methods.md
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { meanOf, resampler } from "../../dist/statistics/figures.js";
import { randomStream } from "../../dist/statistics/generator.js";
import { mcnemarExact } from "../../dist/statistics/mcnemar.js";
import { randomisationTest } from "../../dist/statistics/randomisation.js";
import { singleRows } from "../../dist/statistics/resampling.js";
import { wilsonInterval } from "../../dist/statistics/wilson.js";

const { values: options } = parseArgs({
  options: { draws: { type: "string", default: "2000" }, write: { type: "boolean", default: false } },
});
const DRAWS = Number(options.draws);
const RESAMPLES = 1000;
const SIZES = [50, 200];
const LEVEL = 0.95;
const METHODS = ["percentile", "basic", "bca"];

/** Values of one case, and their true mean. */
const RANKS = 20;
const DISTRIBUTIONS = [
  bernoulli(0.5),
  bernoulli(0.9),
  bernoulli(0.05),
  {
    name: "F1 of a set: 0 with probability 0.4, else uniform on [0, 1]",
    mean: 0.3,
    draw: (random) => (random.uniform() < 0.4 ? 0 : random.uniform()),
  },
  {
    name: `RR: first target at a geometric rank (p = 0.3), 0 beyond ${RANKS}`,
    mean: Array.from({ length: RANKS }, (_, i) => (0.3 * 0.7 ** i) / (i + 1)).reduce((sum, term) => sum + term, 0),
    draw: (random) => {
      const rank = 1 + Math.floor(Math.log(1 - random.uniform()) / Math.log(0.7));
      return rank > RANKS ? 0 : 1 / rank;
    },
  },
  {
    name: "AP of a hard set: uniform to the fourth power",
    mean: 0.2,
    draw: (random) => random.uniform() ** 4,
  },
];

function bernoulli(p) {
  return { name: `Hit: Bernoulli, p = ${p}`, mean: p, binary: true, draw: (random) => (random.uniform() < p ? 1 : 0) };
}

function coverage({ name, mean, binary, draw }, n) {
  const held = Object.fromEntries([...METHODS, "wilson"].map((method) => [method, 0]));
  const random = randomStream(1, `coverage ${name} ${n}`);
  for (let draws = 0; draws < DRAWS; draws++) {
    const sample = Float64Array.from({ length: n }, () => draw(random));
    const drawn = resampler([sample], singleRows(n), { samples: RESAMPLES, seed: draws });
    for (const method of METHODS) if (holds(drawn.interval(meanOf(0), method, LEVEL), mean)) held[method]++;
    if (binary) {
      const successes = sample.reduce((sum, value) => sum + value, 0);
      if (holds(wilsonInterval(successes, n, LEVEL), mean)) held.wilson++;
    }
  }
  return [name, String(n), ...METHODS.map((method) => percent(held[method])), binary ? percent(held.wilson) : ""];
}

function holds(interval, value) {
  return interval.lower <= value && value <= interval.upper;
}

/** Twenty or forty repositories of ten issues each; half of the variance lies between repositories. */
function clusteredCoverage(groups) {
  const random = randomStream(1, `clusters ${groups}`);
  const size = 10;
  let [alone, together] = [0, 0];
  const clusters = Array.from({ length: groups }, (_, group) => Array.from({ length: size }, (__, i) => group * size + i));
  const plain = singleRows(groups * size);
  for (let draws = 0; draws < DRAWS; draws++) {
    const column = Float64Array.from(
      clusters.flatMap(() => {
        const own = random.uniform();
        return Array.from({ length: size }, () => (own + random.uniform()) / 2);
      }),
    );
    const settings = { samples: RESAMPLES, seed: draws };
    if (holds(resampler([column], plain, settings).interval(meanOf(0), "percentile", LEVEL), 0.5)) alone++;
    if (holds(resampler([column], { ...plain, clusters }, settings).interval(meanOf(0), "percentile", LEVEL), 0.5)) together++;
  }
  return [`${groups} repositories of ${size} issues`, percent(alone), percent(together)];
}

/** Two systems that are equally good: what both do depends on the case, what each does beside that on chance. */
function rejections({ name, draw, binary }, n) {
  const random = randomStream(2, `null ${name} ${n}`);
  let [randomisation, mcnemar] = [0, 0];
  const without = Object.fromEntries(METHODS.map((method) => [method, 0]));
  for (let draws = 0; draws < DRAWS; draws++) {
    const pairs = Array.from({ length: n }, () => {
      // In half of the cases the case decides and both do the same.
      const first = draw(random);
      return [first, random.uniform() < 0.5 ? first : draw(random)];
    });
    const differences = pairs.map(([a, b]) => b - a);
    if (randomisationTest(differences, { samples: 2000, seed: draws }).p <= 0.05) randomisation++;
    const drawn = resampler([Float64Array.from(differences)], singleRows(n), { samples: RESAMPLES, seed: draws });
    for (const method of METHODS) if (!holds(drawn.interval(meanOf(0), method, LEVEL), 0)) without[method]++;
    if (binary && mcnemarExact(pairs.filter(([a, b]) => a > b).length, pairs.filter(([a, b]) => b > a).length) <= 0.05) mcnemar++;
  }
  return [
    name,
    String(n),
    percent(randomisation),
    binary ? percent(mcnemar) : "",
    ...METHODS.map((method) => percent(without[method])),
  ];
}

function percent(count) {
  return `${((100 * count) / DRAWS).toFixed(1)} %`;
}

function table(header, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

const started = performance.now();
const pairs = DISTRIBUTIONS.flatMap((distribution) => SIZES.map((n) => [distribution, n]));
const text = [
  `${DRAWS} samples per row, ${RESAMPLES} resamples each; the standard error of a share near 95 % is ${(100 * Math.sqrt(0.0475 / DRAWS)).toFixed(1)} points.`,
  "**Share of 95 % intervals that hold the true mean**",
  table(
    ["values", "n", "percentile", "basic", "BCa", "Wilson"],
    pairs.map(([distribution, n]) => coverage(distribution, n)),
  ),
  "**The same where issues of one repository resemble each other (percentile; half of the variance between repositories)**",
  table(["cases", "cases drawn", "repositories drawn"], [10, 20, 40].map(clusteredCoverage)),
  "**How often two equally good systems seem to differ (5 % is right)**",
  table(
    ["values", "n", "randomisation p <= 0.05", "McNemar p <= 0.05", "percentile without 0", "basic without 0", "BCa without 0"],
    pairs.map(([distribution, n]) => rejections(distribution, n)),
  ),
].join("\n\n");

console.log(text);
console.error(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);
if (options.write) {
  const file = join(resolve(dirname(fileURLToPath(import.meta.url)), "../.."), "docs", "methods.md");
  const [begin, end] = ["<!-- simulation: begin -->", "<!-- simulation: end -->"];
  const page = readFileSync(file, "utf8");
  if (!page.includes(begin) || !page.includes(end)) throw new Error(`${file} has no place for the tables: ${begin} ... ${end}`);
  writeFileSync(file, `${page.slice(0, page.indexOf(begin) + begin.length)}\n\n${text}\n\n${page.slice(page.indexOf(end))}`);
}
