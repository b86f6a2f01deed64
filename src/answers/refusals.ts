/**
 * Answers without a prediction: did the system say that it found nothing (`abstained`), or did the model decline (`refused`)?
 *
 * "I could not find any file" and a retrieval system's "no data" are abstentions: the question was taken and the answer is
 * empty. "I can't help with that" and "As an AI ..." decline the question. Only asked when nothing was read, so a polite
 * sentence beside a real list never hides the list.
 */

/** Whole answers that say "nothing". */
const NOTHING =
  /^(?:(?:the )?(?:answer|réponse|result|résultat)\s?(?:is|est)?\s?:?\s?)?(?:none|nothing|n\/?a|null|nil|empty|unknown|no|\[\s?\]|\{\s?\}|""|-+|0|rien|aucun|aucune|inconnu|néant|vide)$/i;

const ABSTAIN: readonly RegExp[] = [
  /\bunable to (?:answer|find|identify|locate|determine|pinpoint|tell)\b/i,
  /\bno (?:(?:relevant|such|matching|related|specific|impacted|affected|java|source|suitable|further|sufficient|applicable|code|existing) ){0,3}(?:context|information|data|documents?|files?|class|classes|paths?|results?|matches|match|candidates?|answer|evidence|locations?|code changes?|changes?)\b/i,
  /\b(?:could|can|did|do|does|would|was|were|is|are)(?: ?n['’]t| not|not) (?:\w{1,15} ){0,2}(?:find|found|identify|locate|determine|pinpoint|answer|tell|know|see any|have enough|contain|provide enough|mention|able to (?:find|answer|identify|locate|determine|tell))\b/i,
  /\bnone of (?:the|these|those) (?:\w{1,15} ){0,3}(?:files?|class|classes)\b/i,
  /\bnothing (?:to (?:change|modify|fix|report)|needs?|has to|must|relevant|found|in the (?:data|context))\b/i,
  /\b(?:not|in)(?: enough|sufficient| sufficient) (?:data|information|context|evidence|details)\b/i,
  /\b(?:i (?:don['’]?t|do not) know|no idea|i(?:['’]m| am) not sure|not in the (?:provided |given )?(?:context|data))\b/i,
  /\baucune? (?:fichier|classe|chemin|résultat|information|donnée|réponse|document|contexte|changement|modification)/i,
  /\bn['’]ai (?:rien|pas|trouvé aucun|identifié aucun)/i,
  /\bje ne (?:sais|trouve|parviens|dispose|vois)\b/i,
  /\bimpossible d(?:e |['’])(?:répondre|déterminer|trouver|localiser|identifier)/i,
  /\b(?:pas (?:assez|suffisamment) d|données insuffisantes|informations? insuffisantes?)/i,
  /\brien (?:trouvé|à (?:signaler|modifier|changer))/i,
];

const REFUSE: readonly RegExp[] = [
  /\bi(?:['’]m| am)? (?:can['’]?t|cannot|can not|won['’]?t|will not|am unable to|unable to|am not able to|not able to) (?:\w{1,15} ){0,1}(?:help|assist|comply|fulfil|fulfill|continue|process|access|browse|open|view|complete|do (?:that|this)|provide|engage|support|share|discuss|participate)\b/i,
  /\bas an? (?:ai|artificial|large|language|assistant|llm)\b/i,
  /\b(?:against|violates?|violating) (?:\w{1,15} ){0,3}(?:policy|policies|guidelines|rules|terms)\b/i,
  /\b(?:i (?:must|have to|need to)|i(?:['’]ll| will) (?:have to )?) ?(?:decline|refuse)\b|\bi (?:decline|refuse) to\b/i,
  /\b(?:not (?:comfortable|allowed|permitted|authori[sz]ed)|no permission) (?:with|to)\b/i,
  /\bje (?:ne peux pas|ne suis pas (?:en mesure|autorisée?|capable)|refuse|dois (?:décliner|refuser))/i,
  /\ben tant qu['’](?:ia|intelligence|assistant|modèle)|\ben tant que (?:modèle|assistant)/i,
];

/** Sentences that retrieval systems give instead of a model's answer; some of them sound like refusals. */
const NO_CONTEXT =
  /\[no-context\]|\bunable to answer this question given the provided data\b|\bno relevant (?:context|document chunks) found\b|\bnot able to provide an answer to that question\b/i;

const SORRY = /\b(?:sorry|apologi[sz]e|désolée?|navrée?)\b/i;
/** Both ends are enough: a refusal stands at the start or the end. */
const ENDS = 1500;

/** What an answer without entries is; null = neither an abstention nor a refusal. */
export function classifyEmpty(text: string): { kind: "abstained" | "refused"; why: string } | null {
  const trimmed = text.trim();
  const bare = trimmed.replace(/^[\s*_`"'.!#>-]{1,20}|[\s*_`"'.!]{1,20}$/g, "");
  if (bare.length < 60 && NOTHING.test(bare === "" ? trimmed.slice(0, 60) : bare)) {
    return { kind: "abstained", why: `the answer says that there is none: "${bare || trimmed}"` };
  }
  const looked = trimmed.length <= 2 * ENDS ? trimmed : `${trimmed.slice(0, ENDS)} \n ${trimmed.slice(-ENDS)}`;
  const canned = NO_CONTEXT.exec(looked);
  if (canned !== null) return { kind: "abstained", why: `the retrieval found nothing: "${canned[0]}"` };
  for (const expression of REFUSE) {
    const match = expression.exec(looked);
    if (match !== null) return { kind: "refused", why: `the model declines: "${match[0]}"` };
  }
  for (const expression of ABSTAIN) {
    const match = expression.exec(looked);
    if (match !== null) return { kind: "abstained", why: `the answer says that it found nothing: "${match[0]}"` };
  }
  const sorry = SORRY.exec(looked);
  return sorry === null ? null : { kind: "refused", why: `the model declines: "${sorry[0]}"` };
}

/** One sentence that declines or finds nothing: the files it names are those it did not find. */
export function isRefusalOrAbstention(sentence: string): boolean {
  const text = sentence.slice(0, ENDS);
  return /\b(?:unable to|sorry|could ?n['’]o?t find|could not (?:find|locate)|cannot find|can['’]t (?:find|help|assist)|cannot (?:help|assist)|désolée?)\b/i.test(
    text,
  );
}
