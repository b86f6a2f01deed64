/** `needs` held against the kinds: is each name a stage, does its output fit, is anything missing? */
import { nearest } from "../base/nearest.js";
import type { Mistakes } from "./mistakes.js";
import type { StageKindInfo } from "./model.js";
import { orderStages } from "./order.js";
import type { RawStage } from "./stage.js";
import { code, listed } from "./words.js";

export interface ResolvedNeed {
  readonly stage: string;
  /** `join`: all cells of it flow into each cell of the needing stage; `pair`: cell by cell. */
  readonly mode: "pair" | "join";
}

export interface ResolvedNeeds {
  readonly needs: ReadonlyMap<string, readonly ResolvedNeed[]>;
  readonly order: readonly string[];
  /** Stages whose cells can't be told, because a need of theirs (or further up) is wrong. */
  readonly unsure: ReadonlySet<string>;
}

type Kinds = ReadonlyMap<string, StageKindInfo>;

export function resolveNeeds(
  stages: ReadonlyMap<string, RawStage>,
  /** Names of all stages in the file, also of those that could not be read. */
  names: ReadonlySet<string>,
  kinds: Kinds,
  mistakes: Mistakes,
): ResolvedNeeds {
  const edges = new Map([...stages.values()].map(({ name, needs }) => [name, needs.map((need) => need.name)]));
  const { order, circles } = orderStages(edges);
  for (const circle of circles) reportCircle(circle, stages, mistakes);
  const resolved = new Map<string, readonly ResolvedNeed[]>();
  const unsure = new Set<string>();
  const circling = new Set(circles.flat());
  const reported = new Set(
    circles.flatMap((circle) => circle.map((name, index) => edge(name, circle[(index + 1) % circle.length] ?? name))),
  );
  for (const name of order) {
    const stage = stages.get(name);
    if (stage === undefined) continue;
    const { list, sound } = resolveStage(stage, stages, names, kinds, reported, mistakes);
    resolved.set(name, list);
    if (!sound || circling.has(name) || stage.needs.some((need) => unsure.has(need.name))) unsure.add(name);
  }
  return { needs: resolved, order, unsure };
}

function edge(from: string, to: string): string {
  return `${from}\n${to}`;
}

function reportCircle(circle: readonly string[], stages: ReadonlyMap<string, RawStage>, mistakes: Mistakes): void {
  const [first = "", second = first] = circle;
  const stage = stages.get(first);
  const span = stage?.needs.find(({ name }) => name === second)?.span ?? stage?.nameSpan ?? { start: 0, end: 0 };
  const shown = circle.length > 12 ? [...circle.slice(0, 6), "…", ...circle.slice(-3)] : circle;
  const path = [...shown, first].map((name) => (name === "…" ? name : code(name))).join(" -> ");
  mistakes.error(span, `these stages need each other in a circle: ${path}`, "remove one of these needs");
}

