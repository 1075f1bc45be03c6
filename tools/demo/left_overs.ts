/** What a pod could leave on a node, taken before the first and after the last. */

import { POD_SETS } from "../../lib/firewall/elements.ts";
import { readStore } from "../../lib/store/mod.ts";
import { type DemoNode } from "./demo_node.ts";

/** One kind of thing. */
export interface Holding {
  readonly what: string;
  /** Everything of it, as text that can be compared and shown. */
  readonly items: readonly string[];
}

/** Looks at the whole node. */
export async function takeStock(node: DemoNode): Promise<Holding[]> {
  const listed: readonly [what: string, ...command: string[]][] = [
    ["interfaces", "link", "show"],
    ["addresses", "address", "show"],
    ["IPv4 routes", "-4", "route", "show", "table", "all"],
    ["IPv6 routes", "-6", "route", "show", "table", "all"],
    ["IPv4 rules", "-4", "rule", "show"],
    ["IPv6 rules", "-6", "rule", "show"],
  ];
  const holdings: Holding[] = [];
  for (const [what, ...command] of listed) {
    const items = await node.ip(...command);
    holdings.push({ what, items: asArray(items).map((item) => JSON.stringify(item)) });
  }
  holdings.push({ what: "packet filter entries of pods", items: await filterEntries(node) });
  holdings.push({ what: "attachments in the store", items: attachments(node) });
  return holdings;
}

/** What there is after, and was not before. */
export function leftOvers(before: readonly Holding[], after: readonly Holding[]): string[] {
  return after.flatMap(({ what, items }) => {
    const known = new Set(before.find((holding) => holding.what === what)?.items);
    return items.filter((item) => !known.has(item)).map((item) => `${what}: ${item}`);
  });
}

/** The tables stay for the next pod; their sets must be empty of pods. */
async function filterEntries(node: DemoNode): Promise<string[]> {
  const { stdout } = await node.run("nft", { args: ["-j", "list", "ruleset"] });
  const { nftables }: { nftables: Record<string, NftSet>[] } = JSON.parse(stdout);
  return nftables.flatMap((entry) => {
    const set = entry.set ?? entry.map;
    if (
      !set || !POD_SETS.some(({ set: name, family }) => set.name === name && set.family === family)
    ) {
      return [];
    }
    return (set.elem ?? []).map((element) => `${set.name} ${JSON.stringify(element)}`);
  });
}

interface NftSet {
  readonly family: string;
  readonly name: string;
  readonly elem?: readonly unknown[];
}

function attachments({ dataDirectory }: DemoNode): string[] {
  const options = { directory: dataDirectory, observe: () => Promise.resolve([]) };
  return readStore(
    options,
    (store) =>
      store.networks().flatMap((name) =>
        (store.network(name)?.attachments.list() ?? []).map(({ containerId }) => containerId)
      ),
  ) ?? [];
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}
