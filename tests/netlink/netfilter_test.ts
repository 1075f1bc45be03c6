/** Connection tracking and nftables sets, compared with `conntrack` and `nft -j`. */

import { assertEquals, assertThrows } from "@std/assert";
import { parseAddress } from "../../lib/ip/mod.ts";
import { NetlinkError } from "../../lib/netlink/mod.ts";
import { deleteFlows, deleteFlowsWhere, listFlows } from "../../lib/netlink/conntrack.ts";
import {
  addSetElements,
  commitNftables,
  concatenateKey,
  deleteSetElements,
  listSetElements,
  tableExists,
} from "../../lib/netlink/nftables.ts";
import { requires, root, tool } from "../requires.ts";
import { Sandbox } from "./fixture.ts";

const conntrackNeeds = requires(root, tool("conntrack"), tool("nft", "nftables"));
const nftNeeds = requires(root, tool("nft", "nftables"));

/** The elements of a set as `nft -j` prints them. */
function elements(sandbox: Sandbox, set: string): unknown[] {
  const text = sandbox.run("nft", "-j", "list", "set", "inet", "t", set);
  for (const item of JSON.parse(text).nftables) {
    if (item.set !== undefined || item.map !== undefined) return (item.set ?? item.map).elem ?? [];
  }
  return [];
}

Deno.test({
  ...conntrackNeeds,
  name: "the flows of one address are deleted, in either direction, and no others",
  fn() {
    using sandbox = new Sandbox();
    using netfilter = sandbox.netfilter();
    // The kernel tracks connections of a namespace once a rule asks for it.
    sandbox.run(
      "nft",
      "add table inet t; add chain inet t c { type filter hook input priority 0; }",
    );
    sandbox.run("nft", "add rule inet t c ct state new accept");
    const insert = (source: string, destination: string, port: number, ...more: string[]) =>
      sandbox.run(
        ...["conntrack", "-I", "-p", "udp", "-t", "300", "-s", source, "-d", destination],
        ...["--sport", String(port), "--dport", "53", ...more],
      );
    insert("10.1.0.7", "10.9.0.1", 1001);
    insert("10.9.0.2", "10.1.0.7", 1002);
    insert("10.1.0.8", "10.9.0.1", 1003);
    // Translated: only the answers carry the address.
    insert(
      "10.9.0.3",
      "10.9.0.4",
      1006,
      "-r",
      "10.1.0.7",
      "-q",
      "10.9.0.3",
      "--reply-port-src",
      "53",
      "--reply-port-dst",
      "1006",
    );
    insert(
      "10.9.0.3",
      "10.9.0.4",
      1007,
      "-r",
      "10.9.0.4",
      "-q",
      "10.1.0.7",
      "--reply-port-src",
      "53",
      "--reply-port-dst",
      "1007",
    );
    insert("fd00::7", "fd00:9::1", 1004);
    insert("fd00::8", "fd00:9::1", 1005);
    const ports = (family: "ipv4" | "ipv6") =>
      [...sandbox.run("conntrack", "-L", "-f", family).matchAll(/sport=(\d+) dport=53 /g)]
        .map(([, port]) => Number(port)).sort();
    const listed = (family: 4 | 6) =>
      listFlows(netfilter, family).map(({ original }) => original.sourcePort).sort();
    assertEquals([listed(4), listed(6)], [[1001, 1002, 1003, 1006, 1007], [1004, 1005]]);
    assertEquals([ports("ipv4"), ports("ipv6")], [listed(4), listed(6)]);
    deleteFlows(netfilter, parseAddress("10.1.0.7"));
    deleteFlows(netfilter, parseAddress("fd00::7"));
    assertEquals([ports("ipv4"), ports("ipv6")], [[1003], [1005]]);
    deleteFlows(netfilter, parseAddress("10.1.0.7")); // none is no error
    assertEquals(deleteFlowsWhere(netfilter, 4, ({ original }) => original.sourcePort === 1003), 1);
    assertEquals([ports("ipv4"), ports("ipv6")], [[], [1005]]);
  },
});

Deno.test({
  ...nftNeeds,
  name: "a table exists or does not",
  fn() {
    using sandbox = new Sandbox();
    using netfilter = sandbox.netfilter();
    assertEquals(tableExists(netfilter, { family: "inet", table: "t" }), false);
    sandbox.run("nft", "add table inet t");
    assertEquals(tableExists(netfilter, { family: "inet", table: "t" }), true);
    assertEquals(tableExists(netfilter, { family: "ip", table: "t" }), false);
  },
});

