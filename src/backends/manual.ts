/**
 * `manual`: a person answers, at the terminal: their own knowledge, or what a system without a command line said.
 *
 * Questions are shown one at a time. Two are asked of this backend at once all the same: an answer is handed over when the next
 * question has been answered, so that BACK can still change it. It is on disk from the moment it is given (`manual-saved.ts`). STOP leaves
 * the rest for the next run, and what was given is kept and reported.
 */
import { join } from "node:path";
import * as z from "zod";
import { digestJson } from "../base/json.js";
import { CLIPBOARDS, copyToClipboard } from "./clipboard.js";
import type {
  Backend,
  BackendEnvironment,
  BackendKind,
  Finding,
  Question,
  RawAnswer,
  Surroundings,
  Terminal,
} from "./contract.js";
import { findProgram } from "./find-program.js";
import { type LineReader, lineReader } from "./line-reader.js";
import { readGiven } from "./manual-answer.js";
import { SavedAnswers } from "./manual-saved.js";
import { rankedResponse } from "./ranked.js";

const options = z.strictObject({
  prompt: z
    .enum(["text", "text+format"])
    .default("text+format")
    .describe("`text+format`: also the demanded answer format, to paste into a chat. `text`: the issue alone."),
  person: z
    .string()
    .min(1)
    .optional()
    .describe("Who answers, or with which system: part of the key, so that two people's answers stay apart."),
  end_token: z.string().regex(/^\S+$/, "must be one word").default("EOF").describe("A line with this alone ends an answer."),
  copy_query: z.boolean().default(true).describe("Put each question on the clipboard, where the system has one."),
  pause: z.number().min(0).max(60).default(0.25).describe("Seconds without input after an empty line that end an answer."),
});
type Options = z.infer<typeof options>;

/** How long the newest answer waits for another question before it is handed over as the last one. */
const LAST_MS = 500;

export const manual: BackendKind<Options> = {
  kind: "manual",
  summary: "A person answers at the terminal.",
  version: 1,
  options,
  identityOf: ({ prompt, person }) => ({ prompt, person: person ?? null }),
  needsCorpus: false,
  readsTruth: false,
  readsDataset: false,
  prompt: ({ prompt }) => prompt,
  // There is one person and one terminal, whatever the number of cells.
  resource: () => "manual",
  concurrency: () => 2,
  inOrder: true,
  timeout: () => null,
  open: async (config, environment) => new Session(config, environment),
  doctor: async (_config, environment) => [await clipboardFinding(environment)],
};

interface Asked {
  readonly question: Question;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly resolve: (answer: RawAnswer) => void;
}

class Session implements Backend {
  readonly #config: Options;
  readonly #environment: BackendEnvironment;
  readonly #saved: SavedAnswers;
  #reader: LineReader | undefined;
  #release: (() => void) | undefined;
  #waiting: Asked[] = [];
  #held: { readonly asked: Asked; readonly answer: RawAnswer } | undefined;
  /** What a question that is shown again was answered with before: counts until something else is given. */
  readonly #before = new Map<Asked, RawAnswer>();
  #busy = false;
  /** Why nothing more is asked. */
  #over: string | undefined;
  #shown = 0;
  #copies = true;

  constructor(config: Options, environment: BackendEnvironment) {
    this.#config = config;
    this.#environment = environment;
    const folder = environment.cacheFolder?.("manual");
    const name = digestJson(manual.identityOf(config)).slice(0, 16);
    this.#saved = new SavedAnswers(folder === undefined ? null : join(folder, `${name}.jsonl`));
  }

  ask = async (question: Question, signal: AbortSignal): Promise<RawAnswer> => {
    const { terminal } = this.#environment;
    const key = digestJson([question.id, question.repeat, question.prompt]);
    const saved = this.#saved.find(key);
    if (saved !== undefined) {
      this.#environment.warn(`${question.id}: the answer that was given before the last run ended is used`);
      this.#saved.handedOver(key);
      return completed(saved.response, saved.seconds);
    }
    if (terminal === undefined) {
      const error = "nobody is there to answer: run it at a terminal, or pipe the answers in";
      return { status: "skipped", response: "", error };
    }
    if (signal.aborted) return stopped(signal);
    return new Promise((resolve) => {
      const asked: Asked = { question, key, signal, resolve };
      this.#waiting.push(asked);
      signal.addEventListener("abort", () => this.#abort(asked), { once: true });
      void this.#converse(terminal);
    });
  };

  close = async (): Promise<void> => {
    this.#handOver();
    this.#reader?.close();
    this.#release?.();
    this.#saved.settle();
  };

  #abort(asked: Asked): void {
    if (this.#held?.asked === asked) {
      // It was given: what is stopping keeps it.
      this.#handOver();
      return;
    }
    const before = this.#before.get(asked);
    if (before !== undefined) {
      this.#hold(asked, before);
      return;
    }
    this.#waiting = this.#waiting.filter((other) => other !== asked);
    asked.resolve(stopped(asked.signal));
  }

