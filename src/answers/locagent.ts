/**
 * LocAgent's output files: `loc_outputs.jsonl`, one record per task, each with the raw texts of several samples.
 *
 * A sample is an answer of its own, a repeat; what LocAgent read from all of them together (`found_files`, or `predicted_files` in copies of
 * its public runs) is kept beside them and never read in their place. LocAgent merges the samples' files by how often and how early they
 * were named; here each sample is scored, and the measures of a case are averaged over its samples.
 */

type Members = Readonly<Record<string, unknown>>;

/** Names under which the samples' raw texts stand. */
const RAW = ["raw_output_loc", "raw_answers"] as const;
/** Names of what LocAgent read, in order of preference. */
const READ = ["found_files", "predicted_files"] as const;

/**
 * The records of one task as records of answers (`id`, `response`, `repeat`), or null if this is no record of LocAgent's. A task without raw
 * texts gives the lists that were read; one with neither gives a failure, so that it is asked for and counted.
 */
export function locAgentRecords(record: Members): Members[] | null {
  if (record.response !== undefined || record.raw_response !== undefined) return null;
  const id = record.instance_id;
  const raw = RAW.map((name) => record[name]).find((value) => value !== undefined);
  const read = READ.map((name) => record[name]).find((value) => Array.isArray(value));
  if (typeof id !== "string" || (raw === undefined && read === undefined)) return null;

  const shared = { id, backend: typeof record.backend === "string" ? record.backend : "locagent" };
  const question = record.problem_statement ?? (isMembers(record.meta_data) ? record.meta_data.problem_statement : undefined);
  const prompt = typeof question === "string" ? { prompt: question } : {};
  const samples = texts(raw);
  if (samples.length > 0) {
    const details = read === undefined ? {} : { details: { locagent_files: read } };
    const answers: Members[] = samples.map((response, repeat) => ({
      ...shared,
      ...prompt,
      ...details,
      repeat,
      ...(response === null ? { status: "failed", error: "LocAgent kept no text of this sample", response: "" } : { response }),
    }));
    // What LocAgent made of all samples together is a system of its own: `--backend locagent-files` scores its lists.
    if (Array.isArray(read) && read.every((file) => typeof file === "string"))
      answers.push({ id, backend: "locagent-files", response: JSON.stringify({ files: read }) });
    return answers;
  }
  const lists = Array.isArray(read) && read.some((list) => Array.isArray(list)) ? read : [read];
  const files = lists.map((list) => (Array.isArray(list) ? list.filter((path) => typeof path === "string") : []));
  if (files.every((list) => list.length === 0)) {
    return [{ ...shared, ...prompt, repeat: 0, status: "failed", error: "LocAgent's record has neither raw output nor files" }];
  }
  return files.map((paths, repeat) => ({
    ...shared,
    ...prompt,
    repeat,
    response: JSON.stringify({ classes: paths.map((path) => ({ path })) }),
    details: { from: "found_files" },
  }));
}

/** An empty text is a sample that said nothing; null one whose text was not kept. */
function texts(raw: unknown): (string | null)[] {
  if (typeof raw === "string") return [raw];
  return Array.isArray(raw) ? raw.map((text) => (typeof text === "string" ? text : null)) : [];
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
