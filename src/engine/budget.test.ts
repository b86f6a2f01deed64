import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Ledger } from "./budget.js";

describe("Ledger", () => {
  test("counts queries and refuses the one beyond", () => {
    const ledger = new Ledger();
    for (let i = 0; i < 2; i++) ledger.settle(ledger.reserve({ queries: 2 }, null) as never, undefined);
    expect(ledger.reserve({ queries: 2 }, null)).toBe("2 of 2 queries were asked");
  });

  test("what is under way counts with what it is expected to cost", () => {
    const ledger = new Ledger();
    const budget = { usd: 1 };
    const expected = { usd: 0.4, tokens: 100 };
    const first = ledger.reserve(budget, expected);
    const second = ledger.reserve(budget, expected);
    expect(typeof second).toBe("object");
    expect(ledger.reserve(budget, expected)).toContain("$0.8000 of $1.00");
    ledger.settle(first as never, { usd: 0.1, tokens: 50 });
    expect(typeof ledger.reserve(budget, expected)).toBe("object");
    expect(ledger.spent).toEqual({ usd: 0.1, tokens: 50, queries: 3, unpriced: 0 });
  });

  test("an unknown cost counts as expected, and is told apart", () => {
    const ledger = new Ledger();
    ledger.settle(ledger.reserve(null, { usd: null, tokens: 100 }) as never, { tokens: 80 });
    expect(ledger.spent).toEqual({ usd: 0, tokens: 80, queries: 1, unpriced: 1 });
  });

  test("what was not asked after all is no query", () => {
    const ledger = new Ledger();
    ledger.cancel(ledger.reserve({ queries: 1 }, { usd: 1, tokens: 1 }) as never);
    expect(ledger.spent).toEqual({ usd: 0, tokens: 0, queries: 0, unpriced: 0 });
    expect(typeof ledger.reserve({ queries: 1 }, null)).toBe("object");
  });

  test("never spends more than the budget as long as estimates are not too low", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), {
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 500 }),
        (calls, most) => {
          const ledger = new Ledger();
          const underWay: (() => void)[] = [];
          for (const [tokens, share, ends] of calls) {
            const reserved = ledger.reserve({ tokens: most }, { usd: 0, tokens });
            if (typeof reserved === "string") continue;
            underWay.push(() => ledger.settle(reserved, { usd: 0, tokens: tokens * share }));
            if (ends) underWay.shift()?.();
          }
          for (const settle of underWay) settle();
          expect(ledger.spent.tokens).toBeLessThanOrEqual(most + 1e-9);
        },
      ),
    );
  });
});
