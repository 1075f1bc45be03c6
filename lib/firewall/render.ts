/** The ruleset from data to text, and its fingerprint. */

import type { ChainReference } from "../netlink/nftables_objects.ts";
import {
  type ChainDefinition,
  type Ruleset,
  type SetDefinition,
  TABLE,
  type TableDefinition,
} from "./ruleset.ts";

/** What is in the kernel under our names before a load. */
export interface LoadedNames {
  readonly family: TableDefinition["family"];
  readonly chains: readonly string[];
  readonly sets: readonly string[];
}

/** Names of marker chains begin with this; the fingerprint follows. */
const MARKER_PREFIX = "ruleset_";

/** The ruleset as `nft` reads it. */
export function renderRuleset(ruleset: Ruleset): string {
  return `${renderTables(ruleset)}\n${renderMarker(ruleset)}\n`;
}

/**
 * The script that loads `ruleset` over whatever is loaded, in one transaction.
 *
 * Sets stay and keep their elements. Chains are made anew, because the hook or priority of one
 * that exists cannot be changed. Each is added before it is deleted: then it does not matter
 * whether it is still there when the kernel comes to it.
 */
export function renderLoad(ruleset: Ruleset, loaded: readonly LoadedNames[]): string {
  const lines: string[] = [];
  for (const { family, chains, sets } of ruleset) {
    const table = `${family} ${TABLE}`;
    const found = loaded.find((names) => names.family === family);
    const names = new Set([...found?.chains ?? [], ...chains.map(({ name }) => name)]);
    lines.push(`add table ${table}`);
    for (const name of names) lines.push(`add chain ${table} ${name}`);
    // Rules first: a chain that is jumped to cannot be deleted.
    lines.push(`flush table ${table}`);
    for (const name of names) lines.push(`delete chain ${table} ${name}`);
    const known = new Set(sets.map(({ name }) => name));
    for (const name of found?.sets ?? []) {
      if (!known.has(name)) lines.push(`delete set ${table} ${name}`);
    }
  }
  return `${lines.join("\n")}\n${renderRuleset(ruleset)}`;
}

/** A chain, and how often it is used when the ruleset is loaded whole. */
export interface ExpectedChain extends ChainReference {
  readonly uses: number;
}

/**
 * Every chain with its rules and the jumps to it counted, marker included: what a probe
 * compares. Sets need no entry, because a rule that uses one keeps it from being deleted.
 */
export function expectedChains(ruleset: Ruleset): ExpectedChain[] {
  const marker = { family: "inet", table: TABLE, chain: markerName(ruleset), uses: 0 } as const;
  return ruleset.flatMap(({ family, chains }) => {
    const targets = chains.flatMap(({ rules }) => rules.map(({ text }) => jumpTarget(text)));
    return chains.map(({ name, rules }): ExpectedChain => {
      const jumps = targets.filter((target) => target === name).length;
      return { family, table: TABLE, chain: name, uses: rules.length + jumps };
    });
  }).concat(marker);
}

function renderTables(ruleset: Ruleset): string {
  return ruleset.map(renderTable).join("\n\n");
}

function renderTable({ family, sets, chains }: TableDefinition): string {
  const blocks = [...sets.map(renderSet), ...chains.map(renderChain)];
  return `table ${family} ${TABLE} {\n${blocks.join("\n\n")}\n}`;
}

function renderSet({ name, key, value, interval, elements }: SetDefinition): string {
  const type = [key, value].filter((types) => types !== undefined)
    .map((types) => types.join(" . ")).join(" : ");
  return block(`${value === undefined ? "set" : "map"} ${name}`, [
    `type ${type}`,
    ...(interval ? ["flags interval"] : []),
    ...(elements === undefined ? [] : [`elements = { ${elements.join(", ")} }`]),
  ]);
}

function renderChain({ name, hook, rules }: ChainDefinition): string {
  return block(`chain ${name}`, [
    ...(hook === undefined
      ? []
      : [`type ${hook.type} hook ${hook.hook} priority ${hook.priority}; policy accept;`]),
    ...rules.map(({ text, why }) => `${text} comment "${why}"`),
  ]);
}

function renderMarker(ruleset: Ruleset): string {
  return `# An empty chain whose name tells this ruleset from others.\n` +
    `add chain inet ${TABLE} ${markerName(ruleset)}`;
}

function block(head: string, lines: readonly string[]): string {
  return `\t${head} {\n${lines.map((line) => `\t\t${line}\n`).join("")}\t}`;
}

function jumpTarget(rule: string): string | undefined {
  return /\b(?:jump|goto) (\w+)$/.exec(rule)?.[1];
}

function markerName(ruleset: Ruleset): string {
  return MARKER_PREFIX + fingerprint(renderTables(ruleset));
}

/**
 * FNV-1a, 32 bits. Tells versions apart, nothing more: who could forge one could as well
 * change the rules. Here because the hashes of the platform are asynchronous.
 */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
