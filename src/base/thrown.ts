/** What a module that is not ours threw, in a line: its name and message, and the first place in a file that its stack names. */
export function thrown(error: unknown): string {
  if (!(error instanceof Error)) return `something that is no error: ${shortly(error)}`;
  const place = /(?:file:\/\/)?([^\s():]{1,500}):(\d{1,9}):(\d{1,9})\)?$/m.exec(error.stack?.replace(error.message, "") ?? "");
  const where = place === null ? "" : ` (${place[1]?.split("/").at(-1)}:${place[2]}:${place[3]})`;
  return `${error.name}: ${error.message}${where}`;
}

function shortly(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 200);
  } catch {
    return typeof value;
  }
}
