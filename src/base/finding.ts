/** One thing that `bench doctor` looked at. */
export interface Finding {
  /** One or two words: `installed`, `version`, `index`, `key`, `probe`. */
  readonly check: string;
  /** `problem`: what is asked for would fail. `warning`: it would not, but a person should know. */
  readonly status: "ok" | "warning" | "problem";
  /** What was found, in a sentence; never a key's value. */
  readonly found: string;
  /** How to mend it, where there is something to mend. */
  readonly fix?: string;
}
