/** `bench import FILE...`: takes bundles in, so that runs of other machines can be scored again here. */

import { plural } from "../report/numbers.js";
import { type Command, EXIT, UsageError } from "./contract.js";
import { type Imported, importBundle } from "./import-bundle.js";
import { flag } from "./options.js";
import { cacheFolder, findProjectRoot, openCache, outFolder } from "./project.js";

export const command: Command = {
  usage: "import <...files>",
  summary: "Take in bundles of runs (bench export bundle), every byte checked, to score them again here",
  options: [
    { flag: "--out <folder>", description: "Where runs are (default evaluation_results)" },
    { flag: "--cache <folder>", description: "The cache (default cache)" },
    { flag: "--json", description: "One JSON value on stdout" },
  ],
  examples: ["bench import paper.bundle.tgz", "bench rescore latest --rules lenient"],
  run: async (files, options, io) => {
    if (files.length === 0) throw new UsageError("which bundle? bench import FILE");
    const root = findProjectRoot(io.cwd);
    const out = outFolder(options, root, io.cwd);
    const cache = await openCache(cacheFolder(options, root, io.cwd), io);
    const imported: Imported[] = [];
    const problems: string[] = [];
    try {
      for (const file of files) {
        const result = await importBundle(file, out, cache, io);
        if (result.ok) imported.push(result.value);
        else problems.push(result.error);
      }
    } finally {
      await cache.close();
    }
    for (const problem of problems) io.stderr(`bench import: ${problem}; nothing of it was taken in\n`);
    if (flag(options, "json")) io.stdout(`${JSON.stringify({ imported, problems }, null, 2)}\n`);
    else {
      for (const { run_id, folder, objects } of imported) {
        io.stdout(`${run_id}: ${plural(objects, "object")}, all intact; reports in ${folder}\n`);
        io.stderr(`score it again: bench rescore ${run_id} --rules lenient\n`);
      }
    }
    return problems.length === 0 ? EXIT.done : EXIT.failed;
  },
};
