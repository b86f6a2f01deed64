/**
 * The role of a file, told by its path alone: source, test, docs, build, generated, vendored.
 *
 * Conventions differ between languages, so the rules are those that many share, tried from the most telling to the least: whose code it
 * is (vendored), who wrote it (generated), then what it is for. What no rule claims is source. Folder names stop counting where a
 * package's own names begin (`src/main/java/org/x/test/Y.java` is source: there `test` is part of the product's name).
 */
import type { FileRole } from "./schema.js";

const VENDORED_FOLDERS = new Set([
  "node_modules",
  "bower_components",
  "jspm_packages",
  "vendor",
  "vendored",
  "third_party",
  "third-party",
  "thirdparty",
  "3rdparty",
  "site-packages",
  "pods",
  "carthage",
]);
const GENERATED_FOLDERS = new Set(["generated", "generated-sources", "generated-src", "__generated__", "dist"]);
const TEST_FOLDERS = new Set([
  "test",
  "tests",
  "testing",
  "__tests__",
  "__mocks__",
  "__snapshots__",
  "__fixtures__",
  "spec",
  "specs",
  "e2e",
  "testdata",
  "fixtures",
  "cypress",
]);
const DOCS_FOLDERS = new Set(["doc", "docs", "documentation", "javadoc", "apidocs", "man"]);
const BUILD_FOLDERS = new Set(["buildsrc", "cmake"]);

const LOCK_FILES = new Set([
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "bun.lock",
  "bun.lockb",
  "cargo.lock",
  "gemfile.lock",
  "poetry.lock",
  "pipfile.lock",
  "uv.lock",
  "composer.lock",
  "go.sum",
  "gradle.lockfile",
]);
const BUILD_FILES = new Set([
  "pom.xml",
  "build.xml",
  "ivy.xml",
  "build.gradle",
  "build.gradle.kts",
  "settings.gradle",
  "settings.gradle.kts",
  "gradle.properties",
  "gradlew",
  "gradlew.bat",
  "gradle-wrapper.jar",
  "gradle-wrapper.properties",
  "mvnw",
  "mvnw.cmd",
  "build.sbt",
  "build.sc",
  "package.json",
  "bower.json",
  "lerna.json",
  "nx.json",
  "turbo.json",
  "deno.json",
  "makefile",
  "gnumakefile",
  "rakefile",
  "gemfile",
  "podfile",
  "pipfile",
  "procfile",
  "vagrantfile",
  "jenkinsfile",
  "dockerfile",
  "docker-compose.yml",
  "docker-compose.yaml",
  "cmakelists.txt",
  "configure",
  "configure.ac",
  "meson.build",
  "build.bazel",
  "workspace",
  "setup.py",
  "setup.cfg",
  "pyproject.toml",
  "tox.ini",
  "noxfile.py",
  "manifest.in",
  "cargo.toml",
  "go.mod",
  "go.work",
  "composer.json",
  "appveyor.yml",
  "azure-pipelines.yml",
  "codecov.yml",
]);
const DOCS_EXTENSIONS = new Set(["md", "markdown", "mdx", "rst", "adoc", "asciidoc", "txt", "tex", "pdf", "org"]);
/** Without an extension, or with one that says nothing of its own. */
const DOCS_NAMES = new Set([
  "readme",
  "license",
  "licence",
  "copying",
  "notice",
  "changelog",
  "changes",
  "history",
  "news",
  "releasenotes",
  "authors",
  "contributors",
  "contributing",
  "maintainers",
  "code_of_conduct",
  "security",
]);
const JVM_EXTENSIONS = new Set(["java", "kt", "kts", "scala", "groovy", "cs", "php", "swift"]);
const SCRIPT_EXTENSIONS = new Set(["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue"]);

/** `path`: relative, `/` separated. */
export function fileRole(path: string): FileRole {
  const segments = path.split("/");
  const name = segments.pop() ?? "";
  const lowerName = name.toLowerCase();
  const folders = ownFolders(segments).map((folder) => folder.toLowerCase());
  if (folders.some((folder) => VENDORED_FOLDERS.has(folder))) return "vendored";
  if (folders.some((folder) => GENERATED_FOLDERS.has(folder)) || isGeneratedName(lowerName)) return "generated";
  // The product's own source set: a class called `TestRunner` there is no test.
  const isMain = segments.some((segment, index) => segment === "main" && segments[index - 1] === "src");
  if (!isMain && (hasTestFolder(segments, folders) || isTestName(name))) return "test";
  if (folders.some((folder) => DOCS_FOLDERS.has(folder)) || isMavenSite(folders)) return "docs";
  if (isBuild(folders, lowerName)) return "build";
  return isDocsName(lowerName) ? "docs" : "source";
}

