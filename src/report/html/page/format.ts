/** Numbers for people: three digits, never more, as in the run's other reports. */

export function ratio(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : value.toFixed(3);
}

export function signed(value: number): string {
  const text = Math.abs(value).toFixed(3);
  return text === "0.000" ? text : `${value > 0 ? "+" : "−"}${text}`;
}

export function pValue(p: number): string {
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

export function seconds(value: number): string {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 120) return `${value.toFixed(1)} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  return `${(value / 3600).toFixed(1)} h`;
}

export function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, "\u202f");
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

/** A field of CSV. One that a spreadsheet would compute is made text. */
export function csvLine(fields: readonly (string | number | null)[]): string {
  const cells = fields.map((field) => {
    if (field === null) return "";
    if (typeof field === "number") return String(field);
    const safe = /^[=+\-@\t\r]/.test(field) ? `'${field}` : field;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${cells.join(",")}\r\n`;
}
