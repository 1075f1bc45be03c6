import { assertEquals } from "@std/assert";
import { parseAddress } from "../ip/address.ts";
import { type Attachment } from "../store/attachments.ts";
import { compare, type Comparison, persisting } from "./compare.ts";
import { type InventoryEntry, type InventoryPool } from "./inventory.ts";
import { type ObservedAddress } from "./observe.ts";
import { parsePoolConfig } from "./pool_config.ts";

const POOLS: InventoryPool[] = parsePoolConfig({ subnet: "10.0.0.0/24" }).sets.map((set) => ({
  network: "net",
  position: 0,
  set,
  usage: { size: set.size, held: 0, resting: 0 },
}));

function holder(id: number, more: Partial<Attachment> = {}): Attachment {
  const netns = `/run/netns/${id}`;
  return {
    id,
    containerId: `c${id}`,
    ifname: "eth0",
    sinceBoot: true,
    createdMs: 0,
    netns,
    podNamespace: undefined,
    podName: undefined,
    podUid: undefined,
    ...more,
  };
}

function held(
  address: string,
  attachment?: Attachment,
  state: InventoryEntry["state"] = attachment === undefined ? "found" : "held",
): InventoryEntry {
  return {
    network: "net",
    address: parseAddress(address),
    state,
    attachment,
    note: undefined,
    restedMs: undefined,
  };
}

function seen(address: string, netnsId: string | undefined): ObservedAddress {
  const place = netnsId === undefined ? "the host's routes" : `/run/netns/${netnsId}`;
  return { address: parseAddress(address), place, ifname: "eth0", netnsId };
}

/** The findings as `kind address`; `alive` are the ids of namespaces that exist. */
function findings(
  entries: readonly InventoryEntry[],
  addresses: readonly ObservedAddress[],
  options: { alive?: readonly number[]; unseen?: readonly string[] } = {},
): string[] {
  const { alive = [], unseen = [] } = options;
  const namespaces = new Map(alive.map((id) => [`/run/netns/${id}`, `${id}`]));
  const comparison: Comparison = {
    entries,
    pools: POOLS,
    observation: { addresses, namespaces, unseen },
  };
  return compare(comparison).map(({ kind, address }) => `${kind} ${address}`);
}

Deno.test("an address in its own namespace is as it should be", () => {
  assertEquals(
    findings([held("10.0.0.2", holder(1))], [seen("10.0.0.2", "1")], { alive: [1] }),
    [],
  );
});

Deno.test("leaked: the namespace is gone, or the machine has restarted", () => {
  assertEquals(findings([held("10.0.0.2", holder(1))], []), ["leaked 10.0.0.2"]);
  const old = holder(2, { sinceBoot: false });
  assertEquals(findings([held("10.0.0.3", old)], [], { alive: [2] }), ["leaked 10.0.0.3"]);
});

Deno.test("a holder whose namespace is not known leaked only if every place was looked into", () => {
  const imported = holder(1, { netns: undefined });
  assertEquals(findings([held("10.0.0.2", imported)], []), ["leaked 10.0.0.2"]);
  assertEquals(findings([held("10.0.0.2")], []), ["leaked 10.0.0.2"]);
  assertEquals(findings([held("10.0.0.2", imported), held("10.0.0.3")], [], { unseen: ["x"] }), []);
  assertEquals(findings([held("10.0.0.2", imported)], [seen("10.0.0.2", "9")]), []);
});

Deno.test("missing: the namespace is there without the address", () => {
  assertEquals(findings([held("10.0.0.2", holder(1))], [], { alive: [1] }), ["missing 10.0.0.2"]);
});

Deno.test("foreign: in use and in a pool, but nobody holds it; reserved counts as held", () => {
  const used = [seen("10.0.0.9", "5"), seen("10.0.0.8", "5"), seen("192.0.2.1", "5")];
  assertEquals(findings([held("10.0.0.8", undefined, "reserved")], used), ["foreign 10.0.0.9"]);
  assertEquals(findings([held("10.0.0.9", undefined, "resting")], used.slice(0, 1)), [
    "foreign 10.0.0.9",
  ]);
});

Deno.test("duplicate: in use in two namespaces; the host's route to it is none", () => {
  const entries = [held("10.0.0.2", holder(1))];
  const twice = [seen("10.0.0.2", "1"), seen("10.0.0.2", "2")];
  assertEquals(findings(entries, twice, { alive: [1] }), ["duplicate 10.0.0.2"]);
  const routed = [seen("10.0.0.2", "1"), seen("10.0.0.2", undefined)];
  assertEquals(findings(entries, routed, { alive: [1] }), []);
});

Deno.test("persisting() keeps what both looks have seen", () => {
  const finding = (text: string, attachment: number) =>
    ({
      kind: "leaked",
      address: parseAddress(text),
      network: "n",
      detail: "",
      attachment,
    }) as const;
  const [a, b, c] = [finding("10.0.0.2", 1), finding("10.0.0.3", 2), finding("10.0.0.3", 3)];
  assertEquals(persisting([a, b], [b, c]), [b]);
});
