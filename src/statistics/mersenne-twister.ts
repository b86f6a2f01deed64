/**
 * Python's `random.Random(seed)` for integer seeds: MT19937 (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998) with Python's way
 * of seeding and of drawing integers. It is here for one reason: the original program's intervals can be continued only with
 * the very numbers that it drew. Everything else uses `generator.ts`.
 */
const N = 624;
const M = 397;

export class PythonRandom {
  private readonly state = new Uint32Array(N);
  private position = N;

  /** A whole number of any size; its sign is dropped, as Python does. */
  constructor(seed: number | bigint) {
    if (typeof seed === "number" && !Number.isSafeInteger(seed)) throw new RangeError(`seed ${seed} is not a whole number`);
    let rest = BigInt(seed);
    if (rest < 0n) rest = -rest;
    const key: number[] = [];
    do {
      key.push(Number(rest & 0xffffffffn));
      rest >>= 32n;
    } while (rest > 0n);
    this.seedByArray(key);
  }

  /** `k` random bits, 1 <= k <= 53: 32-bit words, the least significant first, each cut to its *upper* bits. */
  getrandbits(k: number): number {
    if (!Number.isInteger(k) || k < 1 || k > 53) throw new RangeError(`getrandbits(${k}): k must be from 1 to 53`);
    if (k <= 32) return this.next() >>> (32 - k);
    const low = this.next();
    return low + (this.next() >>> (64 - k)) * 2 ** 32;
  }

  /** Uniform on 0 .. n - 1: as many bits as `n` has, drawn again while the number is not below `n`. */
  randrange(n: number): number {
    if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`randrange(${n}): n must be a whole number from 1`);
    const bits = bitLength(n);
    let candidate = this.getrandbits(bits);
    while (candidate >= n) candidate = this.getrandbits(bits);
    return candidate;
  }

  private next(): number {
    if (this.position >= N) this.twist();
    let y = this.state[this.position++] ?? 0;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  private twist(): void {
    const state = this.state;
    for (let i = 0; i < N; i++) {
      const y = ((state[i] ?? 0) & 0x80000000) | ((state[(i + 1) % N] ?? 0) & 0x7fffffff);
      state[i] = (state[(i + M) % N] ?? 0) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.position = 0;
  }

  private seedByArray(key: readonly number[]): void {
    const state = this.state;
    state[0] = 19650218;
    for (let i = 1; i < N; i++) state[i] = Math.imul(1812433253, mixed(state, i - 1)) + i;
    let i = 1;
    let j = 0;
    const advance = () => {
      if (++i < N) return;
      state[0] = state[N - 1] ?? 0;
      i = 1;
    };
    for (let k = Math.max(N, key.length); k > 0; k--) {
      state[i] = ((state[i] ?? 0) ^ Math.imul(mixed(state, i - 1), 1664525)) + (key[j] ?? 0) + j;
      j = (j + 1) % key.length;
      advance();
    }
    for (let k = N - 1; k > 0; k--) {
      state[i] = ((state[i] ?? 0) ^ Math.imul(mixed(state, i - 1), 1566083941)) - i;
      advance();
    }
    state[0] = 0x80000000;
  }
}

function mixed(state: Uint32Array, index: number): number {
  const value = state[index] ?? 0;
  return value ^ (value >>> 30);
}

function bitLength(n: number): number {
  return n < 2 ** 32 ? 32 - Math.clz32(n) : 32 + (32 - Math.clz32(Math.floor(n / 2 ** 32)));
}