  #handOver(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    this.#saved.handedOver(held.asked.key);
    held.asked.resolve(held.answer);
  }

  async #converse(terminal: Terminal): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const { sleep } = this.#environment;
    for (;;) {
      const asked = this.#waiting[0];
      if (asked === undefined) {
        await sleep(LAST_MS).catch(() => {});
        if (this.#waiting.length > 0) continue;
        break;
      }
      if (this.#over !== undefined) {
        this.#handOver();
        for (const left of this.#waiting.splice(0)) left.resolve(skipped(this.#over));
        continue;
      }
      await this.#one(asked, terminal);
    }
    this.#handOver();
    this.#release?.();
    this.#release = undefined;
    this.#busy = false;
  }

  async #one(asked: Asked, terminal: Terminal): Promise<void> {
    const { clock, sleep } = this.#environment;
    this.#release ??= terminal.hold();
    this.#reader ??= lineReader(terminal, sleep, () => process.kill(process.pid, "SIGINT"));
    await this.#show(asked.question, terminal);
    const began = clock();
    const rules = {
      endToken: this.#config.end_token,
      pauseMilliseconds: this.#config.pause * 1000,
      doubt: terminal.isTTY
        ? () => terminal.output("Nothing yet. Paste the answer; another empty line means: no file at all.\n")
        : null,
    };
    const given = await readGiven(this.#reader, rules, asked.signal);
    const seconds = Math.max(0, clock() - began);
    switch (given.type) {
      case "aborted":
        return;
      case "answer": {
        const response = given.text === "" ? rankedResponse([]) : given.text;
        this.#saved.save({ key: asked.key, id: asked.question.id, response, seconds });
        this.#hold(asked, completed(response, seconds));
        const lines = given.text === "" ? "no file at all" : count(given.text.split("\n").length, "line");
        terminal.output(`Saved: ${lines}.\n`);
        if (given.last) this.#over = "stopped by the person; the next run asks again";
        return;
      }
      case "skip":
        this.#saved.forget(asked.key);
        this.#hold(asked, skipped("skipped by the person; the next run asks again"));
        terminal.output("Skipped; the next run asks again.\n");
        return;
      case "back": {
        const held = this.#held;
        if (held === undefined) {
          terminal.output("There is no going back further: the answer before is stored.\n");
          return;
        }
        this.#held = undefined;
        this.#before.set(held.asked, held.answer);
        this.#waiting.unshift(held.asked);
        terminal.output("Back to the question before. What was given there counts until something else is.\n");
        return;
      }
      case "stop":
        this.#finish(asked, "stopped by the person; the next run asks again");
        terminal.output("Stopped. What was given is kept; the same command asks the rest.\n");
        return;
      case "end":
        this.#finish(asked, "the input ended before this question was answered; the next run asks again");
        return;
    }
  }

  #finish(asked: Asked, why: string): void {
    this.#over = why;
    const before = this.#before.get(asked);
    if (before !== undefined) this.#hold(asked, before);
  }

  /** The answer waits for the next one; the one that waited is handed over. */
  #hold(asked: Asked, answer: RawAnswer): void {
    this.#handOver();
    this.#waiting = this.#waiting.filter((other) => other !== asked);
    this.#before.delete(asked);
    this.#held = { asked, answer };
    // Stopped while it was being typed.
    if (asked.signal.aborted) this.#handOver();
  }

  async #show(question: Question, terminal: Terminal): Promise<void> {
    this.#shown++;
    const repeat = question.repeat === 0 ? "" : `, repeat ${question.repeat + 1}`;
    terminal.output(`\n${"─".repeat(72)}\n${printable(question.id)}${repeat} (question ${this.#shown} of this session)\n\n`);
    terminal.output(`${printable(question.prompt)}\n\n`);
    if (this.#config.copy_query && this.#copies) {
      const program = await copyToClipboard(question.prompt, this.#environment.env, this.#environment.sleep);
      // Said once; where there is no clipboard now there will be none for the next question.
      this.#copies = program !== null;
      terminal.output(
        program === null
          ? "The question could not be copied: no clipboard program works here (pbcopy, wl-copy, xclip, xsel, clip).\n"
          : `The question is on the clipboard (${program}).\n`,
      );
    }
    terminal.output(
      `Paste the answer. It ends at an empty line followed by a pause, or at a line with ${this.#config.end_token}.\n` +
        "STOP keeps what was given and ends; SKIP leaves this question to the next run; BACK changes the answer before.\n",
    );
  }
}

function completed(response: string, seconds: number): RawAnswer {
  return { status: "completed", response, seconds, details: { given_by: "person" } };
}

function skipped(error: string): RawAnswer {
  return { status: "skipped", response: "", error };
}

function stopped(signal: AbortSignal): RawAnswer {
  const late = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return late
    ? { status: "timed_out", response: "", error: "no answer was given in time" }
    : skipped("the run was stopped before this question was answered");
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** Issue texts are written by strangers: no escape sequence of theirs reaches the terminal. */
function printable(text: string): string {
  return (
    text
      .replaceAll("\r\n", "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject here
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "·")
  );
}

async function clipboardFinding({ env, baseFolder }: Surroundings): Promise<Finding> {
  for (const [name = ""] of CLIPBOARDS) {
    if ((await findProgram(name, env, baseFolder)) !== null)
      return { check: "clipboard", status: "ok", found: `${name} is there` };
  }
  return {
    check: "clipboard",
    status: "warning",
    found: "no clipboard program is on the PATH: questions are shown, and not copied",
    fix: "install wl-clipboard, xclip or xsel, or set copy_query: false",
  };
}
