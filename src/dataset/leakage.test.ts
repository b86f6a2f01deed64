import { describe, expect, test } from "vitest";
import { knownLeakage, leakageOf } from "./leakage.js";
import { TargetNames } from "./names.js";

const SOURCE = "src/main/java/org/shop/ShoppingCart.java";

function leak(body: string, paths: readonly string[] = [SOURCE], title = "It fails") {
  return leakageOf({ title, body, targets: paths.map((path) => ({ path, renamed_to: null })) });
}

describe("how a target is named", () => {
  test.each([
    ["the full path", `Look at ${SOURCE} please`, ["path"]],
    ["after a root", `/home/me/work/${SOURCE}`, ["path"]],
    ["with the other separators", "C:\\work\\src\\main\\java\\org\\shop\\ShoppingCart.java", ["path"]],
    ["as in a JSON string", "src\\\\main\\\\java\\\\org\\\\shop\\\\ShoppingCart.java", ["path"]],
    ["encoded", "src%2Fmain%2Fjava%2Forg%2Fshop%2FShoppingCart.java", ["path"]],
    ["in other letter case", "SRC/main/java/org/shop/shoppingcart.JAVA", ["path"]],
    ["the file name", "ShoppingCart.java has it", ["file"]],
    ["a part of the path", "org/shop/ShoppingCart.java has it", ["file"]],
    ["a link", `https://example.org/a/b/blob/abc/${SOURCE}#L12`, ["path", "link"]],
    ["a diff", `diff --git a/${SOURCE} b/${SOURCE}`, ["path", "diff"]],
    ["a line of a diff", `text\n+++ b/${SOURCE}\n`, ["path", "diff"]],
    ["a stack frame", "\n\tat org.shop.ShoppingCart.add(ShoppingCart.java:12)", ["frame", "file", "class"]],
    ["a compiler's line", "ShoppingCart.java:12: error", ["frame", "file"]],
    ["a member", "calling ShoppingCart.add twice", ["symbol", "class"]],
    ["a member as documentation writes it", "see ShoppingCart#add", ["symbol", "class"]],
    ["the class", "the ShoppingCart is wrong", ["class"]],
    ["the qualified class", "org.shop.ShoppingCart is wrong", ["class"]],
    ["an inner class", "a ShoppingCart$Item is wrong", ["symbol", "class"]],
  ])("%s", (_, text, kinds) => {
    expect(leak(text)?.kinds).toEqual(kinds);
  });

  test("a Python frame", () => {
    expect(leak('File "/x/shop/cart.py", line 3, in add', ["shop/cart.py"])?.kinds).toEqual(["path", "frame"]);
  });

  test("the new name of a renamed file gives it away as well", () => {
    const targets = [{ path: "src/OldName.java", renamed_to: "src/NewName.java" }];
    expect(leakageOf({ title: "NewName fails", body: null, targets })).toMatchObject({
      class: "full",
      named: ["src/OldName.java"],
    });
  });

  test.each([
    ["part of another name", "the ShoppingCartTest is wrong", SOURCE],
    ["another letter case of the class", "the shoppingcart is wrong", SOURCE],
    ["another extension", "see XShoppingCart.javax", SOURCE],
    ["a plain word in lower case", "it utils nothing, main is index", "src/utils.py"],
    ["a plain word at the beginning of a sentence", "It fails. Config is what I changed.", "src/Config.java"],
    ["a program's name that is a word", "please configure it", "configure"],
    ["nothing", "", SOURCE],
  ])("%s names nothing", (_, text, path) => {
    expect(leak(text, [path])).toMatchObject({ class: "none", kinds: [], named: [] });
  });

  test.each([
    ["within a sentence", "the class Config is wrong", "src/Config.java"],
    ["marked as code", "`utils` is wrong", "src/utils.py"],
    ["called", "I call utils() twice", "src/utils.py"],
    ["behind its folder", "the module shop.utils is wrong", "src/shop/utils.py"],
    ["a name without extension, behind its folder", "run tools/configure", "tools/configure"],
    ["a dot file", "put it into .gitignore", ".gitignore"],
    ["with an underscore", "xml_parser is wrong", "src/xml_parser.py"],
  ])("%s it does", (_, text, path) => {
    expect(leak(text, [path])?.class).toBe("full");
  });
});

