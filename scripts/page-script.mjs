// Joins the compiled modules of a page into one script. Each module becomes a function that returns its exports, in an order in which imports
// come first; only the forms that the page's modules use are known, and any other is an error.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const IMPORT = /^import \{([^}]*)\} from "\.\/([a-z-]+)\.js";$/gm;
const EXPORT = /^export (?=(?:async )?(?:function|const|class) ([A-Za-z0-9_$]+))/gm;

/** `folder`: the compiled modules; `entry`: name of the one that runs. */
export function pageScript(folder, entry) {
  const order = [];
  const parts = new Map();
  const open = new Set();
  const add = (name) => {
    if (parts.has(name)) return;
    if (open.has(name)) throw new Error(`${name} imports itself by a circle`);
    open.add(name);
    let text = readFileSync(join(folder, `${name}.js`), "utf8");
    text = text.replace(IMPORT, (_, names, from) => {
      add(from);
      return `const {${names.replaceAll(/\bas\b/g, ":").replaceAll(/(\w+) : (\w+)/g, "$1: $2")}} = module_${from.replaceAll("-", "_")};`;
    });
    const exported = [];
    text = text.replace(EXPORT, (_, own) => {
      exported.push(own);
      return "";
    });
    text = text.replace(/^export \{\};$/gm, "");
    const left = /^(?:import|export)\b.*$/m.exec(text);
    if (left !== null) throw new Error(`${name}: a form that can't be joined: ${left[0]}`);
    parts.set(
      name,
      `const module_${name.replaceAll("-", "_")} = (() => {\n${text.trim()}\nreturn { ${exported.join(", ")} };\n})();\n`,
    );
    order.push(name);
  };
  add(entry);
  return `(() => {\n"use strict";\n${order.map((name) => parts.get(name)).join("")}})();\n`;
}
