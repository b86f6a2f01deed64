import fc from "fast-check";
import { expect, test } from "vitest";
import { PythonRandom } from "./mersenne-twister.js";

/** What CPython 3.11 prints for `random.Random(seed)`: three words; one number below each of RANGES; bits of each of WIDTHS. */
const RANGES = [1, 2, 3, 65, 100, 1000, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 40, 2 ** 53 - 1];
const WIDTHS = [1, 5, 31, 32, 33, 53];
const PYTHON: readonly (readonly [number | bigint, readonly number[], readonly number[], readonly number[]])[] = [
  [
    0,
    [3626764237, 1654615998, 3255389356],
    [0, 1, 0, 33, 65, 497, 1739178872, 3564191072, 4156669319, 619073466650, 6807678383186223],
    [1, 12, 1627694678, 3823568514, 1806341205, 8696133065399866],
  ],
  [
    1,
    [577090037, 2444712010, 3639700191],
    [0, 0, 1, 15, 63, 779, 1930549411, 901749037, 2095328386, 950861988493, 6866010342755958],
    [0, 18, 1819850095, 3445702192, 3280387012, 1062116443042876],
  ],
  [
    42,
    [2746317213, 478163327, 107420369],
    [0, 0, 2, 35, 31, 228, 599310825, 3163119785, 1812140441, 201991441006, 2095622856943755],
    [1, 3, 53710184, 3184935163, 1181241943, 1256845828445918],
  ],
  [
    43,
    [165578901, 1228722198, 2990260696],
    [0, 1, 2, 18, 59, 378, 413538405, 1864308465, 756722154, 235582715373, 1121866160402426],
    [0, 9, 1495130348, 3275703684, 4913155749, 3331556578460551],
  ],
  [
    2 ** 32,
    [485306839, 1508871100, 1794561286],
    [0, 1, 1, 2, 2, 626, 1423829729, 4272311653, 60122280, 752968576454, 3434572548099126],
    [0, 11, 897280643, 4014597330, 71624475, 7891146040264457],
  ],
  [
    2 ** 53 - 1,
    [404802386, 2407860725, 957238923],
    [0, 0, 0, 18, 14, 99, 92468375, 2064941710, 149947005, 83400526789, 8344422753714262],
    [0, 17, 478619461, 3232321614, 5116815672, 1047689185671660],
  ],
  [
    123456789012345678901234567890n,
    [3124625047, 947073620, 685135262],
    [0, 0, 0, 34, 95, 568, 484506087, 1052370538, 881597038, 220382018422, 2197655353944830],
    [1, 7, 342567631, 3525393358, 4345701493, 8604018946398725],
  ],
];

test.each(PYTHON)("seed %s gives Python's numbers", (seed, words, numbers, bits) => {
  const forWords = new PythonRandom(seed);
  expect(words.map(() => forWords.getrandbits(32))).toEqual(words);
  const forNumbers = new PythonRandom(seed);
  expect(RANGES.map((n) => forNumbers.randrange(n))).toEqual(numbers);
  const forBits = new PythonRandom(seed);
  expect(WIDTHS.map((k) => forBits.getrandbits(k))).toEqual(bits);
});

test("the state is renewed every 624 words, as Python renews it", () => {
  const random = new PythonRandom(42);
  const words = Array.from({ length: 2000 }, () => random.getrandbits(32));
  expect([words[623], words[624], words[1999]]).toEqual([2929454134, 1071722055, 1557724698]);
});

test("randrange(3) with seed 42 starts as the original's bootstrap does", () => {
  const random = new PythonRandom(42);
  expect(Array.from({ length: 12 }, () => random.randrange(3))).toEqual([2, 0, 0, 2, 1, 0, 0, 0, 2, 0, 2, 2]);
});

test("the sign of a seed is dropped", () => {
  expect(new PythonRandom(-42).getrandbits(32)).toBe(new PythonRandom(42).getrandbits(32));
});

test("randrange stays in range", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), fc.maxSafeInteger(), (n, seed) => {
      const value = new PythonRandom(seed).randrange(n);
      expect(value >= 0 && value < n).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("refuses what Python's integers can't be", () => {
  expect(() => new PythonRandom(1.5)).toThrow(RangeError);
  expect(() => new PythonRandom(1).randrange(0)).toThrow(RangeError);
  expect(() => new PythonRandom(1).getrandbits(0)).toThrow(RangeError);
});
