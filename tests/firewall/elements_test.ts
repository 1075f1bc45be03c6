/** Set elements, compared with what `nft -j` says. */

import { assertEquals, assertThrows } from "@std/assert";
import {
  addPod,
  listPods,
  podDifferences,
  removeOwned,
  removePod,
  removeStalePods,
  RulesetMissingError,
  setClusterNetworks,
  setTunnels,
  stalePods,
} from "../../lib/firewall/mod.ts";
import type { PodRules } from "../../lib/firewall/mod.ts";
import { parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { podRules, TestNode } from "./node.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));

/** All elements on the node as `nft -j` prints them, by set; empty sets are left out. */
function shown(node: TestNode): Record<string, unknown> {
  const sets: Record<string, unknown> = {};
  for (const item of JSON.parse(node.nft("-j", "list", "ruleset")).nftables) {
    const set = item.set ?? item.map;
    // Hash sets have no order of their own.
    const elements = set?.elem?.toSorted((a: unknown, b: unknown) => {
      return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
    });
    if (elements !== undefined) sets[`${set.family} ${set.name}`] = elements;
  }
  return sets;
}

const DEFAULT_TUNNELS = { "inet tunnels": ["headcni01", "tailscale0"] };

/** The same element with its owner as comment. */
function owned(val: unknown): unknown {
  return { elem: { val, comment: "hcnialpha" } };
}

const HOST_PORTS: PodRules["hostPorts"] = [
  { protocol: "tcp", hostPort: 8080, containerPort: 80 },
  { protocol: "sctp", hostPort: 9000, containerPort: 9, hostIp: parseAddress("192.0.2.1") },
  { protocol: "udp", hostPort: 53, containerPort: 5353, hostIp: parseAddress("2001:db8::1") },
];

Deno.test({
  ...needs,
  name: "nft shows a pod's elements as they were meant, and none after its removal",
  async fn() {
    using node = new TestNode();
    await node.load();
    const pod = podRules("alpha", { hostPorts: HOST_PORTS });
    addPod(node.netfilter, pod);
    assertEquals(shown(node), {
      ...DEFAULT_TUNNELS,
      "inet source4": [{ concat: ["hcnialpha", "10.244.3.2"] }],
      "inet source6": [{ concat: ["hcnialpha", "fd00:3::2"] }],
      "arp source4": [{ concat: ["hcnialpha", "10.244.3.2"] }],
      "inet masquerade4": [owned("10.244.3.2")],
      "inet masquerade6": [owned("fd00:3::2")],
      "inet host_port4": [[owned({ concat: ["tcp", 8080] }), { concat: ["10.244.3.2", 80] }]],
      "inet host_port6": [[owned({ concat: ["tcp", 8080] }), { concat: ["fd00:3::2", 80] }]],
      "inet host_port_ip4": [
        [owned({ concat: ["192.0.2.1", "sctp", 9000] }), { concat: ["10.244.3.2", 9] }],
      ],
      "inet host_port_ip6": [
        [owned({ concat: ["2001:db8::1", "udp", 53] }), { concat: ["fd00:3::2", 5353] }],
      ],
      "inet hairpin4": [owned({ concat: ["10.244.3.2", "10.244.3.2"] })],
      "inet hairpin6": [owned({ concat: ["fd00:3::2", "fd00:3::2"] })],
    });
    removePod(node.netfilter, pod);
    removePod(node.netfilter, pod);
    assertEquals(shown(node), DEFAULT_TUNNELS);
  },
});

Deno.test({
  ...needs,
  name: "with every switch off a pod is an entry in the lists of unchecked interfaces",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha", { antiSpoof: false, masquerade: false }));
    assertEquals(shown(node), {
      ...DEFAULT_TUNNELS,
      "inet unchecked": ["hcnialpha"],
      "arp unchecked": ["hcnialpha"],
    });
  },
});

Deno.test({
  ...needs,
  name: "a check tells what is missing, what leads elsewhere and what should not be there",
  async fn() {
    using node = new TestNode();
    await node.load();
    const pod = podRules("alpha", { hostPorts: HOST_PORTS });
    addPod(node.netfilter, pod);
    assertEquals(podDifferences(node.netfilter, pod), []);
    node.nft("delete element inet headcni source4 { hcnialpha . 10.244.3.2 }");
    node.nft("add element inet headcni unchecked { hcnialpha }");
    node.nft("delete element inet headcni host_port4 { tcp . 8080 }");
    node.nft("add element inet headcni host_port4 { tcp . 8080 : 10.244.3.9 . 80 }");
    assertEquals(podDifferences(node.netfilter, pod), [
      "inet headcni source4 { hcnialpha . 10.244.3.2 } is missing",
      "inet headcni host_port4 { tcp . 8080 : 10.244.3.9 . 80 } leads elsewhere than to " +
      "10.244.3.2 . 80",
      "inet headcni unchecked { hcnialpha } should not be there",
    ]);
    node.nft("delete", "table", "inet", "headcni");
    assertEquals(podDifferences(node.netfilter, pod).length, 10);
  },
});