Deno.test({
  ...nftNeeds,
  name: "elements go into sets and out of them in one transaction",
  fn() {
    using sandbox = new Sandbox();
    using netfilter = sandbox.netfilter();
    sandbox.run(
      "nft",
      `add table inet t
       add set inet t pods4 { type ipv4_addr; flags timeout; }
       add set inet t pods6 { type ipv6_addr; }
       add set inet t spoof { type ifname . ipv4_addr; }
       add map inet t ports { type inet_service : ipv4_addr; }`,
    );
    const set = (name: string) => ({ family: "inet", table: "t", set: name }) as const;
    const key = (text: string) => parseAddress(text).toBytes();
    const name = new Uint8Array(16);
    name.set(new TextEncoder().encode("hcni0"));
    const spoof = concatenateKey(name, key("10.1.0.7"));
    commitNftables(netfilter, [
      ...addSetElements(set("pods4"), [{ key: key("10.1.0.7") }, { key: key("10.1.0.8") }]),
      ...addSetElements(set("pods6"), [{ key: key("fd00::7") }]),
      ...addSetElements(set("spoof"), [{ key: spoof }]),
      ...addSetElements(set("ports"), [{ key: Uint8Array.of(0x1f, 0x90), data: key("10.1.0.7") }]),
    ]);
    assertEquals(elements(sandbox, "pods4").sort(), ["10.1.0.7", "10.1.0.8"]);
    assertEquals(elements(sandbox, "pods6"), ["fd00::7"]);
    assertEquals(elements(sandbox, "spoof"), [{ concat: ["hcni0", "10.1.0.7"] }]);
    assertEquals(
      sandbox.run("nft", "list", "map", "inet", "t", "ports").includes("8080 : 10.1.0.7"),
      true,
    );
    assertEquals(
      listSetElements(netfilter, set("pods4")).map(({ key }) => key.join(".")).sort(),
      ["10.1.0.7", "10.1.0.8"],
    );
    commitNftables(netfilter, [
      ...deleteSetElements(set("pods4"), [{ key: key("10.1.0.7") }]),
      ...deleteSetElements(set("spoof"), [{ key: spoof }]),
      ...addSetElements(set("pods4"), [{ key: key("10.1.0.9"), timeoutMs: 60_000 }]),
    ]);
    assertEquals(elements(sandbox, "spoof"), []);
    assertEquals(elements(sandbox, "pods4").map((item) => JSON.stringify(item)).sort().length, 2);
    assertEquals(sandbox.run("nft", "list", "ruleset").includes("10.1.0.9 timeout 1m"), true);
  },
});

Deno.test({
  ...nftNeeds,
  name: "a transaction with one bad request changes nothing and names it",
  fn() {
    using sandbox = new Sandbox();
    using netfilter = sandbox.netfilter();
    sandbox.run("nft", "add table inet t; add set inet t s { type ipv4_addr; }");
    const set = { family: "inet", table: "t", set: "s" } as const;
    const key = (text: string) => parseAddress(text).toBytes();
    assertThrows(
      () =>
        commitNftables(netfilter, [
          ...addSetElements(set, [{ key: key("10.1.0.7") }]),
          ...deleteSetElements(set, [{ key: key("10.1.0.9") }]),
          ...addSetElements(set, [{ key: key("10.1.0.8") }]),
        ]),
      NetlinkError,
      "Cannot delete set elements inet t s: No such file or directory (ENOENT)",
    );
    assertEquals(elements(sandbox, "s"), []);
    assertThrows(
      () =>
        commitNftables(netfilter, addSetElements({ ...set, set: "none" }, [{ key: key("::") }])),
      NetlinkError,
      "Cannot add set elements inet t none: ",
    );
    commitNftables(netfilter, addSetElements(set, [{ key: key("10.1.0.7") }]));
    assertEquals(elements(sandbox, "s"), ["10.1.0.7"]);
  },
});

Deno.test({
  ...nftNeeds,
  name: "ten thousand elements fit one transaction",
  fn() {
    using sandbox = new Sandbox();
    using netfilter = sandbox.netfilter();
    sandbox.run("nft", "add table inet t; add set inet t s { type ipv4_addr; }");
    const set = { family: "inet", table: "t", set: "s" } as const;
    const first = parseAddress("10.0.0.0");
    const members = Array.from({ length: 10_000 }, (_, n) => ({
      key: first.offset(BigInt(n)).toBytes(),
    }));
    commitNftables(netfilter, addSetElements(set, members));
    assertEquals(listSetElements(netfilter, set).length, 10_000);
    assertEquals(elements(sandbox, "s").length, 10_000);
  },
});
