import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry } from "../answers/schema.js";
import { NORMALISATIONS, type Normalisation, type RuleSet } from "./contract.js";
import { buildFileIndex } from "./file-index.js";
import { matchEntries } from "./match.js";
import { builtInRules } from "./rules.js";

const { strict, lenient } = builtInRules;
const MAIN = "src/main/java/org/shop/Cart.java";
const ORDER = "src/main/java/org/shop/Order.java";
const FILES = [
  MAIN,
  ORDER,
  "src/main/java/org/shop/api/Item.java",
  "src/test/java/org/shop/CartTest.java",
  "modules/one/src/main/java/x/Twin.java",
  "modules/two/src/main/java/x/Twin.java",
  "pkg/pricing/__init__.py",
  "pkg/pricing/discount.py",
  "pkg/other/__init__.py",
  "include/net/Socket.hpp",
  "docs/Cart.md",
  "b/odd.txt",
];
const ROOT = "/home/someone/shop";
const index = buildFileIndex({ paths: FILES, roots: [ROOT] });

function entry(...spellings: string[]): Entry {
  return { raw: spellings[0] ?? "", readBy: "json", spellings };
}
function one(
  spelling: string,
  rules = lenient,
  targets: readonly string[] = [MAIN],
): { path: string | null; rung: string | null; ambiguous: boolean } {
  const [prediction] = matchEntries([entry(spelling)], targets, index, rules).predictions;
  if (prediction === undefined) throw new Error("no prediction");
  return { path: prediction.path, rung: prediction.rung, ambiguous: prediction.ambiguous };
}

describe("path", () => {
  test.each([
    ["as it is", MAIN],
    ["dot folder", `./${MAIN}`],
    ["back-slashes", MAIN.replaceAll("/", "\\")],
    ["doubled separators", MAIN.replace("/main/", "//main/./")],
    ["parent folders", MAIN.replace("src/", "src/test/../")],
    ["git prefix a", `a/${MAIN}`],
    ["git prefix b", `b/${MAIN}`],
    ["absolute below a root", `${ROOT}/${MAIN}`],
    ["from the repository's root", `/${MAIN}`],
    ["file URL", `file://${ROOT}/${MAIN}`],
    ["line", `${MAIN}:120`],
    ["lines", `${MAIN}:120-130`],
    ["anchor", `${MAIN}#L10-L20`],
    ["words", `${MAIN} (lines 10-20)`],
    ["member", `${MAIN}::Cart.add`],
    ["percent signs", MAIN.replace("main", "m%61in")],
  ])("%s", (_, spelling) => {
    expect(one(spelling, strict)).toEqual({ path: MAIN, rung: "path", ambiguous: false });
  });

  test("a folder that is called b stays", () => {
    expect(one("b/odd.txt", strict).path).toBe("b/odd.txt");
    expect(one("a/b/odd.txt", strict).path).toBe("b/odd.txt");
  });

  test("Unicode forms are one", () => {
    const names = buildFileIndex({ paths: ["src/Épée.java".normalize("NFD")], roots: [] });
    const result = matchEntries([entry("src/Épée.java".normalize("NFC"))], ["src/Épée.java".normalize("NFC")], names, strict);
    expect(result).toMatchObject({ truePositives: 1, falsePositives: 0, falseNegatives: 0 });
  });

  test("strict takes nothing else", () => {
    for (const spelling of ["org/shop/Cart.java", "org.shop.Cart", "Cart", MAIN.toLowerCase(), "wrong/dir/Cart.java"]) {
      expect(one(spelling, strict)).toEqual({ path: null, rung: null, ambiguous: false });
    }
  });
});