Deno.test({
  ...needs,
  name: "an address that a dead pod left behind is taken over by the next pod",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha", { hostPorts: HOST_PORTS }));
    const next = podRules("alpha", { hostInterface: "hcninext", hostPorts: HOST_PORTS });
    addPod(node.netfilter, next);
    removeStalePods(node.netfilter, stalePods(node.netfilter, new Set(["hcninext"])));
    assertEquals(podDifferences(node.netfilter, next), []);
    assertEquals(listPods(node.netfilter).map((pod) => pod.hostInterface), ["hcninext"]);
  },
});

Deno.test({
  ...needs,
  name: "a pod that comes again with another address is not in its own way",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha", { hostPorts: HOST_PORTS }));
    const again = podRules("alpha", {
      addresses: [parseAddress("10.244.3.77")],
      hostPorts: HOST_PORTS,
    });
    addPod(node.netfilter, again);
    assertEquals(podDifferences(node.netfilter, again), []);
    removePod(node.netfilter, again);
    assertEquals(shown(node), DEFAULT_TUNNELS);
  },
});

Deno.test({
  ...needs,
  name: "owners are listed, and the elements of stale ones removed",
  async fn() {
    using node = new TestNode();
    await node.load();
    const alpha = podRules("alpha", { hostPorts: HOST_PORTS });
    addPod(node.netfilter, alpha);
    addPod(node.netfilter, podRules("beta"));
    node.nft("add element inet headcni masquerade4 { 203.0.113.1 }");
    const owners = () => listPods(node.netfilter).map((pod) => pod.hostInterface).sort();
    assertEquals(owners(), ["hcnialpha", "hcnibeta"]);
    const stale = stalePods(node.netfilter, new Set(["hcnibeta"]));
    assertEquals(stale.map((pod) => [pod.hostInterface, pod.elements.length]), [["hcnialpha", 11]]);
    removeStalePods(node.netfilter, stale);
    assertEquals(owners(), ["hcnibeta"]);
    assertEquals(podDifferences(node.netfilter, podRules("beta")), []);
    removeOwned(node.netfilter, "hcnibeta");
    // An element without an owner is somebody's own: it stays.
    assertEquals(shown(node), { ...DEFAULT_TUNNELS, "inet masquerade4": ["203.0.113.1"] });
  },
});

Deno.test({
  ...needs,
  name: "restoring pods tells which could not be, and restores the rest",
  async fn() {
    using node = new TestNode();
    const alpha = podRules("alpha", { hostPorts: HOST_PORTS });
    const beta = podRules("beta", { hostPorts: HOST_PORTS });
    const wrong = { ...beta, hostInterface: "veth1" };
    const failures: string[] = [];
    await node.load({
      knownPods: () => [wrong, alpha, beta],
      onFailure: ({ message }) => failures.push(message),
    });
    assertEquals(failures.slice(0, 2), [
      "Cannot make rules for veth1: the rules are for interfaces that begin with hcni",
      "Cannot map host port tcp 8080 to hcnibeta: it leads to 10.244.3.2 port 80 (hcnialpha)",
    ]);
    assertEquals(podDifferences(node.netfilter, alpha), []);
    // All but the ports: without its addresses it could not send at all.
    assertEquals(podDifferences(node.netfilter, podRules("beta")), []);
  },
});

Deno.test({
  ...needs,
  name: "without tables adding is a typed error, removing and listing find nothing to do",
  fn() {
    using node = new TestNode();
    const pod = podRules("alpha", { hostPorts: HOST_PORTS });
    assertThrows(() => addPod(node.netfilter, pod), RulesetMissingError);
    assertThrows(() => setTunnels(node.netfilter, ["x"]), RulesetMissingError);
    removePod(node.netfilter, pod);
    assertEquals(listPods(node.netfilter), []);
  },
});

Deno.test({
  ...needs,
  name: "rules that cannot be carried out do not keep a pod from being removed",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha"));
    const hostPorts = [{ protocol: "tcp", hostPort: 0, containerPort: 80 }] as const;
    removePod(node.netfilter, podRules("alpha", { hostPorts }));
    assertEquals(shown(node), DEFAULT_TUNNELS);
  },
});

Deno.test({
  ...needs,
  name: "the node's sets hold what was set last, merged where it overlaps",
  async fn() {
    using node = new TestNode();
    await node.load();
    const set = (...prefixes: readonly string[]) =>
      setClusterNetworks(node.netfilter, prefixes.map((text) => parsePrefix(text)));
    set("10.244.0.0/16", "10.244.3.0/24", "10.245.0.0/16", "fd00::/48", "240.0.0.0/4");
    const prefix = (addr: string, len: number) => ({ prefix: { addr, len } });
    assertEquals(shown(node), {
      ...DEFAULT_TUNNELS,
      "inet cluster4": [prefix("10.244.0.0", 15), prefix("240.0.0.0", 4)],
      "inet cluster6": [prefix("fd00::", 48)],
    });
    set("10.0.0.0/8");
    setTunnels(node.netfilter, ["headcni01", "headcni01"]);
    assertEquals(shown(node), {
      "inet tunnels": ["headcni01"],
      "inet cluster4": [prefix("10.0.0.0", 8)],
    });
  },
});
