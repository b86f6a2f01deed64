/**
 * The GraphQL endpoint of the local server: validates each query against GitHub's published schema and executes it by graphql-js over the same
 * recording that REST serves, so that a field that GitHub does not have, an argument of a wrong type or an answer that its schema does
 * not allow fails a test.
 */
import { schema as published } from "@octokit/graphql-schema";
import {
  buildSchema,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import type { Recording } from "../../src/github/recording.js";
import { recordingGraph } from "../../src/github/recording-graph.js";

let schema: GraphQLSchema | undefined;

/** GitHub's own. It defines a few fields twice, which nothing here asks for; hence it is taken as valid. */
export function githubSchema(): GraphQLSchema {
  schema ??= buildSchema(published.idl, { assumeValidSDL: true, assumeValid: true });
  return schema;
}

/** Most nodes that one query may ask for, and most points that GitHub's formula gives it. */
const MOST_NODES = 500_000;

export interface GraphQLAnswer {
  readonly data?: unknown;
  readonly errors?: readonly object[];
}

/** `body`: of the POST. Throws where the query is none that GitHub's schema allows. */
export function graphqlEndpoint(recording: Recording): (body: string) => GraphQLAnswer {
  const root = recordingGraph(recording);
  return (body) => {
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
    const document = parse(query);
    const mistakes = validate(githubSchema(), document, specifiedRules);
    if (mistakes.length > 0) throw new Error(`not a query of GitHub's schema: ${mistakes.map(String).join("\n")}`);
    const result = execute({
      schema: githubSchema(),
      document,
      rootValue: root,
      variableValues: variables,
    }) as ExecutionResult;
    const { data, errors } = result;
    for (const error of errors ?? []) {
      // Only what the graph says on purpose; anything else is an answer that GitHub could not give.
      if (error.originalError === undefined || error.originalError?.constructor.name !== "GraphNotFound") throw error;
    }
    if (nodesAsked(query, variables) > MOST_NODES) throw new GraphQLError("more nodes than GitHub allows");
    return { data, ...(errors === undefined ? {} : { errors: errors.map(asGitHubTells) }) };
  };
}

/** GitHub puts the type beside the message, not into the extensions. */
function asGitHubTells(error: GraphQLError): object {
  const { message, path, extensions }: GraphQLFormattedError = error.toJSON();
  return { type: extensions?.type, path, message };
}

/** An upper bound by the sizes that the query names: each `first` multiplies what stands around it; ours nest at most twice. */
function nodesAsked(query: string, variables: Record<string, unknown>): number {
  const sizes = [...query.matchAll(/first: (\d+|\$[a-z]+)/g)].map(([, size = ""]) =>
    size.startsWith("$") ? Number(variables[size.slice(1)]) : Number(size),
  );
  return sizes.reduce((sum, size) => sum + size, 0) * 100;
}
