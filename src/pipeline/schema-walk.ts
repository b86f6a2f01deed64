/**
 * What a zod schema knows at a place: which keys a mapping may have, whether text is welcome.
 *
 * zod says that a key is unknown but not which would have been right, so the schema is walked along the path of the issue, through
 * wrappers (optional, default, pipes) and unions; in a union told apart by a key (`kind`) along the branch that the value chose.
 */
import type * as z from "zod";
import { isWrittenText } from "../base/written-text.js";

/** zod's public description of a schema (`schema._zod.def`); each type has other members. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly discriminator?: string;
  readonly element?: z.ZodType;
  readonly items?: readonly z.ZodType[];
  readonly rest?: z.ZodType | null;
  readonly valueType?: z.ZodType;
  readonly left?: z.ZodType;
  readonly right?: z.ZodType;
  readonly getter?: () => z.ZodType;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, unknown>>;
}

function definition(schema: z.ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}

/** A schema may refer to itself; no file is nested deeper than this. */
const MAX_STEPS = 100;

/** The schemas behind wrappers; several for unions and intersections. */
function unwrap(schema: z.ZodType, value: unknown, steps = MAX_STEPS): z.ZodType[] {
  const def = definition(schema);
  if (steps === 0) return [];
  const next = (inner: z.ZodType | undefined): z.ZodType[] => (inner === undefined ? [] : unwrap(inner, value, steps - 1));
  switch (def.type) {
    case "lazy":
      return next(def.getter?.());
    case "pipe":
      // `preprocess` is a pipe whose input is a bare function: what it expects is what comes out of that.
      return next(def.in !== undefined && definition(def.in).type !== "transform" ? def.in : def.out);
    case "union":
      return branches(def, value).flatMap(next);
    case "intersection":
      return [...next(def.left), ...next(def.right)];
    default:
      return def.innerType === undefined ? [schema] : next(def.innerType);
  }
}

function branches(def: Definition, value: unknown): readonly z.ZodType[] {
  const options = def.options ?? [];
  const { discriminator } = def;
  if (discriminator === undefined || typeof value !== "object" || value === null) return options;
  const wanted = (value as Record<string, unknown>)[discriminator];
  const chosen = options.filter((option) => acceptedValues(option, discriminator).includes(wanted));
  return chosen.length > 0 ? chosen : options;
}

/** Literal values that a branch accepts for a key. */
function acceptedValues(option: z.ZodType, key: string): readonly unknown[] {
  return unwrap(option, undefined).flatMap((schema) => {
    const property = definition(schema).shape?.[key];
    return property === undefined ? [] : unwrap(property, undefined).flatMap((inner) => literals(inner));
  });
}

function literals(schema: z.ZodType): readonly unknown[] {
  const def = definition(schema);
  return def.values ?? Object.values(def.entries ?? {});
}

/** The schemas that may apply at `path` below `schema`, chosen by what `value` says of its kind. */
function schemasAt(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): z.ZodType[] {
  let current: { readonly schemas: z.ZodType[]; readonly value: unknown } = { schemas: unwrap(schema, value), value };
  for (const step of path) {
    const inner = typeof current.value === "object" && current.value !== null ? Reflect.get(current.value, step) : undefined;
    const below = current.schemas.flatMap((each) => {
      const child = childOf(definition(each), step);
      return child === undefined ? [] : unwrap(child, inner);
    });
    current = { schemas: below, value: inner };
  }
  return current.schemas;
}

function childOf(def: Definition, step: PropertyKey): z.ZodType | undefined {
  switch (def.type) {
    case "object":
      return def.shape !== undefined && Object.hasOwn(def.shape, step) ? def.shape[String(step)] : def.catchall;
    case "record":
    case "map":
      return def.valueType;
    case "array":
      return def.element;
    case "tuple":
      return def.items?.[Number(step)] ?? def.rest ?? undefined;
    default:
      return undefined;
  }
}

/** Keys that a mapping at `path` may have, in the order of the schema. */
export function keysAt(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): string[] {
  return [...new Set(schemasAt(schema, value, path).flatMap((each) => Object.keys(definition(each).shape ?? {})))];
}

/** True where a mapping at `path` takes `key`, by name or because it takes any. */
export function takesKey(schema: z.ZodType, value: unknown, path: readonly PropertyKey[], key: string): boolean {
  return schemasAt(schema, value, path).some((each) => {
    const def = definition(each);
    const open = def.catchall !== undefined && definition(def.catchall).type !== "never";
    return (
      (def.shape !== undefined && Object.hasOwn(def.shape, key)) ||
      open ||
      ["record", "any", "unknown", "custom"].includes(def.type)
    );
  });
}

/** Literal values that are right at `path`. */
export function literalsAt(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): unknown[] {
  return schemasAt(schema, value, path).flatMap((each) => literals(each));
}

/** True where the schema takes what is written at `path` as text, number or not (`writtenText`). */
export function takesWritten(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): boolean {
  return schemasAt(schema, value, path).some(isWrittenText);
}
