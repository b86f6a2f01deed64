/** The standard normal distribution: its distribution function and quantiles, as far as intervals need them. */

/**
 * P(Z <= x), absolute error below 1e-15. Series of Marsaglia, "Evaluating the Normal Distribution", Journal of Statistical
 * Software 11(4), 2004: 1/2 + phi(x) (x + x^3/3 + x^5/(3*5) + ...).
 */
export function normalDistribution(x: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x > 8.3) return 1;
  if (x < -8.3) return 0;
  let term = x;
  let total = x;
  for (let i = 3; ; i += 2) {
    term *= (x * x) / i;
    const next = total + term;
    if (next === total) break;
    total = next;
  }
  const value = 0.5 + total * Math.exp(-0.5 * x * x - 0.9189385332046728);
  return Math.min(1, Math.max(0, value));
}

/**
 * The x with P(Z <= x) = p, relative error about 1e-16; -Infinity and Infinity for 0 and 1. Wichura, "Algorithm AS 241: The
 * Percentage Points of the Normal Distribution", Applied Statistics 37(3), 1988 (PPND16).
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) return Number.NaN;
  if (p === 0) return Number.NEGATIVE_INFINITY;
  if (p === 1) return Number.POSITIVE_INFINITY;
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * polynomial(CENTRE[0], r)) / polynomial(CENTRE[1], r);
  }
  const r = Math.sqrt(-Math.log(q < 0 ? p : 1 - p));
  const [top, bottom] = r <= 5 ? TAIL : FAR_TAIL;
  const shifted = r <= 5 ? r - 1.6 : r - 5;
  const x = polynomial(top, shifted) / polynomial(bottom, shifted);
  return q < 0 ? -x : x;
}

/** Horner's rule; coefficients from the highest power down. */
function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((value, coefficient) => value * x + coefficient, 0);
}

type Rational = readonly [readonly number[], readonly number[]];

const CENTRE: Rational = [
  [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
    133.14166789178438, 3.3871328727963665,
  ],
  [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
    42.31333070160091, 1,
  ],
];
const TAIL: Rational = [
  [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045, 5.769497221460691,
    4.630337846156546, 1.4234371107496835,
  ],
  [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851, 1.6763848301838038,
    2.053191626637759, 1,
  ],
];
const FAR_TAIL: Rational = [
  [
    2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
    1.7848265399172913, 5.463784911164114, 6.657904643501103,
  ],
  [
    2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133, 0.014875361290850615,
    0.1369298809227358, 0.599832206555888, 1,
  ],
];
