/**
 * One token of an answer: is it a path, a qualified name or a class name, and which lines does it point at?
 *
 * Language-neutral: what makes a path is a separator or an extension that source trees really use, never `.java` alone, and
 * letters of every script count. Tokens longer than a path can be are not looked at, which bounds every expression below.
 */
import { blobPath } from "./urls.js";

export type TokenKind = "path" | "qualified" | "simple";

export interface Token {
  readonly kind: TokenKind;
  /** The token without decoration (back-ticks, quotes, emphasis, punctuation), but with its line suffix and separators as spelt. */
  readonly raw: string;
  /** `raw` first; then the same without line suffix or member, or the path that a URL points at. */
  readonly spellings: readonly string[];
  readonly lines?: readonly [number, number];
}

/** Longest token looked at: longer than the longest path of common file systems' practice, short enough to bound the work. */
export const MAX_TOKEN = 1024;

const EXTENSIONS = new Set(
  (
    "java kt kts scala sc groovy gradle clj cljs cljc py pyi pyx pxd pyw ipynb rb erb rake gemspec php phtml pl pm t lua r R Rmd jl " +
    "js jsx mjs cjs ts tsx mts cts vue svelte astro c h cc cpp cxx hh hpp hxx inl ipp tpp m mm cs csx fs fsx fsi vb go rs swift " +
    "dart ex exs eex heex leex erl hrl hs lhs ml mli elm nim zig d v sv vhd vhdl f f90 f95 for pas pp ada adb ads cob asm s S sh bash zsh fish ps1 psm1 bat " +
    "cmd sql psql proto thrift avsc graphql gql g4 y l html htm xhtml css scss sass less styl xml xsd xsl xslt xaml axml fxml wsdl json jsonc " +
    "json5 jsonl ndjson yaml yml toml ini cfg conf config properties env plist md mdx markdown rst adoc asciidoc txt text tex bib csv tsv " +
    "lock mod sum cmake mk mak make in am ac bzl bazel tf tfvars hcl nix dhall csproj fsproj vbproj sln vcxproj pbxproj xcconfig storyboard xib " +
    "jsp jspx jspf tag tld ftl vm hbs handlebars mustache ejs pug jade haml slim twig liquid tpl tmpl template j2 jinja jinja2 njk po pot " +
    "resx strings svg png jpg jpeg gif ico pdf map snap patch diff dockerfile prisma sol cu cuh cl glsl vert frag hlsl wgsl metal el lisp cls " +
    "rkt scm tcl vim awk sed m4 dtd rnc rng bnf ebnf puml mmd pyproj cabal podspec aidl rc lst spec service desktop"
  ).split(" "),
);

/** Files that are known by their whole name. */
const BARE_FILES = new Set(
  (
    "Makefile GNUmakefile Dockerfile Containerfile Jenkinsfile Vagrantfile Procfile Gemfile Rakefile Podfile Fastfile Brewfile Pipfile " +
    "BUILD WORKSPACE LICENSE LICENCE README CHANGELOG CONTRIBUTING AUTHORS NOTICE CODEOWNERS gradlew mvnw Kconfig SConstruct SConscript"
  ).split(" "),
);

/** Products whose names look like files; only a folder or a code span makes them one. */
const PRODUCTS = new Set(
  "node.js vue.js react.js next.js nuxt.js express.js three.js d3.js angular.js ember.js backbone.js discord.js asp.net socket.io".split(
    " ",
  ),
);

const PACKAGES = /^(?:org|com|net|io|edu|gov|java|javax|jakarta|kotlin|scala)\.[a-z]+$/;