function resolveStage(
  stage: RawStage,
  stages: ReadonlyMap<string, RawStage>,
  names: ReadonlySet<string>,
  kinds: Kinds,
  reported: ReadonlySet<string>,
  mistakes: Mistakes,
): { list: ResolvedNeed[]; sound: boolean } {
  const kind = stage.uses === null ? undefined : kinds.get(stage.uses.kind);
  const list: ResolvedNeed[] = [];
  const byType = new Map<string, string>();
  const misfits = new Set<string>();
  let sound = stage.needsSound;
  for (const need of stage.needs) {
    const other = stages.get(need.name);
    if (other === undefined) {
      sound = false;
      if (!names.has(need.name)) reportUnknown(need.name, need.span, stage, stages, mistakes);
      continue;
    }
    const otherKind = other.uses === null ? undefined : kinds.get(other.uses.kind);
    if (kind === undefined || otherKind === undefined) {
      sound &&= otherKind !== undefined;
      list.push({ stage: need.name, mode: "pair" });
      continue;
    }
    const type = otherKind.produces;
    const arity = Object.hasOwn(kind.consumes, type) ? kind.consumes[type] : undefined;
    list.push({ stage: need.name, mode: arity === "many" || arity === "some" ? "join" : "pair" });
    if (arity === undefined) {
      // A need that closes a circle is a mistake already, whatever it gives.
      if (reported.has(edge(stage.name, need.name))) {
        sound = false;
        continue;
      }
      misfits.add(need.name);
      const uses = Object.keys(kind.consumes);
      const wanted = uses.length === 0 ? "it needs no stage" : `it takes ${listed(uses, "and")}`;
      mistakes.error(
        need.span,
        `${code(need.name)} produces ${code(type)}, which ${code(kind.kind)} can't use`,
        `remove it; ${wanted}`,
      );
      continue;
    }
    const first = byType.get(type);
    if (first !== undefined && (arity === "one" || arity === "optional")) {
      const message = `${code(kind.kind)} takes one stage that produces ${code(type)}, and ${code(first)} is one already`;
      mistakes.error(need.span, message, "keep one of them");
    }
    byType.set(type, need.name);
  }
  if (sound && kind !== undefined) {
    for (const [type, arity] of Object.entries(kind.consumes)) {
      if ((arity === "one" || arity === "some") && !byType.has(type))
        reportMissing(stage, kind, type, misfits, stages, kinds, mistakes);
    }
  }
  return { list, sound };
}

function reportUnknown(
  name: string,
  span: RawStage["nameSpan"],
  stage: RawStage,
  stages: ReadonlyMap<string, RawStage>,
  mistakes: Mistakes,
): void {
  const others = [...stages.keys()].filter((other) => other !== stage.name);
  const near = nearest(name, others);
  const names = others.length === 0 ? "there are no other stages" : `there are ${listed(others, "and")}`;
  mistakes.error(span, `there is no stage ${code(name)}`, near === undefined ? names : `did you mean ${code(near)}?`);
}

function reportMissing(
  stage: RawStage,
  kind: StageKindInfo,
  type: string,
  misfits: ReadonlySet<string>,
  stages: ReadonlyMap<string, RawStage>,
  kinds: Kinds,
  mistakes: Mistakes,
): void {
  const downstream = dependants(stage.name, stages);
  const producers = [...stages.values()].filter(
    ({ name, uses }) => uses !== null && kinds.get(uses.kind)?.produces === type && !downstream.has(name),
  );
  const message = `the stage ${code(stage.name)} (${code(kind.kind)}) needs a stage that produces ${code(type)}`;
  const [only] = producers;
  if (only === undefined) {
    const makers = [...kinds.values()].filter(({ produces }) => produces === type).map((each) => each.kind);
    const suggestion =
      makers.length === 0
        ? "no stage kind produces it"
        : `add a stage that uses ${listed(makers)}, and name it in ${code("needs")}`;
    mistakes.error(stage.needsSpan, message, suggestion);
    return;
  }
  const names = producers.map(({ name }) => name);
  const present = stage.needs.map(({ name }) => name).filter((name) => !misfits.has(name));
  const written = present.length === 0 ? `needs: ${only.name}` : `needs: [${[...present, only.name].join(", ")}]`;
  const change = stage.needs.length === 0 ? "add" : "write";
  mistakes.error(
    stage.needsSpan,
    message,
    producers.length === 1 ? `${change} ${code(written)}` : `${change} one of ${listed(names)} to ${code("needs")}`,
  );
}

/** The stage itself and all that need it, directly or not. */
function dependants(name: string, stages: ReadonlyMap<string, RawStage>): ReadonlySet<string> {
  const reached = new Set([name]);
  let before = 0;
  while (before < reached.size) {
    before = reached.size;
    for (const stage of stages.values()) if (stage.needs.some((need) => reached.has(need.name))) reached.add(stage.name);
  }
  return reached;
}
