/** Stages in an order in which each comes after those that it needs, and the circles that prevent one. */

export interface Ordered {
  /** All names; where there are circles, as if one need of each were absent. */
  readonly order: readonly string[];
  /** Each starts with its first name in the given order: `[a, b]` = a needs b and b needs a. */
  readonly circles: readonly (readonly string[])[];
}

const MAX_CIRCLES = 20;

/**
 * Among the stages that could come next the first of the given order does, so that a file in a sensible order keeps it.
 * A need outside `needs`' keys is ignored. When a circle is found one of its needs is left out, and the search goes on: every
 * circle that would remain after mending the others is found in one pass.
 */
export function orderStages(needs: ReadonlyMap<string, readonly string[]>): Ordered {
  const names = [...needs.keys()];
  const position = new Map(names.map((name, index) => [name, index]));
  const open = new Map(names.map((name) => [name, new Set((needs.get(name) ?? []).filter((need) => needs.has(need)))]));
  const users = new Map<string, string[]>();
  for (const [name, own] of open) for (const need of own) users.set(need, [...(users.get(need) ?? []), name]);
  const order: string[] = [];
  const circles: string[][] = [];
  const done = new Set<string>();
  const place = (name: string): void => {
    done.add(name);
    order.push(name);
    for (const user of users.get(name) ?? []) open.get(user)?.delete(name);
  };
  while (done.size < names.length) {
    const next = names.find((name) => !done.has(name) && open.get(name)?.size === 0);
    if (next !== undefined) {
      place(next);
      continue;
    }
    const circle = findCircle(names.find((name) => !done.has(name)) ?? "", open, position);
    if (circles.length === MAX_CIRCLES) {
      order.push(...names.filter((name) => !done.has(name)));
      break;
    }
    circles.push(circle);
    const [first = "", second = first] = circle;
    open.get(first)?.delete(second);
  }
  return { order, circles };
}

/** Every name left needs another that is left, so that walking from need to need must come back to a name seen before. */
function findCircle(
  start: string,
  open: ReadonlyMap<string, ReadonlySet<string>>,
  position: ReadonlyMap<string, number>,
): string[] {
  const path: string[] = [];
  const seen = new Map<string, number>();
  let name = start;
  while (!seen.has(name)) {
    seen.set(name, path.length);
    path.push(name);
    [name = start] = open.get(name) ?? [];
  }
  const circle = path.slice(seen.get(name));
  const first = circle.reduce((best, each) => ((position.get(each) ?? 0) < (position.get(best) ?? 0) ? each : best));
  const turn = circle.indexOf(first);
  return [...circle.slice(turn), ...circle.slice(0, turn)];
}
