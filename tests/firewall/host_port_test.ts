/** Ports of the node that lead to pods: who reaches them, and as whom. */

import { assertEquals, assertLess, assertStringIncludes, assertThrows } from "@std/assert";
import {
  addPod,
  forgetUdpFlows,
  HostPortConflictError,
  removePod,
} from "../../lib/firewall/mod.ts";
import type { HostPort } from "../../lib/firewall/mod.ts";
import { parseAddress } from "../../lib/ip/mod.ts";
import { writeSysctl } from "../../lib/netlink/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { ADDRESS, any, call, endpoint, type Pair, type Place, podRules, TestNode } from "./node.ts";
import { macBytes, sctpInit, udpFrame } from "./packets.ts";
import { openPacket, openRaw, openTransport } from "./sockets.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));
const IPPROTO_SCTP = 132;

/** Port 8080 of the node, by both protocols, to port 80 of the pod. */
function ports(hostIp?: string): HostPort[] {
  return (["tcp", "udp"] as const).map((protocol) => ({
    protocol,
    hostPort: 8080,
    containerPort: 80,
    ...(hostIp === undefined ? {} : { hostIp: parseAddress(hostIp) }),
  }));
}

/** A node whose pod alpha has `hostPorts`, set up as the plugin sets it up. */
async function nodeWith(hostPorts: readonly HostPort[]): Promise<TestNode> {
  const node = new TestNode();
  await node.load();
  writeSysctl("net/ipv4/conf/hcnialpha/route_localnet", 1, node.at("node"));
  addPod(node.netfilter, podRules("alpha", { hostPorts }));
  addPod(node.netfilter, podRules("beta"));
  return node;
}

/** Who alpha sees when `client` calls port 8080 of `address`, per protocol and family. */
function callers(node: TestNode, client: Place, address: Pair): Record<string, string> {
  const result: Record<string, string> = {};
  for (const protocol of ["tcp", "udp"] as const) {
    for (const family of [4, 6] as const) {
      const to = endpoint(address[family], 8080);
      const serverAt = any(family, 80);
      const source = call(node, { protocol, client, server: "alpha", to, serverAt });
      result[`${protocol}${family}`] = source ?? "nobody";
    }
  }
  return result;
}

function both(pair: Pair): Record<string, string> {
  return { tcp4: pair[4], tcp6: pair[6], udp4: pair[4], udp6: pair[6] };
}

const NOBODY = both({ 4: "nobody", 6: "nobody" });

Deno.test({
  ...needs,
  name: "a host port is reached from everywhere, and the pod sees who calls",
  async fn() {
    using node = await nodeWith(ports());
    assertEquals(callers(node, "remote", ADDRESS.node), both(ADDRESS.remote));
    assertEquals(callers(node, "peer", ADDRESS.tunnel), both(ADDRESS.peer));
    assertEquals(callers(node, "node", ADDRESS.node), both(ADDRESS.node));
    assertEquals(callers(node, "beta", ADDRESS.node), both(ADDRESS.beta));
  },
});

Deno.test({
  ...needs,
  name: "a pod reaches its own host port, as the node",
  async fn() {
    using node = await nodeWith(ports());
    const own = [ADDRESS.gateway, ADDRESS.node, ADDRESS.tunnel].flatMap((
      pair,
    ) => [pair[4], pair[6]]);
    for (const source of Object.values(callers(node, "alpha", ADDRESS.node))) {
      assertEquals(own.some((address) => address === source), true, source);
    }
  },
});

Deno.test({
  ...needs,
  name: "on the node's loopback a host port is reached over IPv4, and refused at once over IPv6",
  async fn() {
    using node = await nodeWith(ports());
    const { tcp4, udp4 } = callers(node, "node", { ...ADDRESS.loopback, 6: ADDRESS.node[6] });
    assertEquals([tcp4, udp4], [ADDRESS.gateway[4], ADDRESS.gateway[4]]);
    const start = performance.now();
    using client = openTransport(node.at("node").netns, "tcp", 6);
    assertEquals(client.connect(endpoint("::1", 8080)), false);
    assertLess(performance.now() - start, 200);
  },
});

Deno.test({
  ...needs,
  name: "a host port bound to one address is on that address only",
  async fn() {
    const hostPorts = [...ports(ADDRESS.node[4]), ...ports(ADDRESS.node[6])];
    using node = await nodeWith(hostPorts);
    assertEquals(callers(node, "remote", ADDRESS.node), both(ADDRESS.remote));
    assertEquals(callers(node, "node", ADDRESS.node), both(ADDRESS.node));
    assertEquals(callers(node, "peer", ADDRESS.tunnel), NOBODY);
    assertEquals(callers(node, "node", ADDRESS.tunnel), NOBODY);
  },
});

Deno.test({
  ...needs,
  name: "an unspecified address binds a host port to all addresses of its family",
  async fn() {
    using node = await nodeWith(ports("0.0.0.0"));
    const seen = callers(node, "remote", ADDRESS.node);
    assertEquals(seen, { ...NOBODY, tcp4: ADDRESS.remote[4], udp4: ADDRESS.remote[4] });
    removePod(node.netfilter, podRules("alpha", { hostPorts: ports("0.0.0.0") }));
    addPod(node.netfilter, podRules("alpha", { hostPorts: ports("::") }));
    const then = callers(node, "remote", ADDRESS.node);
    assertEquals(then, { ...NOBODY, tcp6: ADDRESS.remote[6], udp6: ADDRESS.remote[6] });
  },
});