describe("the other rungs", () => {
  test.each([
    ["suffix", "org/shop/Cart.java", MAIN, "suffix"],
    ["base name as suffix", "Order.java", ORDER, "suffix"],
    ["absolute path of another machine", "/builds/7/repo/src/main/java/org/shop/Cart.java", MAIN, "suffix"],
    ["drive letter", "C:\\work\\repo\\src\\main\\java\\org\\shop\\Cart.java", MAIN, "suffix"],
    ["qualified name", "org.shop.Cart", MAIN, "qualified-name"],
    ["inner class with $", "org.shop.Cart$Line", MAIN, "qualified-name"],
    ["inner class with dot", "org.shop.Cart.Line", MAIN, "qualified-name"],
    ["method with #", "org.shop.Cart#add", MAIN, "qualified-name"],
    ["method with arguments", "org.shop.Cart#add(Item)", MAIN, "qualified-name"],
    ["qualified with extension", "org.shop.Cart.java", MAIN, "qualified-name"],
    ["JVM name", "org/shop/Cart", MAIN, "qualified-name"],
    ["module path", "pkg.pricing.discount", "pkg/pricing/discount.py", "qualified-name"],
    ["module, class and method", "pkg.pricing.discount.Rate.apply", "pkg/pricing/discount.py", "qualified-name"],
    ["a package's own file", "pkg.pricing", "pkg/pricing/__init__.py", "qualified-name"],
    ["C++ name", "net::Socket", "include/net/Socket.hpp", "qualified-name"],
    ["class name", "Cart", MAIN, "simple-name"],
    ["class and member", "Cart.add", MAIN, "simple-name"],
    ["wrong folder", "wrong/dir/Cart.java", MAIN, "simple-name"],
    ["wrong package", "com.wrong.Cart", MAIN, "simple-name"],
    ["letter case of a path", MAIN.toUpperCase(), MAIN, "letter-case"],
    ["letter case of a suffix", "ORG/shop/cart.java", MAIN, "letter-case"],
    ["letter case of a name", "org.shop.cart", MAIN, "letter-case"],
  ])("%s", (_, spelling, path, rung) => {
    expect(one(spelling)).toEqual({ path, rung, ambiguous: false });
  });

  test("a suffix starts at a border", () => {
    expect(one("hop/Cart.java").rung).toBe("simple-name");
    expect(one("art.java").path).toBeNull();
  });

  test.each(["x/Twin.java", "x.Twin", "Twin", "elsewhere/Twin.java", "__init__.py", "twin"])("ambiguous: %s", (spelling) => {
    expect(one(spelling)).toEqual({ path: null, rung: null, ambiguous: true });
  });

  test("ambiguity is judged in the corpus, not among the targets", () => {
    const result = matchEntries([entry("Twin")], ["modules/one/src/main/java/x/Twin.java"], index, lenient);
    expect(result).toMatchObject({ truePositives: 0, falsePositives: 1, falseNegatives: 1, ambiguous: 1 });
  });

  test("a file that is no source makes no class name ambiguous", () => {
    expect(one("Cart").path).toBe(MAIN);
  });

  test("the package that starts at a source root wins over a longer one", () => {
    const files = buildFileIndex({ paths: ["src/main/java/x/Foo.java", "src/main/java/a/x/Foo.java"], roots: [] });
    expect(matchEntries([entry("x.Foo")], [], files, lenient).predictions[0]?.path).toBe("src/main/java/x/Foo.java");
  });

  test("letter case that several files share", () => {
    const files = buildFileIndex({ paths: ["src/Util.java", "src/util.java"], roots: [] });
    expect(matchEntries([entry("src/UTIL.java")], [], files, lenient).predictions[0]).toMatchObject({
      path: null,
      ambiguous: true,
    });
    expect(matchEntries([entry("src/util.java")], [], files, lenient).predictions[0]).toMatchObject({
      path: "src/util.java",
      rung: "path",
    });
  });

  test("a file extension that differs is another file", () => {
    expect(one("org/shop/Cart.kt").path).toBeNull();
  });
});

describe("entries", () => {
  test("the most trustworthy rung over all spellings wins", () => {
    const [prediction] = matchEntries([entry("wrong/Order.java", "org.shop.Cart", MAIN)], [MAIN], index, lenient).predictions;
    expect(prediction).toMatchObject({ raw: "wrong/Order.java", path: MAIN, rung: "path", target: MAIN });
  });

  test("entries of one file are one: the first rank is kept, duplicates are counted", () => {
    const result = matchEntries([entry("Order"), entry("Cart"), entry(MAIN), entry("org.shop.Cart")], [MAIN], index, lenient);
    expect(result.predictions.map((prediction) => [prediction.raw, prediction.duplicates])).toEqual([
      ["Order", 0],
      ["Cart", 2],
    ]);
    expect(result).toMatchObject({ truePositives: 1, falsePositives: 1, falseNegatives: 0, duplicates: 2 });
  });

  test("an unknown file is one false positive however often and in whatever form it is named", () => {
    const result = matchEntries([entry("src/No.java"), entry("./src\\No.java:12"), entry("src/No.java")], [MAIN], index, strict);
    expect(result).toMatchObject({ truePositives: 0, falsePositives: 1, falseNegatives: 1, duplicates: 2 });
  });

  test("read_by and lines stay with the prediction", () => {
    const given: Entry = { ...entry(MAIN), readBy: "table", lines: [3, 9] };
    expect(matchEntries([given], [MAIN], index, strict).predictions[0]).toMatchObject({ readBy: "table", lines: [3, 9] });
  });

  test("without a file list only the path rung works, against the targets", () => {
    const result = matchEntries(
      [entry(`./${MAIN}:3`), entry("Order"), entry("org/shop/Order.java")],
      [MAIN, ORDER],
      null,
      lenient,
    );
    expect(result).toMatchObject({ truePositives: 1, falsePositives: 2, falseNegatives: 1, ambiguous: 0 });
  });

  test("a target that the corpus lacks can be named by its path", () => {
    expect(matchEntries([entry("src/New.java")], ["src/New.java"], index, strict)).toMatchObject({
      truePositives: 1,
      falsePositives: 0,
    });
  });

  test("targets given twice count once", () => {
    expect(matchEntries([], [MAIN, MAIN], index, strict).falseNegatives).toBe(1);
  });
});

