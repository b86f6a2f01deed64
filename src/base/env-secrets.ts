/** Takes secrets of the environment out of text that is kept or shown (error output of a program). Pure. */

const SECRET_NAME = /key|token|secret|passw|credential|auth/i;
/** Shorter values (`1`, `yes`) would blot out half the text and are no secrets. */
const SHORTEST_SECRET = 6;

/**
 * Replaces the value of every variable whose name sounds secret, and of those in `also` (names that a person passed on to the
 * program: what needs passing on is often a key), by `[NAME]`.
 */
export function redactor(
  env: Readonly<Record<string, string | undefined>>,
  also: readonly string[] = [],
): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => (value ?? "").length >= SHORTEST_SECRET && (SECRET_NAME.test(name) || also.includes(name)))
    .map(([name, value]) => ({ name, value: value ?? "" }))
    // Longest first: one secret may contain another.
    .sort((a, b) => b.value.length - a.value.length);
  return (text) => secrets.reduce((shown, { name, value }) => shown.replaceAll(value, () => `[${name}]`), text);
}
