/**
 * Connections to Model Context Protocol servers, one per server and, where the server is started for a source tree, per tree.
 *
 * A server is started when the first question needs it and used for the following ones; the servers of the trees used last are kept, since a
 * benchmark with a tree per case would else end with hundreds of them. One that failed or hung is ended, and the next question gets a
 * new one.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ServerNotStarted, type StdioServer, StdioTransport } from "./mcp-stdio.js";
import type { Sleep } from "./process.js";

export type Server =
  | ({ readonly type: "stdio" } & StdioServer)
  | { readonly type: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface Connection {
  readonly client: Client;
  /** As the server introduces itself. */
  readonly server: { readonly name: string; readonly version: string } | null;
  /** The end of its error output, where it is a process. */
  readonly errorOutput: () => string;
}

export class ConnectionFailed extends Error {
  readonly errorOutput: string;
  /** HTTP status or JSON-RPC code of the cause. */
  readonly code: unknown;
  /** The program is not there: no attempt will start it. */
  readonly neverStarts: boolean;
  constructor(cause: unknown, errorOutput: string) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.errorOutput = errorOutput;
    this.neverStarts = cause instanceof ServerNotStarted && !cause.passing;
    this.code = (cause as { code?: unknown } | null)?.code;
  }
}

const KEPT = 3;
/** Not a time limit of ours: the stage has one. The SDK's own is a minute. */
export const NO_LIMIT_MS = 2 ** 31 - 1;

interface Open {
  readonly connecting: Promise<Connection>;
  readonly end: () => Promise<void>;
  users: number;
  /** To be ended when nobody uses it any more. */
  retired: boolean;
}

export class Connections {
  readonly #sleep: Sleep;
  readonly #open = new Map<string, Open>();
  readonly #ending = new Set<Promise<void>>();

  constructor(sleep: Sleep) {
    this.#sleep = sleep;
  }

  /** `name` tells servers apart. `use` gets the connection; a signal that aborts, or a connection that breaks, retires the server. */
  async with<T>(name: string, server: Server, signal: AbortSignal, use: (connection: Connection) => Promise<T>): Promise<T> {
    const open = this.#open.get(name) ?? this.#start(name, server);
    // The one used last stands last.
    this.#open.delete(name);
    this.#open.set(name, open);
    open.users++;
    try {
      const connection = await abortable(open.connecting, signal);
      return await use(connection);
    } catch (error) {
      this.#retire(name, open);
      throw error;
    } finally {
      open.users--;
      if (open.retired && open.users === 0) this.#end(open);
      this.#trim();
    }
  }

  async close(): Promise<void> {
    for (const [name, open] of this.#open) {
      this.#retire(name, open);
      this.#end(open);
    }
    await Promise.allSettled(this.#ending);
  }

  #start(name: string, server: Server): Open {
    const started = connect(server, this.#sleep);
    const open: Open = { ...started, users: 0, retired: false };
    started.connecting.catch(() => this.#retire(name, open));
    return open;
  }

  #retire(name: string, open: Open): void {
    open.retired = true;
    if (this.#open.get(name) === open) this.#open.delete(name);
  }

  #end(open: Open): void {
    const ending = open.end().catch(() => {});
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }

  #trim(): void {
    for (const [name, open] of this.#open) {
      if (this.#open.size <= KEPT) return;
      if (open.users > 0) continue;
      this.#retire(name, open);
      this.#end(open);
    }
  }
}

function connect(server: Server, sleep: Sleep): { connecting: Promise<Connection>; end: () => Promise<void> } {
  let client: Client | undefined;
  let stdio: StdioTransport | undefined;
  const errorOutput = () => stdio?.errorOutput ?? "";
  const connecting = (async (): Promise<Connection> => {
    // Loaded here: most runs never speak to such a server, and the SDK is large.
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    let transport: Transport;
    if (server.type === "stdio") {
      stdio = new StdioTransport(server, sleep);
      transport = stdio;
    } else {
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
      const http = new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: { ...server.headers } } });
      // The SDK's class says `sessionId: string | undefined` where its interface says `sessionId?: string`.
      transport = http as unknown as Transport;
    }
    client = new Client({ name: "bench", version: "1" }, { capabilities: {} });
    try {
      await client.connect(transport, { timeout: NO_LIMIT_MS });
    } catch (error) {
      throw new ConnectionFailed(error, errorOutput());
    }
    const introduced = client.getServerVersion();
    return {
      client,
      server: introduced === undefined ? null : { name: introduced.name, version: introduced.version },
      errorOutput,
    };
  })();
  connecting.catch(() => {});
  return {
    connecting,
    end: async () => {
      // Where the handshake hangs only the process can be ended.
      await stdio?.close();
      await client?.close();
    },
  };
}

async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        onAbort = () => reject(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
      }),
    ]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
