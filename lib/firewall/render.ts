/** The ruleset from data to text, and what the kernel will tell about it. */

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
export function renderRuleset({ tables, fingerprint }: Ruleset): string {
  return `${renderTables(tables)}
# An empty chain whose name tells this ruleset from others.
add chain inet ${TABLE} ${MARKER_PREFIX}${fingerprint}
`;
}

/** The tables without the marker: what the fingerprint is made of. */
export function renderTables(tables: readonly TableDefinition[]): string {
  return `${tables.map(renderTable).join("\n\n")}\n`;
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
  for (const { family, chains, sets } of ruleset.tables) {
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

/** Options for {@linkcode expectedChains}. */
export interface ExpectedChainsOptions {
  /**
   * Only the last chain of each table.
   *
   * @default {false}
   */
  readonly lastOnly?: boolean;
}

/**
 * Every chain with its rules and the jumps to it counted, marker included: what a probe
 * compares. Sets need no entry, because a rule that uses one keeps it from being deleted.
 */
export function expectedChains(
  { tables, fingerprint }: Ruleset,
  options: ExpectedChainsOptions = {},
): ExpectedChain[] {
  const expected: ExpectedChain[] = [];
  for (const table of tables) {
    const chains = options.lastOnly ? table.chains.slice(-1) : table.chains;
    for (const chain of chains) {
      const { family } = table;
      expected.push({ family, table: TABLE, chain: chain.name, uses: usesOf(table, chain) });
    }
  }
  const marker = `${MARKER_PREFIX}${fingerprint}`;
  return [...expected, { family: "inet", table: TABLE, chain: marker, uses: 0 }];
}

/** A rule that ends with a chain's name jumps to it. */
function usesOf({ chains }: TableDefinition, { name, rules }: ChainDefinition): number {
  let uses = rules.length;
  for (const { rules } of chains) {
    for (const { text } of rules) if (text.endsWith(` ${name}`)) uses++;
  }
  return uses;
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

function block(head: string, lines: readonly string[]): string {
  return `\t${head} {\n${lines.map((line) => `\t\t${line}\n`).join("")}\t}`;
}
