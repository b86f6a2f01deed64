// Makes the README's picture from real output: node dist/cli/main.js run pipelines/quickstart.yaml | node scripts/make-picture.mjs
// Reads terminal text on standard input, takes the first table of figures, writes docs/images/quickstart.svg.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [table = ""] = readFileSync(0, "utf8").trimEnd().split("\n\n");
const lines = ["$ bench run pipelines/quickstart.yaml", "", ...table.split("\n")];
const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
const columns = Math.max(...lines.map((line) => line.length));
const [charWidth, lineHeight, margin] = [8.4, 19, 20];
const width = Math.round(columns * charWidth + 2 * margin);
const height = Math.round(lines.length * lineHeight + 2 * margin);
const rows = lines.map((line, index) => {
  const faint = /^\s+[\d.]+-[\d.]+/.test(line) || line.startsWith("  expected");
  const fill = index === 0 ? "#7ee787" : index === 2 ? "#79c0ff" : faint ? "#8b949e" : "#e6edf3";
  return `  <text x="${margin}" y="${margin + (index + 0.75) * lineHeight}" fill="${fill}">${escaped(line)}</text>`;
});
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
  <title>Output of bench run pipelines/quickstart.yaml: figures of each backend with 95 % intervals</title>
  <rect width="100%" height="100%" rx="8" fill="#0d1117"/>
  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">
${rows.join("\n")}
  </g>
</svg>
`;
writeFileSync(join(root, "docs", "images", "quickstart.svg"), svg);