Deno.test({
  ...needs,
  name: "a host port on 127.0.0.1 is for the node alone, whatever a neighbour sends",
  async fn() {
    using node = await nodeWith(ports("127.0.0.1"));
    const own = callers(node, "node", { ...ADDRESS.node, 4: "127.0.0.1" });
    assertEquals(own, { ...NOBODY, tcp4: ADDRESS.gateway[4], udp4: ADDRESS.gateway[4] });
    assertEquals(callers(node, "remote", ADDRESS.node), NOBODY);
    using server = openTransport(node.at("alpha").netns, "udp", 4).bind(any(4, 80));
    using neighbour = openPacket(node.at("remote").netns);
    const send = () =>
      neighbour.sendFrame(
        udpFrame({
          to: macBytes(node.mac("node", "uplink")),
          from: macBytes(node.mac("remote", "eth0")),
          source: parseAddress(ADDRESS.remote[4]),
          destination: parseAddress("127.0.0.1"),
          port: 8080,
        }),
        node.linkIndex("remote", "eth0"),
      );
    assertEquals(send(), true);
    assertEquals(server.receive(), undefined);
    // Without the rule it arrives: the test can fail.
    node.nft("flush chain inet headcni host_ports_in");
    node.nft("add rule inet headcni host_ports_in fib daddr type local jump host_ports");
    assertEquals(send(), true);
    assertEquals(server.receive()?.from.address.toString(), ADDRESS.remote[4]);
  },
});

Deno.test({
  ...needs,
  name: "traffic to other machines that have the same port goes there",
  async fn() {
    using node = await nodeWith([...ports(), ...ports(ADDRESS.remote[4])]);
    for (const family of [4, 6] as const) {
      const to = endpoint(ADDRESS.remote[family], 8080);
      for (const client of ["alpha", "beta", "node"] as const) {
        const source = call(node, { protocol: "tcp", client, server: "remote", to });
        assertEquals(source, ADDRESS.node[family], `${client} over IPv${family}`);
      }
    }
  },
});

Deno.test({
  ...needs,
  name: "a UDP client that called before the pod came is led to it",
  async fn() {
    using node = await nodeWith([]);
    const pod = podRules("alpha", { hostPorts: ports() });
    for (const family of [4, 6] as const) {
      using server = openTransport(node.at("alpha").netns, "udp", family).bind(any(family, 80));
      using client = openTransport(node.at("remote").netns, "udp", family).bind(any(family, 6000));
      const to = endpoint(ADDRESS.node[family], 8080);
      client.send(Uint8Array.of(1), to);
      addPod(node.netfilter, pod);
      client.send(Uint8Array.of(2), to);
      assertEquals(server.receive(), undefined);
      assertEquals(forgetUdpFlows(node.netfilter, pod), 1);
      client.send(Uint8Array.of(3), to);
      assertEquals(server.receive()?.bytes, Uint8Array.of(3));
      // A flow that leads to the pod already stays.
      assertEquals(forgetUdpFlows(node.netfilter, pod), 0);
      removePod(node.netfilter, pod);
    }
  },
});

Deno.test({
  ...needs,
  name: "an SCTP association is led to the pod, with its port changed",
  async fn() {
    using node = await nodeWith([{ protocol: "sctp", hostPort: 8080, containerPort: 80 }]);
    for (const family of [4, 6] as const) {
      using server = openRaw(node.at("alpha").netns, family, IPPROTO_SCTP);
      using client = openRaw(node.at("remote").netns, family, IPPROTO_SCTP);
      client.send(sctpInit(5555, 8080), endpoint(ADDRESS.node[family], 0));
      const heard = server.receive();
      assertEquals(heard?.from.address.toString(), ADDRESS.remote[family]);
      // A raw socket gets the IPv4 header too.
      const packet = heard?.bytes.subarray(family === 4 ? 20 : 0) ?? new Uint8Array(12);
      assertEquals(packet.slice(0, 12), sctpInit(5555, 80).slice(0, 12));
    }
  },
});

Deno.test({
  ...needs,
  name: "a port that leads to another pod is refused, naming it, and nothing changes",
  async fn() {
    using node = await nodeWith(ports());
    const before = node.nft("list", "ruleset");
    const wanted = podRules("beta", { hostPorts: ports() });
    removePod(node.netfilter, podRules("beta"));
    const without = node.nft("list", "ruleset");
    const error = assertThrows(() => addPod(node.netfilter, wanted), HostPortConflictError);
    assertStringIncludes(error.message, "host port tcp 8080 to hcnibeta: it leads to 10.244.3.2");
    assertEquals(error.conflict.owner, "hcnialpha");
    assertEquals(node.nft("list", "ruleset"), without);
    // What the runtime does next, for the pod that failed, must not hurt the one that has it.
    removePod(node.netfilter, wanted);
    assertEquals(callers(node, "remote", ADDRESS.node), both(ADDRESS.remote));
    addPod(node.netfilter, podRules("alpha", { hostPorts: ports() }));
    addPod(node.netfilter, podRules("beta"));
    assertEquals(withoutCounters(node.nft("list", "ruleset")), withoutCounters(before));
    removePod(node.netfilter, podRules("alpha", { hostPorts: ports() }));
    addPod(node.netfilter, wanted);
    assertEquals(callers(node, "remote", ADDRESS.node), NOBODY);
  },
});

function withoutCounters(listing: string): string {
  return listing.replaceAll(/packets \d+ bytes \d+/g, "");
}
