/** What the model double says in each part that GraphRAG and LightRAG give it, so that a tiny graph of Java classes comes of it. */
import type { ChatReply, ChatRequest } from "../rigs/model-double.js";

/** Says `answer` to a question, and does the clerk's work (extracting, summing up, reporting) by itself. */
export function modelRoles(answer: (request: ChatRequest) => ChatReply): (request: ChatRequest) => ChatReply {
  return (request) => clerk(request.text) ?? answer(request);
}

export function isQuestion(request: ChatRequest): boolean {
  return clerk(request.text) === null;
}

function clerk(text: string): string | null {
  if (/MANY entities|missed in the last extraction|Answer (?:Y|YES)/i.test(text)) return "<|COMPLETE|>";
  if (text.includes('("entity"')) return extraction(text, '("entity"<|>', '("relationship"<|>', ")", "##");
  if (text.includes("entity<|#|>")) return extraction(text, "entity<|#|>", "relation<|#|>", "", "\n");
  if (/write a comprehensive report/i.test(text)) return report();
  if (/generat\w+ a comprehensive summary/i.test(text) || /synthesize/i.test(text)) return "A class.";
  if (/high_level_keywords/.test(text))
    return JSON.stringify({ high_level_keywords: ["parsing"], low_level_keywords: ["Parser"] });
  return null;
}

/** Every `class Name` that stands behind the examples is an entity, and each is related to the one before it. */
function extraction(text: string, entity: string, relation: string, end: string, delimiter: string): string {
  const names = [...new Set([...text.matchAll(/public class ([A-Z][A-Za-z]+)/g)].map(([, name = ""]) => name))];
  const field = entity.endsWith("<|#|>") ? "<|#|>" : "<|>";
  const records = names.map((name) => `${entity}${name}${field}ORGANIZATION${field}${name} is a class.${end}`);
  for (const [index, name] of names.entries()) {
    const before = names[index - 1] ?? "Java";
    const strength = field === "<|>" ? `uses it${field}8` : `use${field}${name} uses ${before}`;
    records.push(`${relation}${name}${field}${before}${field}${strength}${end}`);
  }
  if (field === "<|>") records.unshift(`${entity}Java${field}ORGANIZATION${field}The language.${end}`);
  return `${records.join(delimiter)}${delimiter}<|COMPLETE|>`;
}

function report(): string {
  return JSON.stringify({
    title: "Classes",
    summary: "Classes of a small program.",
    rating: 5,
    rating_explanation: "They matter.",
    findings: [{ summary: "A parser", explanation: "It parses [Data: Entities (1)]." }],
  });
}
