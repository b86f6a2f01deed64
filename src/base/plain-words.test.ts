import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { firstProblem, recordPlace } from "./plain-words.js";

const schema = z.object({
  id: z.string().min(1),
  repeat: z.number().int().nonnegative().default(0),
  status: z.enum(["completed", "failed"]).default("completed"),
  weight: z.number().positive().max(2).default(1),
  pair: z.tuple([z.number(), z.number()]).optional(),
  files: z.array(z.union([z.string().min(1), z.object({ name: z.string() })])).optional(),
  strata: z.record(z.string(), z.string()).optional(),
  when: z
    .string()
    .regex(/^\d{4}$/)
    .optional(),
  body: z.string().nullable().optional(),
  flag: z.boolean().optional(),
});

test.each<[unknown, string]>([
  [{}, "`id` is missing"],
  [{ id: "" }, "`id` is empty"],
  [{ id: null }, "`id` must be text, and is null"],
  [{ id: 5 }, "`id` must be text, and is the number 5"],
  [{ id: [] }, "`id` must be text, and is a list"],
  [{ id: "a", repeat: -1 }, "`repeat` must be at least 0, and is the number -1"],
  [{ id: "a", repeat: 1.5 }, "`repeat` must be a whole number, and is the number 1.5"],
  [{ id: "a", repeat: "1" }, '`repeat` must be a number, and is the text "1"'],
  [{ id: "a", weight: 0 }, "`weight` must be more than 0, and is the number 0"],
  [{ id: "a", weight: 3 }, "`weight` must be at most 2, and is the number 3"],
  [{ id: "a", status: "done" }, '`status` must be one of "completed", "failed", and is the text "done"'],
  [{ id: "a", pair: [1] }, "`pair` must have at least 2 items, and has 1"],
  [{ id: "a", files: [""] }, "`files[0]` is empty"],
  [{ id: "a", files: ["x", {}] }, "`files[1].name` is missing"],
  [{ id: "a", files: [7] }, "`files[0]` must be text or an object, and is the number 7"],
  [{ id: "a", strata: { grade: 1 } }, "`strata.grade` must be text, and is the number 1"],
  [{ id: "a", when: "soon" }, '`when` does not have the right form: the text "soon"'],
  [{ id: "a", body: {} }, "`body` must be text, and is an object"],
  [{ id: "a", flag: "yes" }, '`flag` must be true or false, and is the text "yes"'],
  [5, "the record must be an object, and is the number 5"],
  [{ repeat: -1 }, "`id` is missing (and 1 more)"],
])("%j: %s", (value, expected) => {
  const parsed = schema.safeParse(value);
  expect(parsed.error && firstProblem(parsed.error, value)).toBe(expected);
});

test("names and values from the file can't harm a terminal and are short", () => {
  const value = { id: "a", strata: { ["\u001b[2J`".repeat(100)]: 1 } };
  const parsed = schema.safeParse(value);
  const said = parsed.error ? firstProblem(parsed.error, value) : "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject here
  expect(said).not.toMatch(/[\u0000-\u001f]/);
  expect(said.length).toBeLessThan(250);
});

test("no words of the validator, whatever comes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const parsed = schema.safeParse(value);
      if (parsed.error)
        expect(firstProblem(parsed.error, value)).not.toMatch(/Invalid|expected|received|undefined|Too (?:small|big)/);
    }),
  );
});

test("the line is said where there is one", () => {
  expect(recordPlace({ record: 2 })).toBe("record 2");
  expect(recordPlace({ record: 2, line: 7 })).toBe("record 2 (line 7)");
});
