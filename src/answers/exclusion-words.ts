/**
 * The words by which an answer excludes files, English and French. Data of `exclusion.ts`; all are matched against `Word.lower`.
 */

export const REASON =
  /^(?:because|since|as|called|used|uses|calls|using|imported|imports|invoked|invokes|invoking|calling|depends|delegates|similar|unlike|like|cf|e\.g|see|via|which|whose|extends|inherits|throws|thrown|parce|car|puisque|appelé|appelée|appelle|utilise|utilisé|comme|voir|dont)$/;

/** Opens a clause that grants something before the point is made. */
export const CONCESSION = /^(?:although|though|while|whereas|malgré|quoique|même)$/;

/** What was thought at first. */
export const SUSPICION = /^(?:suspected|suspect|initially|seemed|seems|soupçonné|initialement)$/;

export const CLAUSE_WORD = /^(?:but|however|whereas|while|although|though|yet|mais|cependant|tandis|alors|bien)$/;

export const CONJUNCTION = /^(?:and|or|nor|&|\+|et|ou|ni|as well as)$/;

export const ARTICLE =
  /^(?:the|a|an|any|file|files|class|classes|le|la|les|l|fichier|fichiers|classe|both|either|in|to|of|dans|à|de|du|des)$/;

export const NEGATION =
  /^(?:not|never|no|none|nothing|cannot|nor|neither|without|pas|aucun|aucune|rien|jamais|sans|non|avoid|avoiding|éviter|\p{L}{2,9}n't)$/u;

/** Words that may stand between a negation and what it negates. */
export const FILLER =
  /^(?:be|been|being|to|have|has|had|any|a|an|the|really|directly|actually|itself|themselves|also|further|code|source|get|necessarily|appear|appears|seem|seems|in|into|within|inside|there|is|are|was|were|it|that|this|we|you|i|think|believe|expect|likely|most|more|should|would|will|file|files|class|classes|of|part|d'être|être|à|de|du|des|directement|le|la|les|un|une|dans|par|besoin|d'une|d'un|que|qu'il|il|faille|faut|by|from|at|on|with|other)$/;

/** Said of the entry before: `B is not affected`, `B needs no change`. */
export const CHANGE_STATE =
  /^(?:affected|impacted|involved|concerned|relevant|related|required|necessary|needed|needs?|responsible|changed|changes?|modified|modifications?|touched|updated|updates?|edited|edits?|altered|adjusted|fixed|fixes|rewritten|warranted|requires?|implicated|likely|culprit|cause|concerné(?:e|s|es)?|affecté(?:e|s|es)?|impacté(?:e|s|es)?|touché(?:e|s|es)?|modifié(?:e|s|es)?|changé(?:e|s|es)?|nécessaires?|lié(?:e|s|es)?|pertinent(?:e|s|es)?|requis(?:e|es)?|besoin|changements?|modifications?|responsables?|cause|faulty|buggy|wrong|involve)$/;

/** Said of the entry behind: `do not modify B`. */
export const CHANGE_VERB =
  /^(?:change|changing|modify|modifying|touch|touching|edit|editing|update|updating|alter|altering|adjust|adjusting|rewrite|fix|include|including|consider|considering|select|selecting|pick|predict|find|found|locate|identify|see|need|needs|require|requires|recommend|suggest|look|blame|modifier|changer|toucher|corriger|éditer|inclure|trouver|trouvé|considérer|retenir|mettre)$/;

/** Exclude by themselves; said of the entries before them in the clause, else of those behind. */
export const EXCLUDING_WORD =
  /^(?:unlikely|unrelated|irrelevant|unaffected|unchanged|untouched|unnecessary|unneeded|unmodified|uninvolved|unimpacted|inchangé(?:e|s|es)?|inutiles?|improbables?)$/;

/** Exclude what stands behind them. */
export const EXCLUDING_VERB =
  /^(?:ignore|ignoring|ignored|skip|skipping|skipped|exclude|excluded|discard|discarded|discarding|dismissed|rejected|ignorer|exclure|exclu|exclue|exclus|écarté|écartée|écartés)$/;

export const LEAD =
  /^(?:is|are|was|were|it|this|file|class|these|those|they|which|probably|likely|most|itself|itself|does|do|should|need|needs|will|would|has|have|had|but|however|considered|checked|reviewed|c'est|ce|cette|fichier|classe|est|sont|n'est|ne|n'a|il|elle|[-–—:])$/;

/** Multi-word markers that exclude the run of entries behind them. */
export const RUN_MARKERS: readonly (readonly string[])[] = phrases(
  "rather than|instead of|other than|apart from|aside from|as opposed to|in contrast to|with the exception of|except|" +
    "excluding|sauf|hormis|excepté|exceptés|plutôt que|au lieu de|à l'exception de|mis à part|et non|non pas",
);

/** Multi-word markers like the excluding words. */
export const STATE_MARKERS: readonly (readonly string[])[] = phrases(
  "out of scope|ruled out|rule out|as is|red herring|false positive|false positives|leave alone|hors de cause|" +
    "hors sujet|is fine|are fine|looks fine|is correct|looks correct|works correctly|works fine|works as expected|" +
    "already correct|est correct|est correcte|fonctionne correctement|tel quel|telle quelle",
);

function phrases(list: string): readonly (readonly string[])[] {
  return list.split("|").map((phrase) => phrase.split(" "));
}