const QUALIFIED = /^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|#)[\p{L}_$~][\p{L}\p{N}_$]*)+$/u;
const SIMPLE = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
const FORBIDDEN = /[\p{Cc}*?<>|"{}=;,]/u;

export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

export function hasKnownExtension(path: string): boolean {
  const base = baseName(path);
  if (BARE_FILES.has(base)) return true;
  const dot = base.lastIndexOf(".");
  if (dot < 0 || dot === base.length - 1) return false;
  const extension = base.slice(dot + 1);
  // `README.MD` and `SCHEMA.SQL` are files, `org.json.XML` is a class: capitals count only where there is a single dot.
  return (
    EXTENSIONS.has(extension) ||
    (base.indexOf(".") === dot && dot > 0 && isUpper(base) && EXTENSIONS.has(extension.toLowerCase()))
  );
}

function isUpper(text: string): boolean {
  return text === text.toUpperCase();
}

/** Takes decoration off both ends: quotes, back-ticks, emphasis, brackets without partner, punctuation. */
export function undecorate(text: string): string {
  let start = 0;
  let end = text.length;
  for (;;) {
    const before = start + (text.length - end);
    while (start < end && " \t\u00a0`'\"“”‘’«»*,;:!".includes(text.charAt(start))) start++;
    while (end > start && " \t\u00a0`'\"“”‘’«»*,;:!?".includes(text.charAt(end - 1))) end--;
    if (text.charAt(end - 1) === "." && end - start > 1) end--;
    const first = text.charAt(start);
    const last = text.charAt(end - 1);
    const inner = text.slice(start, end);
    if ("([{<".includes(first) && first !== "" && (last === partner(first) || !inner.includes(partner(first)))) start++;
    else if (")]}>".includes(last) && last !== "" && end > start && !inner.slice(0, -1).includes(opener(last))) end--;
    if (start + (text.length - end) === before || start >= end) break;
  }
  let inner = text.slice(start, Math.max(start, end));
  // `_src/A.java_` is emphasis, `__init__.py` is a name.
  if (inner.length > 2 && inner.startsWith("_") && inner.endsWith("_") && hasKnownExtension(inner.replace(/_{1,3}$/, ""))) {
    inner = inner.replace(/^_{1,3}/, "").replace(/_{1,3}$/, "");
  }
  return inner;
}

function partner(open: string): string {
  return open === "(" ? ")" : open === "[" ? "]" : open === "{" ? "}" : ">";
}
function opener(close: string): string {
  return close === ")" ? "(" : close === "]" ? "[" : close === "}" ? "{" : "<";
}

export interface Located {
  readonly path: string;
  readonly lines?: readonly [number, number];
}

const LINE_SUFFIX = /(?:#|:)L?(\d{1,7})(?:C\d{1,5})?(?:([-–,:]|\.\.)L?(\d{1,7})(?:C\d{1,5})?)?:?$/;
const LINE_WORDS =
  /[\s,]{0,3}[([]?\s{0,2}(?:lines?|lignes?|ln|L)\.?\s{0,2}:?\s{0,2}L?(\d{1,7})(?:\s{0,2}(?:[-–,]|to|à|and)\s{0,2}L?(\d{1,7}))?\s{0,2}[)\]]?$/i;
const LINE_BRACKETS = /\s?\((\d{1,7})(?:\s?[-–,]\s?(\d{1,7}))?\)$/;

/**
 * Cuts what points inside a file: `x.py:120`, `x.py#L10-L20`, `x.py (lines 10-20)`, `x.py::Class.method`, `X.java#get`.
 * A text without such a suffix comes back unchanged.
 */
export function splitLocation(text: string): Located {
  if (text.length > MAX_TOKEN) return { path: text };
  let path = text;
  let lines: readonly [number, number] | undefined;
  for (let round = 0; round < 3; round++) {
    const member = memberStart(path);
    if (member > 0) {
      path = path.slice(0, member);
      continue;
    }
    const words = LINE_SUFFIX.exec(path);
    const match = words ?? LINE_BRACKETS.exec(path) ?? (hasSeparatorOrDot(path) ? LINE_WORDS.exec(path) : null);
    if (match === null || match.index === 0) break;
    const first = Number(match[1]);
    // `x.c:120:5` is line and column, `x.c:120-125` a range.
    const second = words === null ? match[2] : match[2] === ":" ? undefined : match[3];
    lines = range(first, second === undefined ? first : Number(second)) ?? lines;
    path = path.slice(0, match.index).trimEnd();
  }
  return lines === undefined ? { path } : { path, lines };
}

function hasSeparatorOrDot(text: string): boolean {
  return text.includes("/") || text.includes("\\") || text.includes(".");
}

export function range(first: number, last: number): readonly [number, number] | undefined {
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || first < 1 || last < 1) return undefined;
  return first <= last ? [first, last] : [last, first];
}

/** Index where a member suffix (`::f`, `:Class.f`, `#f`) starts after a known extension, or -1. */
function memberStart(path: string): number {
  let tries = 0;
  for (let at = path.search(/[:#]/); at > 0 && tries < 8; tries++) {
    const rest = path.slice(at).replace(/^(?:::?|#)/, "");
    if (rest !== "" && !/^L?\d/.test(rest) && !/[\s/\\]/.test(rest) && hasKnownExtension(path.slice(0, at))) return at;
    const next = path.slice(at + 1).search(/[:#]/);
    at = next < 0 ? -1 : at + 1 + next;
  }
  return -1;
}

export interface ClassifyOptions {
  /** Free running text: only known extensions make a path, and products such as Node.js are none. */
  readonly prose: boolean;
  /** The token stands alone in a field, span or item: spaces and unknown extensions are allowed. */
  readonly alone: boolean;
}

/** Reads one token, or null if it names no file and no class. Never throws. */
export function classify(text: string, options: ClassifyOptions): Token | null {
  if (text.length > MAX_TOKEN * 2) return null;
  const known = classified[(options.prose ? 2 : 0) + (options.alone ? 1 : 0)];
  if (known === undefined || text.length > LONGEST_KEPT) return classifyAnew(text, options);
  let found = known.get(text);
  if (found === undefined) {
    found = classifyAnew(text, options);
    if (known.size >= MOST_KEPT) known.clear();
    known.set(text, found);
  }
  return found;
}

/**
 * Answers of one data set say the same words again and again, and each is read by several rungs. Bounded, and emptied when it is full: what
 * is kept changes no result.
 */
const MOST_KEPT = 20_000;
const LONGEST_KEPT = 200;
const classified: readonly Map<string, Token | null>[] = [new Map(), new Map(), new Map(), new Map()];

function classifyAnew(text: string, options: ClassifyOptions): Token | null {
  const raw = undecorate(text).replace(/^@(?=[\p{L}.])/u, "");
  if (raw === "" || raw.length > MAX_TOKEN) return null;
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(raw) && !/^file:/i.test(raw)) {
    const paths = blobPath(raw);
    if (paths === null) return null;
    const { lines } = splitLocation(raw);
    return token("path", [raw, ...paths], lines);
  }
  const { path, lines } = splitLocation(raw);
  const bare = path.replace(/\((?:[^()]{0,200})\)$/, "");
  if (isPath(path, options)) return token("path", path === raw ? [raw] : [raw, path], lines);
  if (FORBIDDEN.test(bare) || /\s/u.test(bare)) return null;
  if (QUALIFIED.test(bare)) {
    if (options.prose && !isProseQualified(bare)) return null;
    if (/^(?:std|self|this|super|www)(?:\.|::)/.test(bare) || /^\p{L}(?:\.\p{L})+$/u.test(bare)) return null;
    return token("qualified", bare === raw ? [raw] : [raw, bare], lines);
  }
  if (SIMPLE.test(bare)) return token("simple", bare === raw ? [raw] : [raw, bare], lines);
  return null;
}

function token(kind: TokenKind, spellings: readonly string[], lines: readonly [number, number] | undefined): Token {
  const raw = spellings[0] ?? "";
  return lines === undefined ? { kind, raw, spellings } : { kind, raw, spellings, lines };
}

function isPath(path: string, options: ClassifyOptions): boolean {
  if (FORBIDDEN.test(path.replace(/^[A-Za-z]:[\\/]/, "")) || path.endsWith("/") || path.endsWith("\\")) return false;
  if (!options.alone && /\s/u.test(path)) return false;
  const separated = path.includes("/") || path.includes("\\");
  const base = baseName(path);
  if (base === "" || base === "." || base === "..") return false;
  // More words than a file name has: a sentence that happens to end in a path.
  if (path.split(/\s+/u).length > (separated ? 8 : 3)) return false;
  if (hasKnownExtension(path)) {
    if (separated) return true;
    if (!options.alone && PRODUCTS.has(path.toLowerCase())) return false;
    // Packages whose last word is also an extension: `org.json`, `java.sql`.
    if (PACKAGES.test(path)) return false;
    const stem = base.slice(0, base.lastIndexOf("."));
    if (BARE_FILES.has(base)) return !options.prose;
    if (stem === "") return options.alone;
    // `e.g`, `i.e`, `x.h` of a formula: one letter before and after the dot is no file in running text.
    if (options.prose && stem.length < 2) return false;
    if (/\d$/.test(stem) && /^\d[\d.]*$/.test(stem)) return false;
    return true;
  }
  if (!separated) return base.startsWith(".") && options.alone && /^\.[\p{L}][\p{L}\p{N}._-]*$/u.test(base);
  const dot = base.lastIndexOf(".");
  const plausible = dot > 0 && /^[\p{L}][\p{L}\p{N}_+-]{0,11}$/u.test(base.slice(dot + 1));
  if (plausible) return !options.prose;
  // A folder-like token without extension (`bin/serve`) counts only where it stands alone.
  return options.alone && !/\s/u.test(path) && !/^(?:application|text|image|audio|video|multipart)\//.test(path) && dot < 0;
}

/** In running text only `package.Class` counts; `self.data.items` and `www.site.org` do not. */
function isProseQualified(name: string): boolean {
  const segments = name.split(/\.|::|#/);
  if (segments.length < 2 || name.startsWith("www.")) return false;
  const upper = segments.findIndex((segment) => /^\p{Lu}/u.test(segment));
  return upper >= 1 && segments.slice(0, upper).every((segment) => /^[\p{Ll}_]/u.test(segment)) && !/^javax?\./.test(name);
}

/** A class name that can't be an ordinary word: an inner capital, a digit or an underscore beside a capital at the start. */
export function isCamel(name: string): boolean {
  return /^\p{Lu}/u.test(name) && (/\p{Ll}\p{Lu}/u.test(name) || /\p{Lu}{2}\p{Ll}/u.test(name) || /[_\d]/.test(name));
}

const ORDINARY = new Set(
  (
    "none null nil nothing unknown empty sorry yes no ok okay done answer answers file files path paths class classes result results " +
    "note notes reason reasons summary conclusion analysis explanation why because here the a an this these those i n/a na undefined " +
    "true false final thinking output input response question issue fix change changes method methods function functions line lines " +
    "aucun aucune rien oui non réponse fichier fichiers chemin chemins classe raison pourquoi finish end eof stop thanks"
  ).split(" "),
);

export function isOrdinaryWord(word: string): boolean {
  return ORDINARY.has(word.toLowerCase());
}
