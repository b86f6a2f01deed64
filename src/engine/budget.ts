/**
 * What a stage may spend in one run, over all its cells. Nothing starts that would go beyond: what is under way counts with what it is expected
 * to cost until its true cost is known. What was paid for in an earlier run comes from the cache and costs nothing here.
 */

export interface Budget {
  readonly usd?: number;
  readonly tokens?: number;
  readonly queries?: number;
}

/** null = unknown. */
export interface Expected {
  readonly usd: number | null;
  readonly tokens: number | null;
}

export interface Spent {
  readonly usd: number;
  readonly tokens: number;
  readonly queries: number;
  /** Calls whose cost in dollars nobody knows. */
  readonly unpriced: number;
}

type Amounts = { usd: number; tokens: number };

export interface Reservation {
  readonly expected: Amounts;
}

export class Ledger {
  readonly #spent = { usd: 0, tokens: 0, queries: 0, unpriced: 0 };
  readonly #underWay: Amounts = { usd: 0, tokens: 0 };

  get spent(): Spent {
    return { ...this.#spent };
  }

  /** Counts one query and sets aside what it may cost; a string says why it must not start. `budget` null = there is none. */
  reserve(budget: Budget | null, expected: Expected | null): Reservation | string {
    const amounts = { usd: expected?.usd ?? 0, tokens: expected?.tokens ?? 0 };
    const problem = budget === null ? null : this.#exceeded(budget, amounts);
    if (problem !== null) return problem;
    this.#spent.queries += 1;
    this.#underWay.usd += amounts.usd;
    this.#underWay.tokens += amounts.tokens;
    return { expected: amounts };
  }

  /** `cost`: what it cost; members that are absent are unknown, and count as expected. undefined: it cost nothing (it never got through). */
  settle({ expected }: Reservation, cost: Partial<Amounts> | undefined): void {
    this.#underWay.usd -= expected.usd;
    this.#underWay.tokens -= expected.tokens;
    if (cost === undefined) return;
    this.#spent.usd += cost.usd ?? expected.usd;
    this.#spent.tokens += cost.tokens ?? expected.tokens;
    if (cost.usd === undefined) this.#spent.unpriced += 1;
  }

  /** Nothing was asked after all. */
  cancel(reservation: Reservation): void {
    this.#spent.queries -= 1;
    this.settle(reservation, undefined);
  }

  #exceeded(budget: Budget, next: Amounts): string | null {
    const { queries } = this.#spent;
    if (budget.queries !== undefined && queries >= budget.queries) return `${queries} of ${budget.queries} queries were asked`;
    for (const what of ["usd", "tokens"] as const) {
      const most = budget[what];
      if (most === undefined) continue;
      const counted = this.#spent[what] + this.#underWay[what];
      if (counted >= most || counted + next[what] > most) {
        return `${shown(what, counted)} of ${shown(what, most)} ${what === "usd" ? "are spent or under way" : "tokens are used or under way"}, and the next question may take ${shown(what, next[what])}`;
      }
    }
    return null;
  }
}

function shown(what: "usd" | "tokens", amount: number): string {
  return what === "usd" ? `$${amount.toFixed(amount < 1 ? 4 : 2)}` : String(Math.round(amount));
}
