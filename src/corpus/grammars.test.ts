import { describe, expect, test } from "vitest";
import { definitionsOf } from "./grammars.js";

async function found(path: string, text: string): Promise<string[] | null> {
  const definitions = await definitionsOf(path, text);
  return definitions?.map(({ kind, name, lines }) => `${kind} ${name} ${lines[0]}-${lines[1]}`) ?? null;
}

describe("each language's classes and functions, with qualified names", () => {
  test("Java: nested types, constructors, overloads; an anonymous class belongs to the method that makes it", async () => {
    const text = `package a;
class A<T> {
  A() { }
  @Override
  int f(int x) {
    new Runnable() {
      public void run() { }
    };
    return 1;
  }
  int f(String s) { return 2; }
  static class I { void g() { } }
}
enum E { X { void z() { } }; void m() { } }
record R(int a) { R { } }
interface J { void k(); }
`;
    expect(await found("src/A.java", text)).toEqual([
      "class A 2-13",
      "function A.A 3-3",
      "function A.f 4-10",
      "function A.f 11-11",
      "class A.I 12-12",
      "function A.I.g 12-12",
      "class E 14-14",
      "function E.z 14-14",
      "function E.m 14-14",
      "class R 15-15",
      "function R.R 15-15",
      "class J 16-16",
      "function J.k 16-16",
    ]);
  });

  test("Python: decorators belong to what they decorate, nested functions to the one around them", async () => {
    const text = `import x

@dec
class A:
    @property
    def f(self):
        def inner():
            pass
        return 1

    async def g(self): pass


def top():
    pass
`;
    expect(await found("a.py", text)).toEqual([
      "class A 3-11",
      "function A.f 5-9",
      "function A.f.inner 7-8",
      "function A.g 11-11",
      "function top 14-15",
    ]);
  });

  test("JavaScript: functions that are given to names, members, prototypes; callbacks have no name", async () => {
    const text = `class A { constructor() {} #p() {} f = () => {}; [k]() {} }
function f() { function g() {} }
const h = async () => {};
const o = { m() {}, n: function () {}, 'q': () => {}, x: 1 };
A.prototype.w = function () {};
module.exports.z = () => {};
list.map((x) => x);
export default function () {}
const K = class { run() {} };
`;
    expect(await found("a.mjs", text)).toEqual([
      "class A 1-1",
      "function A.constructor 1-1",
      "function A.#p 1-1",
      "function A.f 1-1",
      "function f 2-2",
      "function f.g 2-2",
      "function h 3-3",
      "function m 4-4",
      "function n 4-4",
      "function q 4-4",
      "function A.w 5-5",
      "function z 6-6",
      "class K 9-9",
      "function K.run 9-9",
    ]);
  });

  test("TypeScript and TSX: interfaces, enums, namespaces, abstract members, components", async () => {
    const text = `abstract class A { private f(): void {} abstract g(): void }
interface I { m(): void }
enum E { X }
namespace N { export function q() {} }
`;
    expect(await found("a.ts", text)).toEqual([
      "class A 1-1",
      "function A.f 1-1",
      "function A.g 1-1",
      "class I 2-2",
      "function I.m 2-2",
      "class E 3-3",
      "function N.q 4-4",
    ]);
    expect(await found("a.tsx", "export const C: React.FC = () => <div />;\nfunction D() { return <a /> }\n")).toEqual([
      "function C 1-1",
      "function D 2-2",
    ]);
  });

  test("Kotlin: objects, companions (whose members are the class's), extensions", async () => {
    const text = `package a
class A(val x: Int) {
  fun f(a: Int): Int = a
  companion object { fun make() = A(1) }
  inner class I { fun h() {} }
}
enum class E { X; fun m() {} }
object O { fun n() {} }
fun String.ext() {}
`;
    expect(await found("A.kt", text)).toEqual([
      "class A 2-6",
      "function A.f 3-3",
      "function A.make 4-4",
      "class A.I 5-5",
      "function A.I.h 5-5",
      "class E 7-7",
      "function E.m 7-7",
      "class O 8-8",
      "function O.n 8-8",
      "function ext 9-9",
    ]);
  });
});

test("a file that no grammar reads has none; an empty one has no definitions", async () => {
  expect(await found("a.rs", "fn main() {}")).toBeNull();
  expect(await found(".java", "class A {}")).toBeNull();
  expect(await found("A.java", "")).toEqual([]);
});

test("syntax errors, deep nesting and strange bytes are read as far as they go", async () => {
  expect(await found("A.java", "class A { void f() { if ( } \n void g() { } }")).toContain("class A 1-2");
  const deep = `class A { int f() { return ${"(".repeat(20_000)}1${")".repeat(20_000)}; } }`;
  expect(await found("A.java", deep)).toEqual(["class A 1-1", "function A.f 1-1"]);
  expect(await found("a.py", "\u0000\u0001\ud800 def f(:\n\tclass")).not.toBeNull();
  expect(await found("a.js", "x".repeat(4_000_001))).toBeNull();
});
