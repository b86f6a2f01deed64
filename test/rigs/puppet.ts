/**
 * The other side of `puppet.mjs`: counts what is asked, and answers when the test says so.
 *
 * `onAsk` is called for each question as it arrives; a question that it does not answer is held. Whatever the test waits for is an event
 * (a question, the end of a process), never a stretch of time.
 */
import { copyFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

export class Asked {
  readonly id: string;
  readonly repeat: number;
  readonly pid: number;
  /** `PUPPET_RUN` of the run that started it: a killed run's puppets may turn up after its end. */
  readonly run: string;
  readonly query: string;
  answered = false;
  /** Resolves when its process has ended (its connection closes with it). */
  readonly gone: Promise<void>;
  isGone = false;
  readonly #socket: Socket;

  constructor(socket: Socket, said: Pick<Asked, "id" | "repeat" | "pid" | "run" | "query">) {
    const { id, repeat, pid, run, query } = said;
    this.#socket = socket;
    this.id = id;
    this.repeat = repeat;
    this.pid = pid;
    this.run = run;
    this.query = query;
    this.gone = new Promise((resolve) => {
      socket.once("close", () => {
        this.isGone = true;
        resolve();
      });
    });
  }

  answer(text: string, exit = 0): void {
    this.answered = true;
    this.#socket.write(`${JSON.stringify({ answer: text, exit })}\n`);
  }

  /** Its process ends without an answer. */
  drop(): void {
    this.#socket.end();
  }
}

export class Puppets {
  readonly env: Record<string, string>;
  /** Every question in the order of arrival. */
  readonly asked: Asked[] = [];
  onAsk: (question: Asked) => void = () => {};
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #listeners: (() => void)[] = [];

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.env = { PUPPET_PORT: String((server.address() as AddressInfo).port) };
  }

  static async start(): Promise<Puppets> {
    const sockets = new Set<Socket>();
    let puppets: Puppets | undefined;
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      let heard = "";
      let known = false;
      socket.setEncoding("utf8").on("data", (text: string) => {
        heard += text;
        if (known || !heard.includes("\n")) return;
        known = true;
        puppets?.hear(new Asked(socket, JSON.parse(heard)));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    puppets = new Puppets(server, sockets);
    return puppets;
  }

  private hear(question: Asked): void {
    this.asked.push(question);
    this.onAsk(question);
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** Questions whose processes still run. */
  get alive(): Asked[] {
    return this.asked.filter(({ isGone }) => !isGone);
  }

  /** Resolves when that many questions have been asked in all. */
  async whenAsked(count: number): Promise<void> {
    while (this.asked.length < count) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  /** How often each question was asked, those that were asked once left out. */
  repeats(): Record<string, number> {
    const counts = new Map<string, number>();
    for (const { id, repeat } of this.asked) counts.set(`${id}/${repeat}`, (counts.get(`${id}/${repeat}`) ?? 0) + 1);
    return Object.fromEntries([...counts].filter(([, count]) => count > 1));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Puts the script where a pipeline in `pipelines/` finds it as `./puppet.mjs`. */
export function givePuppet(folder: string): void {
  copyFileSync(join(import.meta.dirname, "puppet.mjs"), join(folder, "pipelines", "puppet.mjs"));
}

/** A flow mapping for a pipeline's matrix. */
export function puppetBackend(name: string, options: { concurrency?: number; stubborn?: boolean } = {}): string {
  const run = ["node", "./puppet.mjs", "{id}", "{repeat}", ...(options.stubborn === true ? ["--stubborn"] : [])];
  return `{ kind: command, name: ${name}, run: ${JSON.stringify(run)}, env: [PUPPET_PORT, PUPPET_RUN], concurrency: ${options.concurrency ?? 4}, version: "1" }`;
}

/** Cases as JSON Lines, each with one target: `o/r#N` is mended in `src/FileN.java`. */
export function casesFile(count: number, text: (number: number) => string = (number) => `Thing ${number} does not work`): string {
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const path = `src/File${number}.java`;
    return `${JSON.stringify({ id: `o/r#${number}`, repository: "o/r", number, title: text(number), body: "It fails.", targets: [{ path, role: "source" }] })}\n`;
  }).join("");
}
