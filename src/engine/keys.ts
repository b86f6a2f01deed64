/** The keys of stages and units: which named parts they are made of. See `cache/key.ts` for how parts become a digest. */
import type { Digest, Json } from "../base/json.js";
import { type KeyPart, keyDigest, part } from "../cache/key.js";
import type { StageNode } from "../pipeline/model.js";
import type { NodeOutput } from "./channel.js";
import type { StageKind, StageTools, Unit } from "./contract.js";

export interface NodeInput {
  readonly type: string;
  readonly stage: string;
  readonly label: string | null;
  readonly node: string;
  readonly output: NodeOutput;
  /** Digest as the consumer sees it: of the selected items where a selection is on. */
  readonly digest: Digest;
}

export function kindName(kind: StageKind): string {
  return `${kind.kind}@${kind.version}`;
}

/** Values of secret-looking environment variables never enter a key: their reference does. */
export function withoutSecrets(value: unknown, secrets: ReadonlyMap<string, string>): unknown {
  if (secrets.size === 0) return value;
  if (typeof value === "string") {
    let text = value;
    for (const [secret, name] of secrets) if (secret !== "") text = text.replaceAll(secret, `\${env.${name}}`);
    return text;
  }
  if (Array.isArray(value)) return value.map((element) => withoutSecrets(element, secrets));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutSecrets(member, secrets)]));
  }
  return value;
}

export interface OwnParts {
  /** Configuration in the key of the stage as a whole. */
  readonly whole: KeyPart;
  /** Configuration in the key of each unit. */
  readonly unit: KeyPart;
  /** What the configuration names. */
  readonly identity: readonly KeyPart[];
}

export async function ownParts(
  kind: StageKind,
  node: StageNode,
  tools: StageTools,
  secrets: ReadonlyMap<string, string>,
): Promise<OwnParts> {
  const projected = part(
    "config",
    withoutSecrets(kind.keyConfig === undefined ? node.config : kind.keyConfig(node.config), secrets),
  );
  // The whole configuration by default: a steering option in it costs a look at each unit, a missing one would give wrong hits.
  const whole =
    kind.shape === "whole" ? projected : part("config", withoutSecrets(kind.stageConfig?.(node.config) ?? node.config, secrets));
  const identity = kind.identify === undefined ? [] : await kind.identify(node.config, tools);
  return { whole, unit: projected, identity };
}

/** Key parts of a stage as a whole: one lookup however many items it has. */
export function stageParts(kind: StageKind, own: OwnParts, inputs: readonly NodeInput[]): KeyPart[] {
  const parts: KeyPart[] = [part("kind", kindName(kind)), own.whole, ...own.identity];
  for (const type of Object.keys(kind.consumes)) {
    const given = inputs.filter((input) => input.type === type);
    const joined = kind.consumes[type] === "many" || kind.consumes[type] === "some";
    if (joined)
      parts.push(
        part(
          `input ${type}`,
          given.map((input) => [input.stage, input.label, input.digest]),
        ),
      );
    else if (given[0] !== undefined) parts.push(part(`input ${type}`, given[0].digest));
  }
  return parts;
}

/** Parts that all units of a stage share: its kind, its configuration and what that names, and what it says itself. */
export function sharedParts(kind: StageKind, own: OwnParts, shared: readonly KeyPart[]): KeyPart[] {
  return [part("kind", kindName(kind)), own.unit, ...own.identity, ...shared];
}

export function unitKey(shared: readonly KeyPart[], unit: Unit): Digest {
  return keyDigest([...shared, ...unit.parts]);
}

export function asPairs(parts: readonly KeyPart[]): [string, Json][] {
  return parts.map(({ name, value }) => [name, value]);
}
