/**
 * The shipped quick start in a project of its own, without any network: `npm` is a program of the test, and what it hands out has the file
 * names of cordova-android@8.0.0 with contents made up here.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Project, project, REPOSITORY } from "./cli.js";
import { type FakeNpm, fakeNpm } from "./fake-npm.js";
import { tarball } from "./tar.js";

export const QUICKSTART = "pipelines/quickstart.yaml";

const PATHS = readFileSync(join(REPOSITORY, "test/data/cordova-android-8.0.0-java.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "");

/** `PluginManager` -> a class about plugins and managers: enough for a search engine to have something to find. */
function madeUpSource(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.java$/, "");
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z][a-z]+/g) ?? [name];
  const folder = path.slice("framework/src/".length, path.lastIndexOf("/"));
  const methods = words.map((word) => `  /** Looks after the ${word.toLowerCase()}. */\n  void handle${word}() {}\n`);
  return `package ${folder.replaceAll("/", ".")};\n\npublic class ${name} {\n${methods.join("\n")}}\n`;
}

export function quickstartArchive(): Buffer {
  return tarball([
    { path: "package/package.json", content: '{"name":"cordova-android","version":"8.0.0"}' },
    { path: "package/README.md", content: "# Made up\n" },
    ...PATHS.map((path) => ({ path: `package/${path}`, content: madeUpSource(path) })),
  ]);
}

export interface Quickstart extends Project {
  readonly npm: FakeNpm;
}

export function quickstartProject(): Quickstart {
  const npm = fakeNpm();
  npm.give(quickstartArchive());
  const made = project({ PATH: npm.env.PATH ?? "" });
  cpSync(join(REPOSITORY, "pipelines"), join(made.folder, "pipelines"), { recursive: true });
  rmSync(join(made.folder, "pipelines/quickstart.lock.json"), { force: true });
  const remove = () => {
    made.remove();
    npm.remove();
  };
  return { ...made, npm, remove };
}
