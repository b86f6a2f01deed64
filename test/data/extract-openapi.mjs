/**
 * Takes the operations that mining asks for out of GitHub's published REST description, with the schemas of their answers:
 *
 *     node test/data/extract-openapi.mjs PACKAGE_FOLDER
 *
 * PACKAGE_FOLDER is the unpacked npm package @octokit/openapi, which at hundreds of megabytes is no dependency. The result,
 * `github-openapi.json` beside this file, is what the local server holds requests and answers against. Words for people and what is not
 * asked for are left out of it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OPERATIONS = [
  "/repos/{owner}/{repo}/issues",
  "/repos/{owner}/{repo}/issues/{issue_number}",
  "/repos/{owner}/{repo}/issues/{issue_number}/timeline",
  "/repos/{owner}/{repo}/pulls/{pull_number}",
  "/repos/{owner}/{repo}/pulls/{pull_number}/files",
  "/repos/{owner}/{repo}/pulls/{pull_number}/commits",
  "/repos/{owner}/{repo}/commits/{ref}",
  "/repos/{owner}/{repo}/commits/{commit_sha}/pulls",
];
const WORDS = new Set(["description", "title", "example", "examples", "x-github", "externalDocs", "tags", "summary", "deprecated"]);

const folder = process.argv[2];
if (folder === undefined) throw new Error("give the folder of the unpacked package @octokit/openapi");
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const description = JSON.parse(readFileSync(join(folder, "generated/api.github.com.json"), "utf8"));

/** Words go, but not members that happen to be called so: what stands below `properties` are names. */
function pruned(value, areNames = false) {
  if (Array.isArray(value)) return value.map((element) => pruned(element));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => areNames || !WORDS.has(name))
      .map(([name, member]) => [name, pruned(member, name === "properties" && !areNames)]),
  );
}

function resolved(value) {
  if (value.$ref === undefined) return value;
  return value.$ref
    .slice(2)
    .split("/")
    .reduce((from, name) => from[name], description);
}

const schemas = {};
function collect(value) {
  if (typeof value !== "object" || value === null) return;
  if (typeof value.$ref === "string") {
    const name = /^#\/components\/schemas\/(.+)$/.exec(value.$ref)?.[1];
    if (name !== undefined && schemas[name] === undefined) {
      schemas[name] = pruned(description.components.schemas[name]);
      collect(schemas[name]);
    }
  }
  for (const member of Object.values(value)) collect(member);
}

const operations = OPERATIONS.map((path) => {
  const { parameters, responses } = description.paths[path].get;
  const response = pruned(resolved(responses["200"]).content["application/json"].schema);
  collect(response);
  return {
    path,
    parameters: parameters.map(resolved).map(({ name, in: where, required, schema }) => ({
      name,
      in: where,
      required: required === true,
      schema: pruned(schema),
    })),
    response,
  };
});
for (const { parameters } of operations) collect(parameters);
const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
const file = { package: "@octokit/openapi", version, operations, components: { schemas: sorted } };
writeFileSync(join(import.meta.dirname, "github-openapi.json"), `${JSON.stringify(file)}\n`);
