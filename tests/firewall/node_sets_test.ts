/** Sets of the whole node, and the small table beside an isolated tailscaled. */

import { assert, assertEquals } from "@std/assert";
import {
  addClusterNetworks,
  addMasqueraded,
  addPod,
  areMasqueraded,
  isRoomLoaded,
  listClusterNetworks,
  listTunnels,
  loadRoom,
  removeStalePods,
  setTunnels,
  stalePods,
} from "../../lib/firewall/mod.ts";
import { parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import { Sandbox } from "../netlink/fixture.ts";
import { requires, root, tool } from "../requires.ts";
import { podRules, TestNode } from "./node.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"), tool("nsenter"));

Deno.test({
  ...needs,
  name: "what is in the sets of the node is listed as it was put there",
  async fn() {
    using node = new TestNode();
    await node.load();
    assertEquals(listTunnels(node.netfilter).toSorted(), ["headcni01", "tailscale0"]);
    setTunnels(node.netfilter, ["tailscale1"]);
    assertEquals(listTunnels(node.netfilter), ["tailscale1"]);
    assertEquals(listClusterNetworks(node.netfilter), []);
    const texts = ["10.244.0.0/16", "255.255.255.0/24", "fd44::/48"];
    addClusterNetworks(node.netfilter, texts.map((text) => parsePrefix(text)));
    assertEquals(
      listClusterNetworks(node.netfilter).map(({ start, end }) => `${start}-${end}`),
      [
        "10.244.0.0-10.244.255.255",
        "255.255.255.0-255.255.255.255",
        "fd44::-fd44::ffff:ffff:ffff:ffff:ffff",
      ],
    );
  },
});

Deno.test({
  ...needs,
  name: "masqueraded addresses that are no pod's stay when pods are cleared away",
  async fn() {
    using node = new TestNode();
    await node.load();
    const addresses = ["169.254.101.2", "fd68:6361:6e69::2"].map((text) => parseAddress(text));
    assertEquals(areMasqueraded(node.netfilter, addresses), false);
    addMasqueraded(node.netfilter, addresses);
    addMasqueraded(node.netfilter, addresses);
    addPod(node.netfilter, podRules("alpha"));
    removeStalePods(node.netfilter, stalePods(node.netfilter, new Set()));
    assertEquals(areMasqueraded(node.netfilter, addresses), true);
  },
});

Deno.test({
  ...needs,
  name: "the table of the namespace is loaded once, and again after a flush",
  async fn() {
    using room = new Sandbox();
    using netfilter = room.netfilter();
    const spec = {
      netnsPath: `/run/netns/${room.name}`,
      tunnel: "headcni01",
      cable: ["169.254.101.1/30", "fd68:6361:6e69::1/126"].map((text) => parsePrefix(text)),
    };
    assertEquals(isRoomLoaded(netfilter), false);
    await loadRoom(spec);
    await loadRoom(spec);
    assertEquals(isRoomLoaded(netfilter), true);
    const text = room.run("nft", "list", "table", "inet", "headcni");
    assert(text.includes('oifname "headcni01" ip saddr 169.254.101.0/30 masquerade'), text);
    assert(text.includes("ip6 saddr fd68:6361:6e69::/126 masquerade"), text);
    room.run("nft", "flush", "ruleset");
    assertEquals(isRoomLoaded(netfilter), false);
  },
});