describe("a person's rules", () => {
  const rules = (changes: Partial<RuleSet>): RuleSet => ({ ...lenient, name: "mine", ...changes });
  const without = (...off: Normalisation[]) => rules({ normalise: new Set(NORMALISATIONS.filter((one) => !off.includes(one))) });

  test("the order of rungs decides which one answers for an entry", () => {
    const both = entry("org.shop.Cart", ORDER);
    const resolve = (...rungs: RuleSet["rungs"]) => matchEntries([both], [MAIN], index, rules({ rungs })).predictions[0]?.path;
    expect(resolve("path", "qualified-name")).toBe(ORDER);
    expect(resolve("qualified-name", "path")).toBe(MAIN);
  });

  test.each<[Normalisation, string]>([
    ["separators", MAIN.replaceAll("/", "\\")],
    ["dot-segments", `./${MAIN}`],
    ["corpus-roots", `${ROOT}/${MAIN}`],
    ["leading-slash", `/${MAIN}`],
    ["git-prefixes", `a/${MAIN}`],
    ["percent-encoding", MAIN.replace("main", "m%61in")],
  ])("without %s that spelling is another file", (normalisation, spelling) => {
    expect(one(spelling, { ...without(normalisation), rungs: ["path"] })).toMatchObject({ path: null });
    expect(one(spelling, { ...without(), rungs: ["path"] })).toMatchObject({ path: MAIN });
  });

  test("paths are mapped, after the spelling as it stands, on every path rung", () => {
    const mapped = rules({ rungs: ["path", "suffix"], paths: [{ from: "old/java/", to: "src/main/java/" }] });
    expect(one("old/java/org/shop/Cart.java", mapped)).toEqual({ path: MAIN, rung: "path", ambiguous: false });
    expect(one("./old\\java\\org/shop/Cart.java:12", mapped)).toMatchObject({ path: MAIN });
    expect(one("cold/java/org/shop/Cart.java", mapped)).toMatchObject({ path: null });
    const prefixed = rules({ rungs: ["path"], paths: [{ from: "", to: "src/main/java/" }] });
    expect(one("org/shop/Cart.java", prefixed)).toMatchObject({ path: MAIN });
    expect(one("/org/shop/Nothing.java", prefixed)).toMatchObject({ path: null });
    const folded = rules({ rungs: ["path", "letter-case"], paths: [{ from: "OLD/", to: "src/main/java/" }] });
    expect(one("old/ORG/shop/cart.java", folded)).toMatchObject({ path: MAIN, rung: "letter-case" });
  });

  test.each(["org.shop.Cart$Line", "org.shop.Cart.Line", "Cart.Line", "org.shop.cart$Line.Inner", "ORG.shop.Cart.Line"])(
    "without folding an inner class is no file: %s",
    (spelling) => {
      expect(one(spelling, rules({ innerClasses: false })).path).toBeNull();
    },
  );

  test.each(["org.shop.Cart", "org.shop.Cart#add", "Cart.add", "org.shop.Cart.MAX_LINES", "pkg.pricing.discount.Rate.apply"])(
    "without folding a class and its members are still their file: %s",
    (spelling) => {
      expect(one(spelling, rules({ innerClasses: false })).path).not.toBeNull();
    },
  );

  test("with extensions, predictions of other files are in no list, wrong or not", () => {
    const java = rules({ extensions: [".java"] });
    const given = ["docs/Cart.md", "b/odd.txt", "README.md", "src/unknown.py:3", MAIN, "src/No.java", "Nowhere"].map((one) =>
      entry(one),
    );
    const result = matchEntries(given, [MAIN], index, java);
    expect(result.predictions.map(({ raw }) => raw)).toEqual([MAIN, "src/No.java", "Nowhere"]);
    expect(result).toMatchObject({ truePositives: 1, falsePositives: 2, falseNegatives: 0 });
  });

  test("a target with two names is hit once by both of them", () => {
    const moved = { path: ORDER, names: [ORDER, "src/main/java/org/shop/orders/Order.java"] };
    const given = [entry("src/main/java/org/shop/orders/Order.java"), entry(ORDER), entry(MAIN)];
    const result = matchEntries(given, [moved, MAIN], index, strict);
    expect(result).toMatchObject({ truePositives: 2, falsePositives: 0, falseNegatives: 0, duplicates: 1 });
    expect(result.predictions[0]).toMatchObject({ target: ORDER, rung: "path" });
  });

  test("a name that two targets claim is the one's whose own name it is", () => {
    const result = matchEntries([entry(MAIN)], [{ path: ORDER, names: [ORDER, MAIN] }, MAIN], index, strict);
    expect(result.predictions[0]?.target).toBe(MAIN);
    expect(result.falseNegatives).toBe(1);
  });

  test("a relative root is taken off wherever it stands", () => {
    const digest = "0123abcd".repeat(8);
    const anywhere = buildFileIndex({ paths: FILES, roots: [`trees/${digest}`] });
    for (const folder of ["/home/a/cache", "/other/machine", "C:\\bench\\cache"]) {
      const spelling = `${folder}/trees/${digest}/${MAIN}`;
      expect(matchEntries([entry(spelling)], [MAIN], anywhere, strict).truePositives).toBe(1);
    }
    expect(matchEntries([entry(`/x/trees/other/${MAIN}`)], [MAIN], anywhere, strict).truePositives).toBe(0);
  });
});

