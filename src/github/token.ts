/**
 * Where the token comes from, decided on text alone; whoever calls reads the files.
 *
 * Order: given on the command line, `GITHUB_TOKEN`, `.env.github` in the working directory, `.env.github` in the project root.
 * Placeholders that example files carry count as "no token", so that a copied example does not end in a 401.
 */
export const TOKEN_FILE = ".env.github";
const VARIABLE = "GITHUB_TOKEN";
const PLACEHOLDERS = new Set(["YOUR_GITHUB_TOKEN_HERE", "YOUR_TOKEN_HERE", "GITHUB_TOKEN_HERE"]);

export interface TokenSources {
  readonly given?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files in order, `text` null where there is none. */
  readonly files: readonly { readonly path: string; readonly text: string | null }[];
}

export interface FoundToken {
  readonly token: string;
  /** For people: `--token`, `GITHUB_TOKEN`, or the file's path. */
  readonly source: string;
}

/** The first usable token, or null. */
export function findToken(sources: TokenSources): FoundToken | null {
  const given = usable(sources.given);
  if (given !== null) return { token: given, source: "--token" };
  const fromEnv = usable(sources.env[VARIABLE]);
  if (fromEnv !== null) return { token: fromEnv, source: VARIABLE };
  for (const { path, text } of sources.files) {
    const token = text === null ? null : tokenInEnvFile(text);
    if (token !== null) return { token, source: path };
  }
  return null;
}

/** `KEY=VALUE` a line, `#` comments, optional `export `, one pair of matching quotes stripped; the first non-empty value wins. */
export function tokenInEnvFile(text: string): string | null {
  for (const raw of text.split(/\r\n|\n|\r/)) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const assignment = line.startsWith("export ") ? line.slice("export ".length).trimStart() : line;
    const equals = assignment.indexOf("=");
    if (equals < 0 || assignment.slice(0, equals).trim() !== VARIABLE) continue;
    const token = usable(unquoted(assignment.slice(equals + 1).trim()));
    if (token !== null) return token;
  }
  return null;
}

function unquoted(value: string): string {
  const first = value[0];
  if (value.length >= 2 && (first === '"' || first === "'") && value.endsWith(first)) return value.slice(1, -1);
  return value;
}

/** A token goes into a header: one with blanks or control characters would break the request, so it is none. */
function usable(value: string | undefined): string | null {
  const token = value?.trim() ?? "";
  if (token === "" || PLACEHOLDERS.has(token.toUpperCase())) return null;
  return /^[\x21-\x7e]+$/.test(token) ? token : null;
}
