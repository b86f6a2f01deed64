/** Secrets leave no trace: each value is replaced by the name of its variable wherever text goes out. */

/** Longer values first: one may contain another. Values under four characters are left (they would blank out half of every text). */
export function redactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const known = [...secrets].filter(([value]) => value.length >= 4).sort((a, b) => b[0].length - a[0].length);
  return (text) => known.reduce((shown, [value, name]) => shown.replaceAll(value, `[${name}]`), text);
}
