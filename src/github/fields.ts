/**
 * Reading single members of what a server sent. GitHub's objects are large, differ between versions of GitHub Enterprise and may
 * be anything at all behind a broken proxy: each member is checked where it is used, and a missing one is null.
 */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The member as an object, or an empty one. */
export function object(from: Fields, name: string): Fields {
  const value = own(from, name);
  return isFields(value) ? value : {};
}

export function text(from: Fields, name: string): string | null {
  const value = own(from, name);
  return typeof value === "string" ? value : null;
}

/** A text that is an instant; anything else is null, so that a comparison never meets NaN. */
export function instant(from: Fields, name: string): string | null {
  const value = text(from, name);
  return value !== null && value.length <= 40 && !Number.isNaN(Date.parse(value)) ? value : null;
}

export function count(from: Fields, name: string): number | null {
  const value = own(from, name);
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function own(from: Fields, name: string): unknown {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

/** A commit id: 40 (SHA-1) or 64 (SHA-256) hexadecimal digits. */
export function sha(from: Fields, name: string): string | null {
  const value = text(from, name);
  return value !== null && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? value : null;
}
