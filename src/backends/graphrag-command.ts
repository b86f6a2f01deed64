/** GraphRAG's command lines, by generation. Pure. */
import type { Generation, GraphragProgram } from "./graphrag-program.js";

export type Method = "local" | "global" | "drift" | "basic";

export interface QueryRequest {
  readonly method: Method;
  /** As GraphRAG shall read it: relative to its working folder, or absolute. */
  readonly data: string;
  readonly communityLevel: number | undefined;
  readonly responseType: string;
  readonly query: string;
}

export interface GraphragCall {
  readonly argv: readonly string[];
  /** Text for standard input. */
  readonly input: string;
}

const METHODS: Record<Generation, readonly Method[]> = {
  underscore: ["local", "global"],
  query: ["local", "global", "drift", "basic"],
  positional: ["local", "global", "drift", "basic"],
};

/** Does that generation know the method? Single releases of a generation may lack one (drift since 0.4, basic since 1.1). */
export function knowsMethod(generation: Generation, method: Method): boolean {
  return METHODS[generation].includes(method);
}

/** Arguments after the program, for a working folder that is GraphRAG's root. */
export function queryArguments(generation: Generation, request: QueryRequest): string[] {
  const { method, data, communityLevel, responseType, query } = request;
  const level = communityLevel === undefined ? [] : [String(communityLevel)];
  const common = ["--root", ".", "--method", method, "--data", data];
  switch (generation) {
    case "underscore":
      return [
        ...common,
        ...level.flatMap((value) => ["--community_level", value]),
        "--response_type",
        responseType,
        // What follows is no option, whatever the text begins with.
        "--",
        query,
      ];
    case "query":
      return [
        "query",
        ...common,
        ...level.flatMap((value) => ["--community-level", value]),
        "--response-type",
        responseType,
        "--query",
        query,
      ];
    case "positional":
      return [
        "query",
        ...common,
        "--no-streaming",
        ...level.flatMap((value) => ["--community-level", value]),
        "--response-type",
        responseType,
        "--",
        query,
      ];
  }
}

/** Linux allows 128 KiB per argument, its final NUL included; elsewhere the whole command line has a limit that is larger than that. */
const LONGEST_ARGUMENT = 128 * 1024 - 1;

/** Can the text be an argument at all? */
export function fitsArgument(text: string): boolean {
  return !text.includes("\u0000") && Buffer.byteLength(text) <= LONGEST_ARGUMENT;
}

/** `python -m graphrag.query` and so on: the module that is the command line of that generation. */
function moduleOf(generation: Generation, what: "query" | "index"): string {
  return generation === "underscore" ? `graphrag.${what}` : "graphrag";
}

/** null where the program can't be started in this way (an old release without its interpreter). */
export function start(program: GraphragProgram, generation: Generation, what: "query" | "index"): readonly string[] | null {
  if (generation !== "underscore" && program.script !== null) return program.script;
  return program.python === null ? null : [...program.python, "-m", moduleOf(generation, what)];
}

/**
 * The arguments travel over standard input: the interpreter sets them and then runs the same module that the command would run. A NUL
 * can't be in any argument and ends up in the query as it is.
 */
const FROM_STDIN = [
  "import json, runpy, sys",
  "given = json.loads(sys.stdin.buffer.read())",
  "sys.argv = [given['module']] + given['arguments']",
  "runpy.run_module(given['module'], run_name='__main__', alter_sys=True)",
].join("\n");

/** The call for a question, or why there is none. */
export function queryCall(program: GraphragProgram, generation: Generation, request: QueryRequest): GraphragCall | string {
  const args = queryArguments(generation, request);
  if (fitsArgument(request.query) && fitsArgument(request.responseType)) {
    const first = start(program, generation, "query");
    return first === null
      ? "this GraphRAG has no `graphrag` program and its Python interpreter was not found: name its virtual environment with `venv:`"
      : { argv: [...first, ...args], input: "" };
  }
  if (program.python === null) {
    return "the query is longer than an argument may be (128 KiB, or it has a NUL character), and GraphRAG's Python interpreter, through which it could be handed over, was not found: name its virtual environment with `venv:`";
  }
  return {
    argv: [...program.python, "-c", FROM_STDIN],
    input: JSON.stringify({ module: moduleOf(generation, "query"), arguments: args }),
  };
}
