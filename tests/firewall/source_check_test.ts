/** What a pod may put on its link, and what the node makes of it. */

import { assertEquals, assertMatch } from "@std/assert";
import { addPod, type PodRules, removeAll } from "../../lib/firewall/mod.ts";
import { parseAddress } from "../../lib/ip/mod.ts";
import { writeSysctl } from "../../lib/netlink/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { ADDRESS, call, endpoint, podRules, TestNode } from "./node.ts";
import {
  arpRequest,
  icmpRedirect,
  macBytes,
  neighbourSolicitation,
  ROUTER_ADVERTISEMENT,
  udpFrame,
} from "./packets.ts";
import { openPacket, openRaw, openTransport } from "./sockets.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));
const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;

/** A loaded node whose pod alpha has `changes` to its rules, and addresses it should not have. */
async function nodeWith(changes: Partial<PodRules> = {}): Promise<TestNode> {
  const node = new TestNode();
  await node.load();
  addPod(node.netfilter, podRules("alpha", changes));
  addPod(node.netfilter, podRules("beta"));
  for (const address of ["10.244.3.99/32", "fd00:3::99/128", `${ADDRESS.beta[4]}/32`]) {
    node.at("alpha").run("ip", "address", "add", address, "dev", "eth0");
  }
  return node;
}

/** Whether a UDP datagram from `source` reaches the remote machine. */
function arrives(node: TestNode, source: string): boolean {
  const from = parseAddress(source);
  const to = endpoint(ADDRESS.remote[from.family], 7000);
  using server = openTransport(node.at("remote").netns, "udp", from.family).bind(to);
  using client = openTransport(node.at("alpha").netns, "udp", from.family);
  client.bind({ address: from, port: 0 }).send(Uint8Array.of(1), to);
  return server.receive() !== undefined;
}

Deno.test({
  ...needs,
  name: "a pod sends from its own addresses and from no others",
  async fn() {
    using node = await nodeWith();
    assertEquals(arrives(node, ADDRESS.alpha[4]), true);
    assertEquals(arrives(node, ADDRESS.alpha[6]), true);
    assertEquals(arrives(node, "10.244.3.99"), false);
    assertEquals(arrives(node, ADDRESS.beta[4]), false);
    assertEquals(arrives(node, "fd00:3::99"), false);
  },
});

Deno.test({
  ...needs,
  name: "with the check switched off a pod sends from any address",
  async fn() {
    using node = await nodeWith({ antiSpoof: false });
    assertEquals(arrives(node, "10.244.3.99"), true);
    assertEquals(arrives(node, "fd00:3::99"), true);
  },
});

Deno.test({
  ...needs,
  name: "a pod that was never added sends nothing",
  async fn() {
    using node = new TestNode();
    await node.load();
    assertEquals(arrives(node, ADDRESS.alpha[4]), false);
    assertEquals(arrives(node, ADDRESS.alpha[6]), false);
    removeAll(node.netfilter);
    assertEquals(arrives(node, ADDRESS.alpha[4]), true);
  },
});

/** Which ICMPv6 types of `packets`, sent by alpha, a raw socket on the node hears. */
function heardTypes(node: TestNode, packets: readonly Uint8Array<ArrayBuffer>[]): number[] {
  using ears = openRaw(node.at("node").netns, 6, IPPROTO_ICMPV6);
  using mouth = openRaw(node.at("alpha").netns, 6, IPPROTO_ICMPV6);
  const types: number[] = [];
  for (const packet of packets) mouth.send(packet, endpoint(ADDRESS.gateway[6], 0));
  const wanted = new Set(packets.map(([type]) => type));
  for (let heard = ears.receive(); heard !== undefined; heard = ears.receive()) {
    const [type = 0] = heard.bytes;
    if (wanted.has(type) && heard.from.address.isLinkLocal) types.push(type);
  }
  return [...new Set(types)].sort();
}

Deno.test({
  ...needs,
  name: "from link-local addresses comes neighbour discovery, but no routers and no redirects",
  async fn() {
    using node = await nodeWith();
    const redirect = Uint8Array.of(137, ...new Uint8Array(39));
    const echo = Uint8Array.of(128, 0, 0, 0, 0, 1, 0, 1);
    const solicitation = neighbourSolicitation(parseAddress(ADDRESS.gateway[6]));
    const packets = [ROUTER_ADVERTISEMENT, redirect, echo, solicitation];
    assertEquals(heardTypes(node, packets), [135]);
    removeAll(node.netfilter);
    // A redirect is for the kernel's own eyes: raw sockets hear what is left.
    assertEquals(heardTypes(node, packets).includes(134), true);
  },
});

Deno.test({
  ...needs,
  name: "router advertisements are dropped although the source check is off",
  async fn() {
    using node = await nodeWith({ antiSpoof: false });
    const echo = Uint8Array.of(128, 0, 0, 0, 0, 1, 0, 1);
    assertEquals(heardTypes(node, [ROUTER_ADVERTISEMENT, echo]), [128]);
  },
});

