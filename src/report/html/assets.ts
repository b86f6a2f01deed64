/**
 * The page's script and style sheet, as `scripts/build.mjs` made them. They are files of `dist/`, since a browser's code is compiled for another
 * world than ours; who runs from the sources (tests) gets those of the last build.
 */
import { readFileSync } from "node:fs";
import type { PageAssets } from "./document.js";

let loaded: PageAssets | null = null;

export function pageAssets(): PageAssets {
  if (loaded !== null) return loaded;
  const here = import.meta.url;
  // The command line's modules are bundled, so that this one may stand elsewhere in dist/.
  const dist = here.endsWith(".ts")
    ? new URL("../../../dist/", here)
    : here.slice(0, here.lastIndexOf("/dist/") + "/dist/".length);
  const read = (name: string) => {
    const text = readFileSync(new URL(`report/html/${name}`, dist), "utf8");
    // The text of an element ends at its end tag, whatever the language inside: a build that let one through would make a broken page.
    if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error(`${name} holds an end tag`);
    return text;
  };
  loaded = { script: read("page-script.js"), style: read("page.css") };
  return loaded;
}
