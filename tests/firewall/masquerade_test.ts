/** Whose address the other side sees. */

import { assertEquals } from "@std/assert";
import { addPod, setClusterNetworks } from "../../lib/firewall/mod.ts";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { ADDRESS, call, endpoint, type Pair, type Place, podRules, TestNode } from "./node.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));

const CLUSTER = ["10.244.0.0/16", "fd00::/16"].map((text) => parsePrefix(text));

/** What each protocol and family sees of alpha at `address` of `place`. */
function seen(node: TestNode, place: Place, address: Pair): Record<string, string | undefined> {
  const result: Record<string, string | undefined> = {};
  for (const protocol of ["tcp", "udp"] as const) {
    for (const family of [4, 6] as const) {
      const to = endpoint(address[family], 7000);
      const source = call(node, { protocol, client: "alpha", server: place, to });
      result[`${protocol}${family}`] = source;
    }
  }
  return result;
}

function everywhere(pair: Pair): Record<string, string> {
  return { tcp4: pair[4], tcp6: pair[6], udp4: pair[4], udp6: pair[6] };
}

Deno.test({
  ...needs,
  name: "the outside world sees the node, pods see the pod",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha"));
    addPod(node.netfilter, podRules("beta"));
    assertEquals(seen(node, "remote", ADDRESS.remote), everywhere(ADDRESS.node));
    assertEquals(seen(node, "beta", ADDRESS.beta), everywhere(ADDRESS.alpha));
    assertEquals(seen(node, "node", ADDRESS.node), everywhere(ADDRESS.alpha));
  },
});

Deno.test({
  ...needs,
  name: "through the tunnel, peers see the node and pods of other nodes see the pod",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha"));
    assertEquals(seen(node, "peer", ADDRESS.farPod), everywhere(ADDRESS.tunnel));
    setClusterNetworks(node.netfilter, CLUSTER);
    assertEquals(seen(node, "peer", ADDRESS.farPod), everywhere(ADDRESS.alpha));
    assertEquals(seen(node, "peer", ADDRESS.peer), everywhere(ADDRESS.tunnel));
    setClusterNetworks(node.netfilter, []);
    assertEquals(seen(node, "peer", ADDRESS.farPod), everywhere(ADDRESS.tunnel));
  },
});

Deno.test({
  ...needs,
  name: "a pod without masquerade is seen as it is",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha", { masquerade: false }));
    assertEquals(seen(node, "remote", ADDRESS.remote), everywhere(ADDRESS.alpha));
  },
});

Deno.test({
  ...needs,
  name: "link-local destinations are not masqueraded",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha"));
    const to = endpoint("169.254.7.7", 80);
    const source = call(node, { protocol: "tcp", client: "alpha", server: "remote", to });
    assertEquals(source, ADDRESS.alpha[4]);
  },
});
