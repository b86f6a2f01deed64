/** `bench explain-measure NAME`: definition, edge cases, citation. Without a name, all measures. */
import { measureFamilies, parseMeasure } from "../measures/registry.js";
import { type Command, EXIT, UsageError } from "./contract.js";
import { flag } from "./options.js";

export const command: Command = {
  usage: "explain-measure [...names]",
  summary: "Say what a measure is: definition, edge cases, citation",
  options: [{ flag: "--json", description: "One JSON value on stdout" }],
  examples: ["bench explain-measure nDCG@10", 'bench explain-measure "P(level=function)@5"', "bench explain-measure"],
  run: async (names, options, io) => {
    const parsed = names.map((name) => parseMeasure(name));
    const mistakes = parsed.flatMap((one) =>
      one.ok ? [] : [[one.error.message, one.error.suggestion].filter(Boolean).join("; ")],
    );
    if (mistakes.length > 0) throw new UsageError(mistakes.join("\n"));
    if (names.length === 0 && !flag(options, "json")) {
      const width = Math.max(...measureFamilies.map(({ usage }) => usage.length));
      const lines = measureFamilies.map(({ usage, example }) => `${usage.padEnd(width)}  ${example.definition}`);
      io.stdout(
        `${lines.join("\n")}\n\nMost take a level: P(level=function)@5, R(level=lines)@10. nDCG takes gain=exp, pass@k takes by=MEASURE.\n`,
      );
      return EXIT.done;
    }
    const measures =
      names.length === 0 ? measureFamilies.map(({ example }) => example) : parsed.flatMap((one) => (one.ok ? [one.value] : []));
    const facts = measures.map(({ name, definition, edgeCases, citation, level, pooled, binary }) => ({
      name,
      definition,
      edge_cases: edgeCases,
      citation,
      level: level ?? "file",
      aggregation: pooled === undefined ? "mean over cases" : "counts pooled over cases",
      binary,
    }));
    if (flag(options, "json")) io.stdout(`${JSON.stringify(names.length === 1 ? facts[0] : facts, null, 2)}\n`);
    else {
      io.stdout(
        facts
          .map(
            (fact) =>
              `${fact.name}\n  Definition: ${fact.definition}\n  Edge cases: ${fact.edge_cases}\n  Aggregation: ${fact.aggregation}\n  Citation: ${fact.citation}\n`,
          )
          .join("\n"),
      );
    }
    return EXIT.done;
  },
};
