/**
 * The grammar of measure names: `STEM`, `STEM@k`, `STEM(parameter=value,...)@k`, as ir_measures writes them. Parameters are printed
 * in alphabetical order, so that one measure has one name.
 */

/** A canonical name from its parts. */
export function measureName(stem: string, parameters: Readonly<Record<string, string>>, k?: number | string): string {
  const inside = Object.keys(parameters)
    .sort()
    .map((name) => `${name}=${parameters[name] ?? ""}`)
    .join(",");
  return `${stem}${inside === "" ? "" : `(${inside})`}${k === undefined ? "" : `@${k}`}`;
}

export interface NameParts {
  /** What is left without the parameters: `p@5`, `p(micro)`, `p_5`. */
  readonly plain: string;
  /** As typed, in order; quotes around values are taken off. */
  readonly parameters: readonly (readonly [string, string])[];
}

/** The parameters of a name in lower case; null = the brackets are not as they should be. */
export function splitParameters(name: string): NameParts | null {
  const open = name.indexOf("(");
  const close = name.indexOf(")");
  if (open === -1 && close === -1) return { plain: name, parameters: [] };
  const inside = name.slice(open + 1, close);
  // `P(micro)` is a stem of its own.
  if (!inside.includes("=")) return { plain: name, parameters: [] };
  if (open < 1 || close < open || name.indexOf("(", open + 1) !== -1 || name.indexOf(")", close + 1) !== -1) return null;
  const parameters: [string, string][] = [];
  for (const part of inside.split(",")) {
    const equals = part.indexOf("=");
    if (equals < 1) return null;
    const value = part
      .slice(equals + 1)
      .trim()
      .replace(/^(['"])(.*)\1$/s, "$2");
    parameters.push([part.slice(0, equals).trim(), value]);
  }
  return { plain: name.slice(0, open) + name.slice(close + 1), parameters };
}

/** A canonical name with one more parameter. */
export function withParameter(name: string, parameter: string, value: string): string {
  const at = /^([^(@]*)(?:\((.*)\))?(?:@([^@()]*))?$/s.exec(name);
  const stem = at?.[1] ?? name;
  const known = splitParameters(`x(${at?.[2] ?? ""})`)?.parameters ?? [];
  return measureName(stem, Object.fromEntries([...known, [parameter, value]]), at?.[3]);
}
