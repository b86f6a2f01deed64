/**
 * BugLocator's XML and its variants (Bench4BL, ZXing): a repository of `<bug>`s with summary, description and `<fixedFiles>`.
 *
 * Variants differ in letter case, in where summary and description stand, and in how a file is named: as a path, as a class with dots
 * (`org.eclipse.swt.SWT.java`, which says nothing of the folder where packages begin), in an attribute, or in the text.
 */
import { createRequire } from "node:module";
import { targetAt } from "./named-records.js";
import { Collected, isRaw, plainPath, type Raw, type ReadResult } from "./records.js";
import { type Case, DATASET_SCHEMA_VERSION, type Target } from "./schema.js";

type XmlParser = typeof import("fast-xml-parser");

export function isXml(text: string): boolean {
  return text.trimStart().startsWith("<");
}

/** A text = the file as a whole can't be used, and why. */
export function readBugLocator(text: string, fileName: string): ReadResult | string {
  // Entities of one's own are no part of the format, and a way to blow a parser up.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) return "the XML declares a document type or entities, which the format has no use for";
  // Loaded only for an XML file: every run that imports a data set would pay for it.
  const { XMLParser } = createRequire(import.meta.url)("fast-xml-parser") as XmlParser;
  let parsed: unknown;
  try {
    parsed = new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: "@",
      textNodeName: "#text",
      parseTagValue: false,
      parseAttributeValue: false,
      trimValues: true,
      // One and the same member name for all spellings of the variants.
      transformTagName: (name) => name.toLowerCase(),
      transformAttributeName: (name) => name.toLowerCase(),
      isArray: (name) => name === "bug" || name === "file",
    }).parse(text);
  } catch (error) {
    return `the XML can't be read: ${error instanceof Error ? error.message.slice(0, 200) : String(error)}`;
  }
  const root = isRaw(parsed) ? (parsed.bugrepository ?? parsed.bugreportrepository) : undefined;
  if (!isRaw(root) || !Array.isArray(root.bug)) return "the XML holds no <bug> inside of a <bugrepository>";
  const name = textOf(root["@name"]) ?? textOf(root["@product"]) ?? fileName.replace(/\.[^.]{1,10}$/, "");
  const collected = new Collected();
  let dotted = 0;
  for (const [index, bug] of root.bug.entries()) {
    const read = isRaw(bug) ? caseOfBug(bug) : "it is empty";
    if (typeof read !== "string") dotted += read.targets.filter(({ partial }) => partial === true).length;
    collected.add({ record: index + 1 }, read);
  }
  const notes =
    dotted === 0
      ? []
      : [`${dotted} targets are named as classes with dots; each stands for the one file of the tree whose path ends with it`];
  const header = {
    schema_version: DATASET_SCHEMA_VERSION,
    project_name: name,
    url: null,
    scanned: null,
    links: null,
    extensions: null,
    notes,
    audit: [],
  } as const;
  return { dataset: { header: { ...header, notes: [...notes], audit: [] }, cases: collected.cases }, bad: collected.bad, notes };
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  return isRaw(value) && typeof value["#text"] === "string" ? value["#text"] : null;
}

function caseOfBug(bug: Raw): Case | string {
  const id = textOf(bug["@id"])?.trim() ?? "";
  if (id === "") return "it has no id";
  const inner = isRaw(bug.buginformation) ? bug.buginformation : bug;
  const summary = textOf(inner.summary) ?? "";
  const description = textOf(inner.description) ?? "";
  if (summary === "" && description === "") return `bug ${id} has neither summary nor description`;
  const list = isRaw(bug.fixedfiles) ? bug.fixedfiles.file : undefined;
  const targets = new Map<string, Target>();
  for (const file of Array.isArray(list) ? list : []) {
    const target = targetOf(file);
    if (target !== null) targets.set(target.path, target);
  }
  if (targets.size === 0) return `bug ${id} names no fixed file`;
  const version = textOf(inner.version);
  return {
    id,
    repository: null,
    number: /^\d{1,15}$/.test(id) ? Number(id) : null,
    number_is_real: true,
    title: summary,
    body: description,
    url: null,
    created_at: textOf(bug["@opendate"]) ?? textOf(bug["@reporttime"]),
    closed_at: textOf(bug["@fixdate"]),
    state_reason: null,
    labels: [],
    base_commit: null,
    links: [],
    targets: [...targets.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
    best_grade: "curated",
    strata: { links: "curated", ...(version === null || version === "" ? {} : { version: version.slice(0, 100) }) },
  };
}

const STATUS: Readonly<Record<string, Target["status"]>> = { a: "added", d: "removed", m: "modified", r: "renamed" };

function targetOf(file: unknown): Target | null {
  const attribute = isRaw(file) ? textOf(file["@name"]) : null;
  const name = (attribute ?? textOf(file) ?? "").trim().replaceAll("\\", "/");
  if (name === "") return null;
  const type = isRaw(file) ? (textOf(file["@type"])?.toLowerCase() ?? "") : "";
  const status = STATUS[type] ?? null;
  // No folder, and at least a package, a class and an extension: a class with dots.
  const dotted = /^([\w$]+(?:\.[\w$]+)+)\.(java|kt|scala|groovy|py|cs)$/.exec(name);
  if (!name.includes("/") && dotted !== null) {
    return { ...targetAt(`${(dotted[1] ?? "").replaceAll(".", "/")}.${dotted[2]}`, null, 1, status), partial: true };
  }
  const path = plainPath(name);
  return path === "" ? null : targetAt(path, null, 1, status);
}
