/**
 * What a grammar calls classes and functions, language by language. Names are qualified by what is around them; anonymous things (callbacks,
 * anonymous classes) belong to what they stand in, as people would say of them.
 */

export interface Language {
  /** Of the grammar's file: `tree-sitter-NAME.wasm`. */
  readonly grammar: string;
  readonly classes: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  /** Qualify names and are neither (namespaces). */
  readonly scopes: ReadonlySet<string>;
  /** Functions only if what they are given is one: `const f = () => {}`. The member that holds it. */
  readonly holders: ReadonlyMap<string, string>;
  /** Nothing below them has a name of its own. */
  readonly opaque: ReadonlySet<string>;
  /** Wrap a definition and belong to it (decorators). */
  readonly wrappers: ReadonlySet<string>;
  /** Of nodes whose grammar names no field `name`: the types of the child that is the name, or the name itself. */
  readonly names: ReadonlyMap<string, readonly string[] | string>;
}

function language(
  grammar: string,
  parts: { readonly classes: string; readonly functions: string; readonly scopes?: string; readonly opaque?: string } & Partial<
    Pick<Language, "holders" | "names">
  > & { readonly wrappers?: string },
): Language {
  const set = (words: string | undefined) => new Set(words?.split(" ") ?? []);
  return {
    grammar,
    classes: set(parts.classes),
    functions: set(parts.functions),
    scopes: set(parts.scopes),
    holders: parts.holders ?? new Map(),
    opaque: set(parts.opaque),
    wrappers: set(parts.wrappers),
    names: parts.names ?? new Map(),
  };
}

const SCRIPT_FUNCTIONS =
  "function_declaration generator_function_declaration method_definition function_signature method_signature abstract_method_signature";
const SCRIPT = {
  functions: SCRIPT_FUNCTIONS,
  holders: new Map([
    ["variable_declarator", "value"],
    ["field_definition", "value"],
    ["public_field_definition", "value"],
    ["pair", "value"],
    ["assignment_expression", "right"],
  ]),
};
const TYPESCRIPT = {
  ...SCRIPT,
  classes: "class_declaration abstract_class_declaration interface_declaration enum_declaration",
  scopes: "internal_module module",
};

const JAVA = language("java", {
  classes: "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration",
  functions: "method_declaration constructor_declaration compact_constructor_declaration",
  opaque: "object_creation_expression",
});
const PYTHON = language("python", {
  classes: "class_definition",
  functions: "function_definition",
  wrappers: "decorated_definition",
});
const JAVASCRIPT = language("javascript", { ...SCRIPT, classes: "class_declaration" });
const KOTLIN = language("kotlin", {
  classes: "class_declaration object_declaration",
  functions: "function_declaration secondary_constructor",
  opaque: "object_literal",
  names: new Map<string, readonly string[] | string>([
    ["class_declaration", ["type_identifier", "simple_identifier"]],
    ["object_declaration", ["type_identifier", "simple_identifier"]],
    ["function_declaration", ["simple_identifier"]],
    ["secondary_constructor", "constructor"],
  ]),
});

const BY_EXTENSION: ReadonlyMap<string, Language> = new Map([
  ["java", JAVA],
  ["py", PYTHON],
  ["pyi", PYTHON],
  ["js", JAVASCRIPT],
  ["mjs", JAVASCRIPT],
  ["cjs", JAVASCRIPT],
  ["jsx", JAVASCRIPT],
  ...["ts", "mts", "cts"].map((extension) => [extension, language("typescript", TYPESCRIPT)] as const),
  ["tsx", language("tsx", TYPESCRIPT)],
  ["kt", KOTLIN],
  ["kts", KOTLIN],
]);

/** null = no grammar reads such files. */
export function languageOf(path: string): Language | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return (dot < 1 ? undefined : BY_EXTENSION.get(name.slice(dot + 1).toLowerCase())) ?? null;
}
