/**
 * Tokens, keys and passwords by their shape, in text that is about to be given away. Shapes are those that the issuers publish; a few
 * general ones (a private key block, credentials in an address, a bearer header) catch what has none. Finding too much costs a look,
 * finding too little costs a secret.
 */
import { digestBytes } from "./json.js";

export interface FoundToken {
  /** What it looks like: `GitHub token`. */
  readonly shape: string;
  /** Its first characters, enough to find it and too few to use it. */
  readonly shown: string;
  /** Names it without giving it away: the beginning of its SHA-256. */
  readonly fingerprint: string;
}

/** Each is linear: one run of a character class, of bounded length where something must follow. */
const SHAPES: readonly (readonly [string, RegExp])[] = [
  ["GitHub token", /\bgh[pousr]_[A-Za-z0-9]{36,255}/g],
  ["GitHub fine-grained token", /\bgithub_pat_[A-Za-z0-9_]{22,255}/g],
  ["GitLab token", /\bgl(?:pat|dt|rt|soat|ptt|ft|imt|agent|cbt)-[A-Za-z0-9_-]{20,255}/g],
  ["Anthropic key", /\bsk-ant-[A-Za-z0-9_-]{20,255}/g],
  ["OpenAI key", /\bsk-(?!ant-)(?:(?:proj|svcacct|admin|or-v1)-)?[A-Za-z0-9_-]{20,255}/g],
  ["AWS access key", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ["Google API key", /\bAIza[A-Za-z0-9_-]{35}/g],
  ["Google OAuth token", /\bya29\.[A-Za-z0-9_-]{20,500}/g],
  ["Slack token", /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g],
  ["Hugging Face token", /\bhf_[A-Za-z0-9]{30,64}/g],
  ["npm token", /\bnpm_[A-Za-z0-9]{36}/g],
  ["PyPI token", /\bpypi-[A-Za-z0-9_-]{50,500}/g],
  ["Stripe key", /\b[rs]k_live_[A-Za-z0-9]{20,255}/g],
  ["Groq key", /\bgsk_[A-Za-z0-9]{40,64}/g],
  ["xAI key", /\bxai-[A-Za-z0-9]{40,100}/g],
  ["Telegram bot token", /\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b/g],
  ["private key", /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g],
  ["JSON Web Token", /\beyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}/g],
  ["bearer token", /\b[Bb]earer [A-Za-z0-9._~+/-]{20,500}=*/g],
  ["password in an address", /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'<>\\]{1,100}:[^\s:@/"'<>\\]{3,200}@/gi],
];

const FINGERPRINT = 12;
const SHOWN = 8;

/** Every distinct token in the text. `secrets`: values that are known to be secret (of the environment), by name. */
export function findTokens(text: string, secrets: ReadonlyMap<string, string> = new Map()): FoundToken[] {
  const found = new Map<string, FoundToken>();
  const add = (shape: string, token: string, shown: string): void => {
    const fingerprint = digestBytes(token).slice(0, FINGERPRINT);
    if (!found.has(fingerprint)) found.set(fingerprint, { shape, shown, fingerprint });
  };
  for (const [shape, pattern] of SHAPES) {
    for (const [token] of text.matchAll(pattern)) {
      // Letters, digits or marks repeated to fill a place are how documentation writes "your key here".
      if (!isFiller(token)) add(shape, token, `${token.slice(0, SHOWN)}…`);
    }
  }
  for (const [name, value] of secrets) if (text.includes(value)) add(`value of the variable ${name}`, value, "…");
  return [...found.values()];
}

/** `ghp_xxxxxxxx...`, `sk-00000...`: at most three different characters after the prefix. */
function isFiller(token: string): boolean {
  return new Set(token.slice(-16)).size <= 3;
}

const SECRET_NAME = /key|token|secret|passw|credential|auth/i;
/** Shorter values (`1`, `yes`) occur everywhere. */
const SHORTEST_SECRET = 8;

/** Variables of the environment whose names say that their values are secret. */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): Map<string, string> {
  return new Map(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && value.length >= SHORTEST_SECRET && SECRET_NAME.test(name) && !/^[/.]/.test(value)
        ? [[name, value] as const]
        : [],
    ),
  );
}
