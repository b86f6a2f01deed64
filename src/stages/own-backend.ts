/**
 * A person's own backend behind a guard: what it throws is its failure, told in a line with the module's name, and what it returns is looked at
 * before it is believed. Written in JavaScript by somebody in a hurry, it must neither end a night's run nor store an answer that no one can read.
 */
import * as z from "zod";
import { ANSWER_STATUSES } from "../answers/schema.js";
import { type AnyKind, type Backend, type RawAnswer, UnusableConfiguration } from "../backends/contract.js";
import { redactor } from "../base/env-secrets.js";
import { firstProblem } from "../base/plain-words.js";
import { thrown } from "../base/thrown.js";
import { CacheBroken, CacheUnwritable, DamagedEntry } from "../cache/errors.js";

const count = z.nullish(z.number().check(z.nonnegative()));
const rawAnswerSchema = z.object({
  status: z.enum(ANSWER_STATUSES),
  response: z.string(),
  finish_reason: z.nullish(z.string()),
  error: z.nullish(z.string()),
  usage: z.nullish(z.object({ input_tokens: count, output_tokens: count, reasoning_tokens: count, cost_usd: count })),
  seconds: z.optional(z.number().check(z.nonnegative())),
  details: z.optional(z.record(z.string(), z.unknown())),
  retry: z.optional(z.object({ after: z.optional(z.number().check(z.nonnegative())) })),
  asked: z.optional(z.boolean()),
  ofAll: z.optional(z.enum(["fail", "stop"])),
});

/** `path`: the module as the pipeline names it. */
export function guarded(kind: AnyKind, path: string): AnyKind {
  const unusable = (what: string, error: unknown) => new UnusableConfiguration(`${path}: \`${what}\` threw ${thrown(error)}`);
  const { fingerprint } = kind;
  return {
    ...kind,
    identityOf: (options) => {
      try {
        const identity: unknown = kind.identityOf(options);
        return JSON.parse(JSON.stringify(identity ?? null));
      } catch (error) {
        throw unusable("identityOf", error);
      }
    },
    ...(fingerprint === undefined
      ? {}
      : {
          fingerprint: async (options: unknown, environment: Parameters<typeof fingerprint>[1]) => {
            try {
              return await fingerprint(options, environment);
            } catch (error) {
              throw error instanceof UnusableConfiguration ? error : unusable("fingerprint", error);
            }
          },
        }),
    open: async (options, environment) => {
      let backend: Partial<Backend>;
      try {
        backend = await kind.open(options, environment);
      } catch (error) {
        throw error instanceof UnusableConfiguration ? error : unusable("open", error);
      }
      if (typeof backend?.ask !== "function")
        throw new UnusableConfiguration(`${path}: \`open\` gave nothing with a function \`ask\``);
      const { ask } = backend;
      const redact = redactor(environment.env);
      return {
        ask: async (question, signal) => {
          const given = await answer(path, () => ask.call(backend, question, signal), signal);
          return typeof given.error === "string" ? { ...given, error: redact(given.error) } : given;
        },
        close: async () => {
          try {
            await backend.close?.();
          } catch (error) {
            environment.warn(`${path}: \`close\` threw ${thrown(error)}`);
          }
        },
      };
    },
    ...(kind.doctor === undefined
      ? {}
      : {
          doctor: async (...given: Parameters<NonNullable<AnyKind["doctor"]>>) => {
            try {
              return (await kind.doctor?.(...given)) ?? [];
            } catch (error) {
              const found = `\`doctor\` threw ${thrown(error)}`;
              return [{ check: "module", status: "problem" as const, found, fix: `mend ${path}` }];
            }
          },
        }),
  };
}

async function answer(path: string, ask: () => Promise<RawAnswer>, signal: AbortSignal): Promise<RawAnswer> {
  let given: unknown;
  try {
    given = await ask();
  } catch (error) {
    // What reading the source tree throws is the engine's to mend.
    if (error instanceof DamagedEntry || error instanceof CacheBroken || error instanceof CacheUnwritable) throw error;
    const late = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    if (signal.aborted)
      return failure(
        late ? "timed_out" : "failed",
        `${path} ${late ? "gave no answer in time" : "was stopped before it answered"}`,
      );
    return failure("failed", `${path} threw ${thrown(error)}`);
  }
  const read = rawAnswerSchema.safeParse(given);
  if (!read.success)
    return failure("failed", `what \`ask\` of ${path} returned is no answer: ${firstProblem(read.error, given)}`);
  try {
    // What JSON can't hold (a cycle, a BigInt) could not be stored.
    return JSON.parse(JSON.stringify(read.data)) as RawAnswer;
  } catch (error) {
    return failure("failed", `what \`ask\` of ${path} returned can't be stored: ${thrown(error)}`);
  }
}

function failure(status: "failed" | "timed_out", error: string): RawAnswer {
  return { status, response: "", error };
}