describe("classes", () => {
  const two = [SOURCE, "src/main/java/org/shop/TaxTable.java"];

  test("none, partial, full; title and body are one text", () => {
    expect(leak("it fails", two)).toMatchObject({ class: "none", targets: 2 });
    expect(leak("the TaxTable fails", two)).toMatchObject({ class: "partial", named: [two[1]] });
    expect(leak("the TaxTable fails", two, "Wrong ShoppingCart")).toMatchObject({ class: "full", named: two });
  });

  test("a name that several targets share names them all, unless its folder says which", () => {
    const twins = ["a/Part1.java", "b/Part1.java"];
    expect(leak("in Part1.java", twins)?.class).toBe("full");
    expect(leak("in b/Part1.java", twins)).toMatchObject({ class: "partial", named: ["b/Part1.java"] });
  });

  test("classes and functions that the fix changed give a file away whose own name does not tell them", () => {
    const place = (name: string) => ({ name, ranges: null });
    const targets = [
      {
        path: "shop/core.py",
        renamed_to: null,
        classes: [place("Basket")],
        functions: [place("Basket.add_item"), place("run"), place("Basket.__init__")],
      },
    ];
    const found = (body: string) => leakageOf({ title: "It fails", body, targets })?.class;
    expect(found("the Basket of Basket.pay is empty")).toBe("full");
    expect(found("calling add_item twice")).toBe("full");
    expect(found("we run it, __init__ and core are words")).toBe("none");
  });

  test("a case without targets has no class; a source without texts has titles", () => {
    expect(leak("ShoppingCart", [])).toBeNull();
    expect(leakageOf({ title: "ShoppingCart fails", body: null, targets: [{ path: SOURCE, renamed_to: null }] })?.class).toBe(
      "full",
    );
  });

  test("the same case is read once", () => {
    const one = { title: "x", body: "y", targets: [{ path: SOURCE, renamed_to: null }] };
    expect(knownLeakage(one, one)).toBe(knownLeakage(one, { ...one, body: "ShoppingCart" }));
  });
});

describe("hostile texts", () => {
  test("names like those of objects, of nothing, of dots", () => {
    for (const path of ["__proto__", "constructor.js", "...", "a/", " ", "toString"]) {
      expect(() => leak("__proto__ constructor.js toString ... hasOwnProperty", [path])).not.toThrow();
    }
  });

  test.each([
    ["one long line of names", "ShoppingCart.java ".repeat(60_000)],
    ["one long word", "aA".repeat(500_000)],
    ["capitals", "A".repeat(1_000_000)],
    ["separators", "/".repeat(1_000_000)],
    ["dots between names", "org.shop.ShoppingCart.".repeat(40_000)],
    ["a long path", "src/main/java/org/shop/".repeat(40_000)],
  ])("%s takes the time of its length", (_, text) => {
    const targets = Array.from({ length: 2000 }, (_unused, at) => `src/main/java/org/shop/Shopping${at}Cart.java`);
    expect(leak(text, [...targets, SOURCE])).not.toBeNull();
  });

  test("places do not overlap and come in order", () => {
    const names = new TargetNames([SOURCE, "src/TaxTable.java", "ShoppingCart.java"]);
    const found = names.namings("ShoppingCartTaxTable src/TaxTable.java ShoppingCart.java/ShoppingCart TaxTables", {
      parts: true,
    });
    expect(found.length).toBeGreaterThan(4);
    found.slice(1).forEach((naming, index) => {
      expect(naming.start).toBeGreaterThanOrEqual(found[index]?.end ?? 0);
    });
  });
});
