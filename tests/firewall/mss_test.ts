/** TCP segments that fit the tunnel. */

import { assertEquals } from "@std/assert";
import { addPod, setTunnels } from "../../lib/firewall/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { ADDRESS, endpoint, podRules, TestNode } from "./node.ts";
import { openTransport } from "./sockets.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));

/** The segment size a server behind the tunnel uses towards pod alpha. */
function segmentSize(node: TestNode, family: 4 | 6): number {
  const to = endpoint(ADDRESS.peer[family], 7000);
  using server = openTransport(node.at("peer").netns, "tcp", family).bind(to).listen();
  using client = openTransport(node.at("alpha").netns, "tcp", family);
  assertEquals(client.connect(to), true);
  using connection = server.accept()?.socket;
  return connection?.maxSegment ?? 0;
}

Deno.test({
  ...needs,
  name: "out of a tunnel the largest segment is what fits its MTU",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha"));
    // MTU 1280 less the headers, and less the 12 bytes of the timestamp option.
    assertEquals([segmentSize(node, 4), segmentSize(node, 6)], [1228, 1208]);
    setTunnels(node.netfilter, []);
    assertEquals([segmentSize(node, 4), segmentSize(node, 6)], [1448, 1428]);
    setTunnels(node.netfilter, ["headcni01", "tailscale0"]);
    assertEquals([segmentSize(node, 4), segmentSize(node, 6)], [1228, 1208]);
  },
});
