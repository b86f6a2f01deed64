/**
 * Is what a key names still what it was? A rule file that is saved, an index that is built again, a script that is edited while questions are asked:
 * a result that was made meanwhile must not be found under the key of what was there before.
 *
 * A result may be stored if a look that began after it was made finds everything as it was at the start. Looks are shared: whatever is made while one is
 * under way waits for the next, so that there are never more than two for any number of units.
 */
import { canonicalJson } from "../base/json.js";
import type { KeyPart } from "../cache/key.js";

/** A key that nobody will ever look for again needs no look. */
export const NEVER_CACHED = "not cached";

export class InputCheck {
  readonly #look: () => Promise<readonly KeyPart[]>;
  readonly #before: ReadonlyMap<string, string>;
  readonly #needed: boolean;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<readonly string[]> | null = null;

  constructor(look: () => Promise<readonly KeyPart[]>, before: readonly KeyPart[]) {
    this.#look = look;
    this.#before = byName(before);
    this.#needed = before.length > 0 && !this.#before.has(NEVER_CACHED);
  }

  /** Names of the parts that are others now; empty: all is as it was. */
  changed(): Promise<readonly string[]> {
    if (!this.#needed) return Promise.resolve([]);
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const looking = this.#compare();
      this.#running = looking;
      return looking;
    });
    return this.#next;
  }

  async #compare(): Promise<readonly string[]> {
    let now: ReadonlyMap<string, string>;
    try {
      now = byName(await this.#look());
    } catch {
      // It is gone, or can't be read any more.
      return [...this.#before.keys()];
    }
    const names = new Set([...this.#before.keys(), ...now.keys()]);
    return [...names].filter((name) => this.#before.get(name) !== now.get(name));
  }
}

function byName(parts: readonly KeyPart[]): ReadonlyMap<string, string> {
  return new Map(parts.map(({ name, value }) => [name, canonicalJson(value)]));
}
