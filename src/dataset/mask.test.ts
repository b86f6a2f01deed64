import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { datasetDigest } from "./build.js";
import { leakageOf } from "./leakage.js";
import { maskCase, maskDataset } from "./mask.js";
import { minedFile } from "./mined-file.js";
import { readDataset } from "./read.js";
import { type Case, caseSchema, type Dataset, datasetHeaderSchema } from "./schema.js";

const SOURCE = "src/main/java/org/shop/ShoppingCart.java";

function asked(title: string, body: string | null, paths: readonly string[] = [SOURCE]): Case {
  const targets = paths.map((path) => ({ path, role: "source" }));
  return caseSchema.parse({ id: "acme/shop#1", repository: "acme/shop", number: 1, title, body, targets });
}

function masked(body: string, paths?: readonly string[]): string {
  return maskCase(asked("It fails", body, paths)).body ?? "";
}

describe("what stands in place of a name", () => {
  test.each([
    [`see ${SOURCE}:12`, "see hidden/Hidden1.java:12"],
    [`https://example.org/a/b/blob/abc/${SOURCE}#L12`, "https://example.org/a/b/blob/abc/hidden/Hidden1.java#L12"],
    ["C:\\w\\org\\shop\\ShoppingCart.java", "C:\\w\\hidden\\Hidden1.java"],
    ["\tat org.shop.ShoppingCart.add(ShoppingCart.java:12)\n", "\tat hidden.Hidden1.add(Hidden1.java:12)\n"],
    ["ShoppingCart#add, `ShoppingCart`s and a ShoppingCart", "Hidden1#add, `Hidden1`s and a Hidden1"],
    ["testShoppingCartIsEmpty in ShoppingCartTest, ShoppingCarts", "testHidden1IsEmpty in Hidden1Test, Hidden1s"],
    ["nothing of the kind, shopping cart", "nothing of the kind, shopping cart"],
  ])("%s", (text, expected) => {
    expect(masked(text)).toBe(expected);
  });

  test("the same name has the same placeholder, in title and body", () => {
    const paths = ["src/TaxTable.java", "src/ShoppingCart.java", "test/ShoppingCart.java"];
    const one = maskCase(asked("TaxTable or ShoppingCart", "ShoppingCart, then TaxTable, then TaxTable.java", paths));
    expect([one.title, one.body]).toEqual(["Hidden1 or Hidden2", "Hidden2, then Hidden1, then Hidden1.java"]);
  });

  test("classes and functions that the fix changed are names as well", () => {
    const place = (name: string) => ({ name, ranges: null });
    const one = asked("It fails", "`add_item(1)` of a Basket, add_items", ["shop/core.py"]);
    const located = {
      ...one,
      targets: one.targets.map((target) => ({ ...target, classes: [place("Basket")], functions: [place("Basket.add_item")] })),
    };
    expect([leakageOf(located)?.class, leakageOf(maskCase(located))?.class]).toEqual(["full", "none"]);
    expect(maskCase(located).body).not.toMatch(/add_item\b|Basket/);
  });

  test("a text that holds the placeholder already gets another", () => {
    expect(masked("hidden in ShoppingCart")).toBe("hidden in Masked1");
    expect(masked("hidden masked redacted placeholder veiled in ShoppingCart")).toBe(
      "hidden masked redacted placeholder veiled in Hiddenx1",
    );
  });

  test("plain words stay unless the text marks them as code", () => {
    expect(masked("utils: it utils `utils` and utils.py", ["src/utils.py"])).toBe("utils: it utils `Hidden1` and Hidden1.py");
  });

  test("a case without targets, and a source without texts, stay as they are", () => {
    const none = asked("ShoppingCart", "ShoppingCart", []);
    expect(maskCase(none)).toBe(none);
    expect(maskCase(asked("x", null)).body).toBeNull();
  });
});

