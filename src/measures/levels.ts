/**
 * Measures of things smaller than a file: `P(level=function)@5`. The formula is the same; what differs is what a prediction must
 * name to be a hit, and that is judged before a measure sees it.
 */
import { err, ok, type Result } from "../base/result.js";
import { LEVELS, type Level, type Measure } from "./contract.js";
import { withParameter } from "./names.js";

const WHAT: Readonly<Record<Exclude<Level, "file">, string>> = {
  class:
    "Counts classes instead of files: a prediction hits the class that its lines are in, or that it names, in the file that it resolves to.",
  function:
    "Counts functions instead of files: a prediction hits the innermost function that each of its lines is in, or that it names, in the file that it resolves to.",
  lines: "Counts ranges of lines instead of files: a prediction hits the range that its own lines overlap",
};

/** Other words for the levels. */
const SAME: Readonly<Record<string, Level>> = {
  module: "class",
  method: "function",
  hunk: "lines",
  range: "lines",
  line: "lines",
};

/** `level`, and `iou` where lines are counted. The error says what is wrong with them. */
export function atLevel(measure: Measure, given: { readonly level?: string; readonly iou?: string }): Result<Measure, string> {
  const word = given.level ?? (given.iou === undefined ? "file" : "lines");
  const level = LEVELS.find((known) => known === word) ?? (Object.hasOwn(SAME, word) ? SAME[word] : undefined);
  if (level === undefined) return err(`level=${word} is none of ${LEVELS.join(", ")}`);
  if (given.iou !== undefined && level !== "lines") return err("iou goes with level=lines only");
  if (level === "file") return ok(measure);
  const iou = given.iou === undefined ? undefined : Number(given.iou);
  if (iou !== undefined && !(iou > 0 && iou <= 1)) return err(`iou=${given.iou} is not a number above 0 and up to 1`);
  const { expected: _, name, definition, ...rest } = measure;
  const named = withParameter(name, "level", level);
  const overlap =
    iou === undefined ? " in at least one line." : ` so that what both share is at least ${iou} of what they cover.`;
  return ok({
    ...rest,
    name: iou === undefined ? named : withParameter(named, "iou", String(iou)),
    definition: `${definition} ${WHAT[level]}${level === "lines" ? overlap : ""}`,
    edgeCases: `${measure.edgeCases} A case whose data set says nothing of this level, or whose fix changed nothing at it, is undefined and left out.${level === "lines" ? "" : " A prediction of lines in several of them predicts each, in the order of the file; each counts once; what names none is one wrong prediction."}`,
    level,
    ...(iou === undefined ? {} : { iou }),
  });
}