describe("properties", () => {
  const spelling = fc.oneof(
    fc.constantFrom(...FILES),
    fc.constantFrom("Cart", "org.shop.Cart", "x/Twin.java", "Twin", "nope/Cart.java", "CART", "__proto__", "constructor", ""),
    fc.string(),
    fc.string({ unit: "binary" }),
  );
  const list = fc.array(
    fc.array(spelling, { minLength: 1, maxLength: 3 }).map((spellings) => entry(...spellings)),
    { maxLength: 12 },
  );
  const targets = fc.subarray(FILES);

  test("counts add up, and no prediction takes a target twice", () => {
    fc.assert(
      fc.property(list, targets, fc.constantFrom(strict, lenient), fc.boolean(), (entries, wanted, rules, known) => {
        const result = matchEntries(entries, wanted, known ? index : null, rules);
        expect(result.truePositives + result.falseNegatives).toBe(wanted.length);
        expect(result.truePositives + result.falsePositives).toBe(result.predictions.length);
        expect(result.predictions.length + result.duplicates).toBe(entries.length);
        const hit = result.predictions.flatMap((prediction) => prediction.target ?? []);
        expect(new Set(hit).size).toBe(hit.length);
        expect(result.predictions.every((prediction) => (prediction.rung === null) === (prediction.path === null))).toBe(true);
      }),
    );
  });

  test("a duplicate changes nothing but its count", () => {
    fc.assert(
      fc.property(list, targets, (entries, wanted) => {
        const once = matchEntries(entries, wanted, index, lenient);
        const twice = matchEntries([...entries, ...entries], wanted, index, lenient);
        expect(twice).toMatchObject({
          truePositives: once.truePositives,
          falsePositives: once.falsePositives,
          falseNegatives: once.falseNegatives,
        });
        expect(twice.duplicates).toBe(once.duplicates + entries.length);
      }),
    );
  });

  test("the order of the file list does not matter", () => {
    const shuffled = fc.shuffledSubarray(FILES, { minLength: FILES.length });
    fc.assert(
      fc.property(list, targets, shuffled, (entries, wanted, files) => {
        const other = buildFileIndex({ paths: files, roots: [ROOT] });
        expect(matchEntries(entries, wanted, other, lenient)).toEqual(matchEntries(entries, wanted, index, lenient));
      }),
    );
  });

  test("lenient hits whatever strict hits", () => {
    fc.assert(
      fc.property(list, targets, (entries, wanted) => {
        const hits = (rules: typeof strict): Set<string> =>
          new Set(matchEntries(entries, wanted, index, rules).predictions.flatMap((one) => one.target ?? []));
        for (const target of hits(strict)) expect(hits(lenient)).toContain(target);
      }),
    );
  });
});

test("a look-up does not slow down with the tree: 100,000 files that share a base name", () => {
  const paths = Array.from({ length: 100_000 }, (_, n) => `pkg${n % 317}/sub${n}/__init__.py`);
  const big = buildFileIndex({ paths, roots: [] });
  const entries = Array.from({ length: 10_000 }, (_, n) => entry(`sub${n}/__init__.py`, `sub${n}`));
  const result = matchEntries(entries, [], big, lenient);
  expect(result.predictions).toHaveLength(10_000);
  expect(result.predictions.every((prediction) => prediction.rung === "suffix")).toBe(true);
});