const folder = fc.constantFrom("src", "main", "org", "shop", "a-b", "x.y", "test");
const stem = fc.oneof(
  fc.constantFrom(
    "ShoppingCart",
    "XML",
    "utils",
    "my-part",
    "index",
    "__init__",
    "a.b",
    "Config",
    "Ünï",
    "İx",
    "R",
    "XMLs",
    "Hidden1",
    "$x",
    "C++",
  ),
  fc.string({ minLength: 1, maxLength: 6 }).map((text) => text.replace(/[/\\]/g, "z")),
);
const path = fc
  .tuple(fc.array(folder, { maxLength: 3 }), stem, fc.constantFrom(".java", ".py", ".test.js", ""))
  .map(([folders, name, extension]) => [...folders, `${name}${extension}`].join("/"));

/** Texts made of the names, of their parts and of what stands around such things. */
function textAbout(paths: readonly string[]) {
  const names = paths.flatMap((one) => {
    const name = one.split("/").at(-1) ?? one;
    const bare = name.replace(/\.[^.]*$/, "");
    return [
      one,
      name,
      bare,
      one.replaceAll("/", "\\"),
      one.replaceAll("/", "."),
      one.replaceAll("/", "%2F"),
      `${bare}Test`,
      one.toUpperCase(),
    ];
  });
  const glue = fc.constantFrom(
    " ",
    "/",
    ".",
    "\n",
    "`",
    "(",
    ":12",
    "s",
    "\\",
    "$",
    "_",
    "Test",
    "at ",
    "%2F",
    "-",
    "#",
    "hidden/",
    "src/",
    "",
  );
  return fc
    .array(fc.oneof(fc.constantFrom(...names), glue, fc.string({ maxLength: 4 })), { maxLength: 20 })
    .map((parts) => parts.join(""));
}

const about = fc
  .array(path, { minLength: 1, maxLength: 4 })
  .chain((paths) => fc.tuple(fc.constant(paths), textAbout(paths), textAbout(paths)));

describe("after masking", () => {
  test("no case leaks, whatever its texts and paths", () => {
    fc.assert(
      fc.property(about, ([paths, title, body]) => {
        const one = maskCase(asked(title, body, paths));
        expect(leakageOf(one)).toMatchObject({ class: "none", named: [] });
        expect(maskCase(one)).toEqual(one);
      }),
      { numRuns: 500 },
    );
  });

  test("no file name with an extension is left, in any letter case", () => {
    fc.assert(
      fc.property(about, ([paths, title, body]) => {
        const words = paths.filter((one) => /(?:^|\/)\w{2,}\.(?:java|py)$/.test(one)).map((one) => one.split("/").at(-1) ?? "");
        const one = maskCase(asked(title, body, paths));
        for (const name of words) {
          const whole = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_$])${name.replaceAll(".", "\\.")}(?![\\p{L}\\p{M}\\p{N}_$])`, "iu");
          expect(`${one.title}\n${one.body}`).not.toMatch(whole);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("lines stay where they were", () => {
    fc.assert(
      fc.property(about, ([paths, , body]) => {
        const plain = paths.filter((one) => !/[\r\n\u2028\u2029]/.test(one));
        fc.pre(plain.length === paths.length);
        expect(masked(body, paths).split("\n").length).toBe(body.split("\n").length);
      }),
    );
  });
});

describe("a data set", () => {
  const header = datasetHeaderSchema.parse({
    ...{ schema_version: 3, project_name: "acme/shop", url: null, scanned: null, links: null, extensions: null },
  });
  const dataset: Dataset = {
    header,
    cases: [
      asked("ShoppingCart fails", "in add"),
      { ...asked("It fails", "somewhere"), id: "acme/shop#2" },
      { ...asked("ShoppingCart", "x", []), id: "acme/shop#3" },
    ],
  };

  test("has another digest, a note, and what each case was before", () => {
    const after = maskDataset(dataset);
    expect(datasetDigest(after)).not.toBe(datasetDigest(dataset));
    expect(after.header.notes.at(-1)).toContain("in the texts of 1 of 3 cases (leakage before: none 1, partial 0, full 1)");
    expect(after.cases.map(({ strata }) => strata.leak_unmasked)).toEqual(["full", "none", undefined]);
    expect(after.cases.map(({ targets }) => targets)).toEqual(dataset.cases.map(({ targets }) => targets));
  });

  test("is written and read back as it is", () => {
    const after = maskDataset(dataset);
    const read = readDataset(minedFile(after, ""), "masked.json");
    expect(read.ok && read.value.dataset).toEqual(after);
  });
});