Deno.test({
  ...needs,
  name: "a pod that takes the gateway's link-local address is told that it is taken",
  async fn() {
    using node = await nodeWith();
    for (const link of ["all", "eth0"]) {
      writeSysctl(`net/ipv6/conf/${link}/accept_dad`, 1, node.at("alpha"));
    }
    node.at("alpha").run("ip", "address", "add", `${ADDRESS.gateway[6]}/64`, "dev", "eth0");
    const failed = () => {
      return node.at("alpha").run("ip", "-6", "addr", "show", "dev", "eth0").includes("dadfailed");
    };
    // The kernel waits up to a second before it asks, and a second for the answer.
    for (let turn = 0; turn < 30 && !failed(); turn++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assertEquals(failed(), true);
  },
});

/** Addresses in the node's neighbour table of alpha's link. */
function neighbours(node: TestNode): string[] {
  return node.at("node").ip("-4", "neigh", "show", "dev", "hcnialpha").map(({ dst }) => dst).sort();
}

function announce(node: TestNode, sender: string): void {
  using socket = openPacket(node.at("alpha").netns);
  const from = macBytes(node.mac("alpha", "eth0"));
  const target = parseAddress(ADDRESS.gateway[4]);
  socket.sendFrame(
    arpRequest({ from, sender: parseAddress(sender), target }),
    node.linkIndex("alpha", "eth0"),
  );
}

Deno.test({
  ...needs,
  name: "a pod's ARP teaches the node no address but its own",
  async fn() {
    using node = await nodeWith();
    node.at("node").run("ip", "neigh", "flush", "dev", "hcnialpha");
    for (const sender of ["10.244.3.99", ADDRESS.beta[4], ADDRESS.remote[4]]) {
      announce(node, sender);
    }
    assertEquals(neighbours(node), []);
    announce(node, ADDRESS.alpha[4]);
    assertEquals(neighbours(node), [ADDRESS.alpha[4]]);
    removeAll(node.netfilter);
    announce(node, "10.244.3.99");
    assertEquals(neighbours(node), [ADDRESS.alpha[4], "10.244.3.99"]);
  },
});

Deno.test({
  ...needs,
  name: "a pod does not reach the node's loopback, although host ports open the route to it",
  async fn() {
    using node = await nodeWith();
    writeSysctl("net/ipv4/conf/hcnialpha/route_localnet", 1, node.at("node"));
    const secret = endpoint("127.0.0.1", 9999);
    using server = openTransport(node.at("node").netns, "udp", 4).bind(secret);
    using socket = openPacket(node.at("alpha").netns);
    const send = () =>
      socket.sendFrame(
        udpFrame({
          to: macBytes(node.mac("node", "hcnialpha")),
          from: macBytes(node.mac("alpha", "eth0")),
          source: parseAddress(ADDRESS.alpha[4]),
          destination: secret.address,
          port: secret.port,
        }),
        node.linkIndex("alpha", "eth0"),
      );
    assertEquals(send(), true);
    assertEquals(server.receive(), undefined);
    removeAll(node.netfilter);
    assertEquals(send(), true);
    assertEquals(server.receive()?.from.address.toString(), ADDRESS.alpha[4]);
  },
});

Deno.test({
  ...needs,
  name: "not even an unchecked pod speaks as the node's loopback",
  async fn() {
    using node = await nodeWith({ antiSpoof: false });
    writeSysctl("net/ipv4/conf/hcnialpha/route_localnet", 1, node.at("node"));
    const to = endpoint(ADDRESS.gateway[4], 9999);
    using server = openTransport(node.at("node").netns, "udp", 4).bind(to);
    using socket = openPacket(node.at("alpha").netns);
    const send = () =>
      socket.sendFrame(
        udpFrame({
          to: macBytes(node.mac("node", "hcnialpha")),
          from: macBytes(node.mac("alpha", "eth0")),
          source: parseAddress("127.0.0.1"),
          destination: to.address,
          port: to.port,
        }),
        node.linkIndex("alpha", "eth0"),
      );
    assertEquals(send(), true);
    assertEquals(server.receive(), undefined);
    const counters = node.nft("list", "chain", "inet", "headcni", "check_pod");
    assertMatch(counters, /ip saddr 127.0.0.0\/8 counter packets 1 /);
  },
});

Deno.test({
  ...needs,
  name: "ICMP redirects of pods are dropped although the source check is off",
  async fn() {
    using node = await nodeWith({ antiSpoof: false });
    using ears = openRaw(node.at("node").netns, 4, IPPROTO_ICMP);
    using mouth = openRaw(node.at("alpha").netns, 4, IPPROTO_ICMP);
    const redirect = icmpRedirect(parseAddress(ADDRESS.alpha[4]));
    mouth.send(redirect, endpoint(ADDRESS.gateway[4], 0));
    assertEquals(ears.receive(), undefined);
    removeAll(node.netfilter);
    mouth.send(redirect, endpoint(ADDRESS.gateway[4], 0));
    // Behind the 20 bytes of the IPv4 header.
    assertEquals(ears.receive()?.bytes[20], 5);
  },
});

Deno.test({
  ...needs,
  name: "the check does not stand in the way of replies",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha"));
    addPod(node.netfilter, podRules("beta"));
    for (const family of [4, 6] as const) {
      const to = endpoint(ADDRESS.alpha[family], 7000);
      for (const client of ["node", "beta", "remote"] as const) {
        const source = call(node, { protocol: "tcp", client, server: "alpha", to });
        assertEquals(source !== undefined, true, `${client} over IPv${family}`);
      }
    }
  },
});
