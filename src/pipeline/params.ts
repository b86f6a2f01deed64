/**
 * Parameters, `--set` and the environment: the scope in which references are resolved.
 *
 * Parameters may refer to the environment and to one another, so they are resolved when first asked for. A default that `--set`
 * replaces is never looked at (its environment variable may be unset on this machine).
 */
import type { Json } from "../base/json.js";
import { nearest } from "../base/nearest.js";
import { Mistakes, SourceText } from "./mistakes.js";
import { descend, type Resolution, type Scope, type Space, substitute } from "./references.js";
import { type MapNode, type Member, member, type SourceNode, toJson } from "./tree.js";
import { code, found, listed } from "./words.js";
import { readYaml } from "./yaml.js";

const MAX_PARAMETERS = 1000;
const MAX_CHAIN = 50;
const MAX_PUT_IN = 200_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

interface Value {
  readonly node: SourceNode;
  readonly hidden: boolean;
  readonly typed: boolean;
}

const SECRET_WORDS = new Set(["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "AUTHORIZATION"]);

const SECRET_ENDING = /(?:TOKEN|SECRET|PASSWORD|PASSWD|AUTH|APIKEY|ACCESSKEY|SECRETKEY|PRIVATEKEY)$/;

/** `GITHUB_TOKEN`, `apiKey`, `OPENAI_API_KEYS`, `MYTOKEN`; not `MONKEY` or `AUTHOR`. */
export function looksSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z]+/)
    .map((word) => word.replace(/S$/, ""));
  return words.some((word) => SECRET_WORDS.has(word) || SECRET_ENDING.test(word));
}

export class Parameters {
  readonly #declared: MapNode | null;
  readonly #mistakes: Mistakes;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #set = new Map<string, SourceNode>();
  readonly #values = new Map<string, Value | "open" | null>();
  readonly #used = new Set<string>();
  readonly #budget = { nodes: MAX_PUT_IN };
  #depth = 0;
  /** Value -> name of the environment variables with secret-looking names that the file refers to. */
  readonly secrets = new Map<string, string>();

  constructor(
    declared: SourceNode | undefined,
    set: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    mistakes: Mistakes,
  ) {
    this.#mistakes = mistakes;
    this.#env = env;
    this.#declared = this.#readDeclared(declared);
    for (const assignment of set) this.#readSet(assignment);
  }

