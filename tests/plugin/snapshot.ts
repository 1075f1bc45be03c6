/** A node as the tools of the kernel show it, to be compared before and after. */

import { fail } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { type Json, type Namespace, output } from "./namespace.ts";

/** Everything a plugin could leave behind. */
export interface Snapshot {
  /** Links with their addresses. */
  readonly links: Json[];
  /** Of all tables and both families. */
  readonly routes: Json[];
  readonly rules: Json[];
  readonly queues: Json[];
  /** Tables, sets, elements and rules; counters apart. */
  readonly filter: Json[];
  /** Attachments, addresses and chains in use. */
  readonly store: Json[];
  /** Names of the files in the data directory. */
  readonly files: string[];
}

/** What is in a namespace, and in a data directory if one is given, once it has settled. */
export async function takeSnapshot(at: Namespace, dataDir?: string): Promise<Snapshot> {
  const pods = (await at.ip("link", "show", "type", "veth")).filter(({ ifname }) =>
    ifname !== "uplink"
  );
  let last = await look(at, dataDir);
  if (pods.length === 0) return last;
  for (let attempt = 0; attempt < SETTLING_ATTEMPTS; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const next = await look(at, dataDir);
    const isSame = linesOf(last).join("\n") === linesOf(next).join("\n");
    if (isSame && !linesOf(next).some((line) => line.includes('"linkdown"'))) return next;
    last = next;
  }
  return last;
}

/** About a second; a link whose other end is down never gets a carrier. */
const SETTLING_ATTEMPTS = 20;

async function look(at: Namespace, dataDir: string | undefined): Promise<Snapshot> {
  const [links, routes4, routes6, rules4, rules6, queues, filter] = await Promise.all([
    at.ip("-details", "address"),
    at.ip("-4", "route", "show", "table", "all"),
    at.ip("-6", "route", "show", "table", "all"),
    at.ip("-4", "rule"),
    at.ip("-6", "rule"),
    output("tc", "-n", at.name, "-json", "qdisc"),
    at.run("nft", "-j", "list", "ruleset"),
  ]);
  return {
    links: links.map(settled),
    routes: [...routes4, ...routes6],
    rules: [...rules4, ...rules6],
    queues: JSON.parse(queues),
    filter: withoutCounters(JSON.parse(filter).nftables).map(withoutNetworks),
    store: dataDir === undefined ? [] : readStore(dataDir),
    files: dataDir === undefined ? [] : listFiles(dataDir),
  };
}

/** Fails with the lines that only one of both has; a whole node is too much to read. */
export function assertSameNode(actual: Snapshot, expected: Snapshot, when = ""): void {
  const [now, before] = [linesOf(actual), linesOf(expected)];
  const added = now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  const missing = before.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  if (now.join("\n") === before.join("\n")) return;
  const lines = [...added, ...missing];
  fail(`the node changed ${when}\n${lines.length > 0 ? lines.join("\n") : "in its order"}`);
}

function linesOf(snapshot: Snapshot): string[] {
  return Object.entries(snapshot).flatMap(([part, items]) =>
    items.map((item: unknown) => `${part}: ${JSON.stringify(item)}`)
  );
}

/**
 * Some things the kernel does later, by itself: it notices a carrier, makes the routes that go
 * with it, and finds out, after seconds, that its own link-local address is unique.
 */
function settled({ operstate: _, flags = [], addr_info = [], ...link }: Json): Json {
  return {
    ...link,
    flags: flags.filter((flag: string) => flag !== "NO-CARRIER"),
    addr_info: addr_info.map(({ tentative: _, ...address }: Json) => address),
  };
}

/** Attachments, addresses and steps of chains as rows; what was released, and cursors, are no left-overs. */
export function readStore(dataDir: string): Json[] {
  const path = `${dataDir}/headcni.db`;
  if (!listFiles(dataDir).includes("headcni.db")) return [];
  // Read-write: the log beside it is only seen by who may open it for writing.
  const db = new DatabaseSync(path);
  try {
    return [
      ...db.prepare(
        "SELECT n.name AS network, a.container_id, a.ifname, a.netns, a.record " +
          "FROM attachment a JOIN network n ON n.id = a.network ORDER BY 1, 2, 3",
      ).all(),
      ...db.prepare(
        "SELECT n.name AS network, hex(d.address) AS address, d.kind, a.container_id " +
          "FROM address d JOIN network n ON n.id = d.network " +
          "LEFT JOIN attachment a ON a.id = d.attachment ORDER BY 1, 2",
      ).all(),
      ...db.prepare(
        "SELECT n.name AS network, c.container_id, c.ifname, s.position, s.type, s.status " +
          "FROM chain c JOIN network n ON n.id = c.network " +
          "LEFT JOIN chain_step s ON s.chain = c.id ORDER BY 1, 2, 3, 4",
      ).all(),
    ].map((row) => ({ ...row }));
  } finally {
    db.close();
  }
}

/** Changes the store behind the plugin's back. */
export function changeStore(dataDir: string, sql: string): void {
  const db = new DatabaseSync(`${dataDir}/headcni.db`);
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

/** SQLite's own companions come and go. */
function listFiles(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name)
    .filter((name) => !/-(wal|shm)$/.test(name)).sort();
}

/** Networks the node has heard of are the node's, not a pod's: they stay. */
function withoutNetworks(item: Json): Json {
  if (!/^cluster[46]$/.test(item.set?.name ?? "")) return item;
  const { elem: _, ...set } = item.set;
  return { set };
}

/** Packets are counted; sets list their elements in an order of their own. */
function withoutCounters(value: Json[]): Json[] {
  const strip = (item: unknown, key?: string): unknown => {
    if (key === "counter" || key === "metainfo") return undefined;
    if (Array.isArray(item)) {
      const list = item.map((one) => strip(one));
      return key === "elem"
        ? list.toSorted((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
        : list;
    }
    if (typeof item !== "object" || item === null) return item;
    return Object.fromEntries(
      Object.entries(item).map(([name, inner]) => [name, strip(inner, name)]),
    );
  };
  return strip(value) as Json[];
}
