/** What is wrong with the questions: texts that name the answer, that are missing, that came after the fix, that came before. */
import { knownLeakage, type LeakClass } from "../leakage.js";
import { NAMING_KINDS } from "../names.js";
import type { Case } from "../schema.js";
import { counted, percentOf } from "./contract.js";
import { type Context, caseFinding, type Finder, finding, shortly } from "./finder.js";
import { duplicateTexts } from "./near-duplicates.js";

function leak(context: Context, wanted: LeakClass, what: string) {
  const { withTargets } = context;
  const kinds = new Map<string, number>();
  const found = caseFinding(
    context,
    (one) => {
      const leakage = knownLeakage(one, one);
      if (leakage?.class !== wanted) return null;
      for (const kind of leakage.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const [first = ""] = leakage.named;
      return {
        example: `${one.id}: ${leakage.named.length} of ${leakage.targets}, as ${leakage.kinds.join(", ")} (${first})`,
        weight: leakage.named.length,
      };
    },
    {
      name: wanted === "full" ? "leak-full" : "leak-partial",
      severity: "warning",
      of: withTargets.length,
      what: (cases) =>
        `${counted(cases, "text")} of ${withTargets.length} (${percentOf(cases, withTargets.length)}) ${cases === 1 ? "names" : "name"} ${what}`,
    },
  );
  if (found === null) return null;
  const shown = NAMING_KINDS.flatMap((kind) => (kinds.has(kind) ? [`${kind} ${kinds.get(kind)}`] : []));
  return { ...found, what: `${found.what} (${shown.join(", ")})` };
}

export const leakFull: Finder = (context) => leak(context, "full", "every target: reading is enough");
export const leakPartial: Finder = (context) => leak(context, "partial", "some of the targets");

export const missingBody: Finder = (context) =>
  caseFinding(
    context,
    ({ id, title, body }) =>
      body === null || body.trim() === ""
        ? { example: `${id} (${body === null ? "the source has none" : "empty"}): ${shortly(title)}` }
        : null,
    {
      name: "missing-body",
      severity: "warning",
      what: (cases) =>
        `${counted(cases, "case")} ${cases === 1 ? "has" : "have"} a title and no text: the question is not the one that people answered`,
    },
  );

export const editedAfterFix: Finder = (context) =>
  caseFinding(
    context,
    (one) => {
      const edited = instant(one.edited_at);
      const merged = one.links.flatMap(({ merged_at }) => instant(merged_at) ?? []);
      if (edited === null || merged.length === 0) return null;
      return edited > Math.min(...merged)
        ? { example: `${one.id} (edited ${one.edited_at?.slice(0, 10)})`, weight: edited - Math.min(...merged) }
        : null;
    },
    {
      name: "edited-after-fix",
      severity: "warning",
      // REST does not tell: only texts that were looked at are counted.
      of: context.cases.filter(({ edited_at }) => edited_at !== undefined).length,
      what: (cases) =>
        `${counted(cases, "text")} ${cases === 1 ? "was" : "were"} edited after the fix was merged: they may say what was learnt from it`,
    },
  );

function instant(text: string | null | undefined): number | null {
  const time = text == null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

export const duplicateText: Finder = ({ cases }) => {
  const groups = duplicateTexts(cases);
  const repeated = new Set(groups.flatMap(({ ids }) => ids.slice(1)));
  return finding({
    name: "duplicate-text",
    severity: "warning",
    unit: "cases",
    of: cases.length,
    hits: groups.flatMap(({ ids: [first = "", ...others], same }) =>
      others.map((id) => ({ id, example: `${id} ${same ? "has the text of" : "is nearly"} ${first}`, weight: same ? 1 : 0 })),
    ),
    what: `${counted(repeated.size, "case")} ${repeated.size === 1 ? "repeats" : "repeat"} the text of another one, or nearly: an answer to the one is an answer to the other`,
    without: cases.filter(({ id }) => !repeated.has(id)),
  });
};

export const duplicateId: Finder = ({ cases, bad }) => {
  const hits: { id: string; example: string }[] = [];
  const seen = new Set<string>();
  const kept: Case[] = [];
  for (const one of cases) {
    if (seen.has(one.id)) hits.push({ id: one.id, example: one.id });
    else kept.push(one);
    seen.add(one.id);
  }
  // Readers keep the first of them already.
  for (const { duplicate_of: id, record } of bad)
    if (id !== undefined) hits.push({ id, example: `${shortly(id)} (again in record ${record})` });
  return finding({
    name: "duplicate-id",
    severity: "error",
    unit: "records",
    of: cases.length + bad.length,
    hits,
    what: `${counted(hits.length, "record")} ${hits.length === 1 ? "has" : "have"} the id of an earlier one: only the first counts`,
    without: kept.length === cases.length ? null : kept,
  });
};

export const unusableRecord: Finder = ({ cases, bad }) => {
  const broken = bad.filter(({ duplicate_of }) => duplicate_of === undefined);
  const found = finding({
    name: "unusable-record",
    severity: "error",
    unit: "records",
    of: cases.length + bad.length,
    hits: broken.map(({ record, what }) => ({ id: "", example: `record ${record}: ${shortly(what, 120)}` })),
    what: `${counted(broken.length, "record")} of the file can't be used and ${broken.length === 1 ? "is" : "are"} left out`,
    without: null,
  });
  return found === null ? null : { ...found, cases: [] };
};