  #readDeclared(declared: SourceNode | undefined): MapNode | null {
    if (declared === undefined || (declared.type === "scalar" && declared.value === null)) {
      return { type: "map", span: { start: 0, end: 0 }, members: [] };
    }
    if (declared.type === "unknown") return null;
    if (declared.type !== "map") {
      this.#mistakes.error(
        declared.span,
        `expected a mapping of parameters, found ${found(declared)}`,
        "write `params: { name: value }`",
      );
      return null;
    }
    if (declared.members.length > MAX_PARAMETERS) {
      const many = `there are ${declared.members.length} parameters; at most ${MAX_PARAMETERS} are allowed`;
      this.#mistakes.error(declared.span, many, "put them into fewer mappings");
      return null;
    }
    for (const { key, keySpan } of declared.members) {
      if (!NAME.test(key))
        this.#mistakes.error(
          keySpan,
          `${code(key)} can't be the name of a parameter`,
          "use letters, digits, _ and -, not starting with a digit",
        );
    }
    return declared;
  }

  /** `name=value`; the value is YAML (a scalar or in brackets), and is not scanned for references. */
  #readSet(assignment: string): void {
    const source = new SourceText("--set", assignment);
    const local = new Mistakes(source);
    const equals = assignment.indexOf("=");
    const name = (equals === -1 ? assignment : assignment.slice(0, equals)).trim();
    const nameSpan = { start: 0, end: equals === -1 ? assignment.length : equals };
    if (equals === -1 || name === "") {
      local.error(nameSpan, `expected NAME=VALUE, found ${code(assignment)}`, "write --set name=value");
    } else if (this.#declared !== null && member(this.#declared, name) === undefined) {
      const names = this.#declared.members.map(({ key }) => key);
      local.error(nameSpan, `the pipeline has no parameter ${code(name)}`, suggestName(name, names, "it has no parameters"));
    } else {
      const value = readSetValue(assignment, equals + 1, local);
      if (value !== null) this.#set.set(name, value);
      else this.#values.set(name, null);
    }
    for (const diagnostic of local.sorted()) this.#mistakes.add(diagnostic);
  }

  /** A scope that knows, beside parameters and environment, the matrix values that `matrix` gives. */
  scope(matrix: (path: readonly string[]) => Resolution): Scope {
    return {
      mistakes: this.#mistakes,
      budget: this.#budget,
      resolve: (space: Space, path: readonly string[]) => {
        if (space === "matrix") return matrix(path);
        return space === "env" ? this.#variable(path[0] ?? "") : this.#parameter(path);
      },
    };
  }

  #variable(name: string): Resolution {
    const text = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined;
    if (text === undefined) {
      const near = nearest(name, Object.keys(this.#env));
      const suggestion =
        near === undefined
          ? `set ${name} before you start bench`
          : `did you mean ${code(near)}? Else set ${name} before you start bench`;
      return { type: "missing", message: `the environment variable ${code(name)} is not set`, suggestion };
    }
    const hidden = looksSecret(name);
    if (hidden && text !== "") this.secrets.set(text, name);
    const node: SourceNode = { type: "scalar", span: { start: 0, end: 0 }, value: text, text };
    return { type: "found", node, hidden, typed: false };
  }

  #parameter(path: readonly string[]): Resolution {
    if (this.#declared === null) return { type: "unknown" };
    const [name = "", ...rest] = path;
    const declared = member(this.#declared, name);
    if (declared === undefined) {
      const names = this.#declared.members.map(({ key }) => key);
      const message = `there is no parameter ${code(name)}`;
      return { type: "missing", message, suggestion: suggestName(name, names, `declare it: \`params: { ${name}: … }\``) };
    }
    this.#used.add(name);
    const value = this.#value(declared);
    if (value === "open")
      return { type: "missing", message: `the parameter ${code(name)} refers to itself`, suggestion: "give one of them a value" };
    if (value === null) return { type: "unknown" };
    const node = descend(value.node, rest);
    if (node === undefined) {
      const message = `the parameter ${code(name)} has no member ${code(rest.join("."))}`;
      return { type: "missing", message, suggestion: `it is ${found(value.node)}` };
    }
    if (node.type === "unknown") return { type: "unknown" };
    // Within `params` only single values may be put in: lists of lists of lists would grow without bounds.
    if (this.#depth > 0 && node.type !== "scalar") {
      return {
        type: "missing",
        message: `within \`params\` only single values can be referred to, and ${code(name)} is ${found(node)}`,
      };
    }
    return { type: "found", node, hidden: value.hidden || node.origin?.hidden === true, typed: value.typed };
  }

  #value(declared: Member): Value | "open" | null {
    const known = this.#values.get(declared.key);
    if (known !== undefined) return known;
    this.#values.set(declared.key, "open");
    const value = this.#evaluate(declared);
    this.#values.set(declared.key, value);
    return value;
  }

  #evaluate({ key, keySpan, value }: Member): Value | null {
    const set = this.#set.get(key);
    if (set === undefined && this.#depth >= MAX_CHAIN) {
      this.#mistakes.error(keySpan, `parameters refer to parameters over more than ${MAX_CHAIN} steps`, "write the value out");
      return null;
    }
    this.#depth += 1;
    const scope = this.scope(() => ({
      type: "missing",
      message: "`matrix` has no values here",
      suggestion: "refer to it in `with` of a stage with a matrix",
    }));
    const node = set ?? substitute(value, scope);
    this.#depth -= 1;
    if (node.type === "unknown") return null;
    if (node.type === "scalar" && node.value === null) {
      this.#mistakes.error(keySpan, `the parameter ${code(key)} must be set`, `add --set ${key}=VALUE, or give it a value here`);
      return null;
    }
    return { node, hidden: node.origin?.hidden === true, typed: set !== undefined };
  }

  /** All values, for the graph; reports those that must be set and are not, and warns of those that nothing uses. */
  finish(): Readonly<Record<string, Json>> {
    const entries: [string, Json][] = [];
    const declared = this.#declared?.members ?? [];
    for (const each of declared) {
      const value = this.#value(each);
      const json = value === null || value === "open" ? undefined : toJson(value.node);
      if (json !== undefined) entries.push([each.key, json]);
    }
    // After other mistakes this would be noise: the reference may be the one that is misspelt.
    const unused = this.#mistakes.errors === 0 ? declared.filter(({ key }) => !this.#used.has(key)) : [];
    for (const { key, keySpan } of unused) {
      this.#mistakes.warning(
        keySpan,
        `nothing uses the parameter ${code(key)}`,
        `refer to it as \${params.${key}}, or remove it`,
      );
    }
    return Object.fromEntries(entries);
  }
}

function suggestName(name: string, names: readonly string[], otherwise: string): string {
  const near = nearest(name, names);
  if (near !== undefined) return `did you mean ${code(near)}?`;
  return names.length === 0 ? otherwise : `there are ${listed(names, "and")}`;
}

function readSetValue(assignment: string, start: number, local: Mistakes): SourceNode | null {
  const value = assignment.slice(start);
  const span = { start, end: assignment.length };
  const text = (): SourceNode => ({ type: "scalar", span, value, text: value });
  if (value.trim() === "") return text();
  const inner = new Mistakes(new SourceText("--set", value));
  const node = readYaml(inner);
  const flow = /^\s*[[{]/.test(value);
  if (inner.errors > 0 || node === null || ((node.type === "map" || node.type === "list") && !flow)) {
    const why = inner.sorted()[0]?.message ?? "it is neither a single value nor in brackets";
    local.error(
      span,
      `the value is not YAML for a single value, [list] or {mapping}: ${why}`,
      `put text in quotes: --set '${assignment.slice(0, start)}"…"'`,
    );
    return null;
  }
  return node;
}
