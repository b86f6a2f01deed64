/** Asks one backend one question, with an outside world that a test controls. */
import type { Backend, BackendEnvironment, BackendKind, Question, RawAnswer } from "../../src/backends/contract.js";
import { targetSchema } from "../../src/dataset/schema.js";

function backendEnvironment(overrides: Partial<BackendEnvironment> = {}): BackendEnvironment {
  return { clock: () => 0, sleep: async () => {}, env: {}, baseFolder: "/", warn: () => {}, ...overrides };
}

/** Options as a pipeline file would give them: checked, defaults filled. */
export async function openBackend<C>(
  kind: BackendKind<C>,
  options: Record<string, unknown>,
  environment: Partial<BackendEnvironment> = {},
): Promise<Backend> {
  return kind.open(kind.options.parse(options), backendEnvironment(environment));
}

export async function ask(
  backend: Backend,
  question: Partial<Question>,
  signal: AbortSignal = new AbortController().signal,
): Promise<RawAnswer> {
  const id = question.id ?? "case";
  return backend.ask({ repeat: 0, prompt: "", ...question, id, case: question.case ?? { id } }, signal);
}

export function targets(...paths: string[]) {
  return paths.map((path) => targetSchema.parse({ path, role: "source" }));
}

/** Paths of an answer in the baselines' JSON. */
export function pathsOf(answer: RawAnswer): string[] {
  return (JSON.parse(answer.response) as { classes: { path: string }[] }).classes.map(({ path }) => path);
}
