import fc from "fast-check";
import { expect, test } from "vitest";
import { processorSeconds } from "../../test/rigs/processor-time.js";
import { fileRole } from "./roles.js";
import { FILE_ROLES, type FileRole } from "./schema.js";

const EXPECTED: Record<FileRole, string[]> = {
  source: [
    "src/main/java/org/json/JSONObject.java",
    "src/main/java/org/springframework/test/context/TestContext.java",
    "src/main/java/junit/framework/TestCase.java",
    "src/main/java/com/x/generated/Handwritten.java",
    "src/main/kotlin/a/docs/Docs.kt",
    "framework/src/org/apache/cordova/CordovaActivity.java",
    "lib/Latest.java",
    "src/Contest.java",
    "src/protest.py",
    "astropy/modeling/separable.py",
    "lib/index.js",
    "src/attest.ts",
    "cmd/main.go",
    "JSONObject.java",
    "a.css",
    "bin/templates/cordova/lib/run",
    "__proto__",
    "",
  ],
  test: [
    "src/test/java/org/json/junit/JSONObjectTest.java",
    "src/test/resources/data.json",
    "src/androidTest/java/A.java",
    "src/testFixtures/java/A.java",
    "src/integrationTest/groovy/A.groovy",
    "src/it/simple/pom.xml",
    "src/FooTest.java",
    "src/FooTests.java",
    "src/FooIT.java",
    "src/TestFoo.java",
    "x/FooSpec.scala",
    "spec/unit/run.spec.js",
    "src/a.test.ts",
    "src/a.spec.tsx",
    "src/__tests__/a.js",
    "lib/a-test.js",
    "pkg/a_test.go",
    "tests/test_a.py",
    "a/test_b.py",
    "a/b_test.py",
    "a/conftest.py",
    "cordova-tests/x.js",
    "test_helpers/x.py",
    "spec/a_spec.rb",
    "x/a_unittest.cc",
    "ATests.swift",
  ],
  docs: [
    "README.md",
    "README",
    "LICENSE",
    "LICENSE.txt",
    "CHANGELOG.rst",
    "docs/conf.py",
    "Docs/index.html",
    "src/site/es/xdoc/index.xml",
    "Examples.md",
    "javadoc/x.css",
    "RELEASENOTES.md",
    "notes.txt",
  ],
  build: [
    "pom.xml",
    "build.gradle",
    "sub/build.gradle.kts",
    "gradle/wrapper/gradle-wrapper.properties",
    "package.json",
    "tsconfig.build.json",
    ".github/workflows/ci.yml",
    ".eslintrc.yml",
    ".gitignore",
    "Makefile",
    "CMakeLists.txt",
    "requirements-dev.txt",
    "setup.py",
    "vite.config.ts",
    "Dockerfile",
    "x/y.csproj",
    "go.mod",
  ],
  generated: [
    "package-lock.json",
    "go.sum",
    "api/x.pb.go",
    "x_pb2.py",
    "dist/index.js",
    "build/generated/x.java",
    "lib/a.min.js",
    "a.generated.ts",
  ],
  vendored: [
    "node_modules/x/index.js",
    "vendor/github.com/x/y.go",
    "third_party/zlib/inflate.c",
    "vendor/x/x_test.go",
    "a/node_modules/x/README.md",
  ],
};

test.each(Object.entries(EXPECTED).flatMap(([role, paths]) => paths.map((path) => [path, role])))("%j is %s", (path, role) => {
  expect(fileRole(path)).toBe(role);
});

test("every path has a role, in time that grows with its length", () => {
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (path) => FILE_ROLES.includes(fileRole(path))));
  // Milliseconds if linear; the square of a million characters would take minutes.
  for (const piece of ["a/", "requirements-", "test", "src/", "-", "."]) {
    expect(processorSeconds(() => fileRole(piece.repeat(200_000)))).toBeLessThan(10);
  }
});

test("a test folder above a package makes the whole subtree test, and being in src/main none of it", () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), name, (packages, file) => {
      const rest = [...packages, `${file}.java`].join("/");
      expect(fileRole(`src/main/java/${rest}`)).toBe("source");
      expect(fileRole(`src/test/java/${rest}`)).toBe("test");
    }),
  );
});