/** Source roots of the JVM languages end where package names begin: `src/<set>/java` and the like. */
function ownFolders(segments: readonly string[]): string[] {
  const root = segments.findIndex(
    (segment, index) => index >= 2 && segments[index - 2] === "src" && /^(?:java|kotlin|scala|groovy|resources)$/.test(segment),
  );
  return segments.slice(0, root === -1 ? segments.length : root);
}

function isGeneratedName(name: string): boolean {
  if (LOCK_FILES.has(name)) return true;
  return (
    name.endsWith(".pb.go") ||
    name.endsWith("_pb2.py") ||
    name.endsWith("_pb2_grpc.py") ||
    name.endsWith(".g.dart") ||
    name.endsWith(".designer.cs") ||
    name.endsWith(".min.js") ||
    name.endsWith(".min.css") ||
    name.endsWith(".js.map") ||
    name.endsWith(".css.map") ||
    name.includes(".generated.")
  );
}

/** Also `unit-tests`, `cordova_test` and Gradle's source sets (`src/androidTest`, `src/testFixtures`). */
function hasTestFolder(segments: readonly string[], folders: readonly string[]): boolean {
  return folders.some((folder, index) => {
    if (TEST_FOLDERS.has(folder) || /[-_.]tests?$/.test(folder) || /^tests?[-_.]/.test(folder)) return true;
    return index > 0 && folders[index - 1] === "src" && /(?:^test|Tests?)(?:[A-Z]|$)|^it$/.test(segments[index] ?? "");
  });
}

function isTestName(name: string): boolean {
  const dot = name.indexOf(".");
  const stem = dot === -1 ? name : name.slice(0, dot);
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (JVM_EXTENSIONS.has(extension)) {
    return /(?:Tests?|TestCase|TestSuite|IT|ITCase|Spec)$/.test(stem) || /^Test[A-Z0-9]/.test(stem);
  }
  if (SCRIPT_EXTENSIONS.has(extension)) {
    return /[._-](?:test|tests|spec|e2e|cy)\.[a-z]+$/i.test(name);
  }
  switch (extension) {
    case "py":
      return stem.startsWith("test_") || stem.endsWith("_test") || stem === "tests" || stem === "conftest";
    case "go":
    case "rs":
    case "dart":
    case "exs":
    case "c":
    case "cc":
    case "cpp":
      return /_(?:test|tests|unittest)$/.test(stem);
    case "rb":
      return stem.endsWith("_spec") || stem.endsWith("_test") || stem.startsWith("test_");
    case "snap":
      return true;
    default:
      return false;
  }
}

/** Maven keeps a project's web pages in `src/site`. */
function isMavenSite(folders: readonly string[]): boolean {
  return folders.some((folder, index) => folder === "site" && folders[index - 1] === "src");
}

function isBuild(folders: readonly string[], name: string): boolean {
  // `.github`, `.mvn`, `.idea`, `.eslintrc.yml`, `.gitignore`: what starts with a dot configures tools.
  if (folders.some((folder) => folder.startsWith(".")) || (name.startsWith(".") && name !== ".")) return true;
  if (folders.some((folder) => BUILD_FOLDERS.has(folder)) || folders[0] === "gradle" || folders[0] === "ci") return true;
  if (BUILD_FILES.has(name)) return true;
  return (
    /^requirements(?:[-_.][\w.-]{0,40})?\.(?:txt|in)$/.test(name) ||
    /^(?:tsconfig|jsconfig)(?:\.[\w-]{1,40})?\.json$/.test(name) ||
    /^(?:webpack|rollup|vite|vitest|jest|babel|karma|eslint|prettier|postcss|tailwind|playwright)\.config\.\w{1,4}$/.test(name) ||
    /\.(?:gradle|gemspec|csproj|vbproj|fsproj|sln|podspec|cmake|mk|nuspec)$/.test(name) ||
    name.startsWith("dockerfile.")
  );
}

function isDocsName(name: string): boolean {
  const dot = name.lastIndexOf(".");
  if (dot > 0 && DOCS_EXTENSIONS.has(name.slice(dot + 1))) return true;
  return DOCS_NAMES.has(dot > 0 && /^(?:html?|txt)$/.test(name.slice(dot + 1)) ? name.slice(0, dot) : name);
}
