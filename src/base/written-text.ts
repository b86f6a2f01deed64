/**
 * Text that YAML may take for something else: the arguments of a program. `run: [search, --top, 15]` is a line of a shell to its author, and so is
 * `"${params.top}"` where the parameter is a number.
 *
 * The mark travels with the schema: whoever reads a file by it takes a number or truth value at this place as the text that was written
 * (`1.10` stays `1.10`), which a schema that turned numbers into text could not do.
 */
import * as z from "zod";

const MARK = "written";

/** A schema of text that is so marked. Refinements make a new schema, which bears the mark no more. */
export const writtenText = z.string().meta({ [MARK]: true });

export function isWrittenText(schema: z.ZodType): boolean {
  return schema.meta()?.[MARK] === true;
}

/** A JSON Schema made of zod's holds the mark as a keyword, which is no business of editors: the schema without it, or null if it has none. */
export function withoutMark(schema: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  const { [MARK]: mark, ...rest } = schema;
  return mark === true ? rest : null;
}
