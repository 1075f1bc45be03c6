/**
 * The base ruleset as data: every set, map, chain and rule of the tables `inet headcni` and
 * `arp headcni`. `render.ts` makes text of it, `elements.ts` fills the sets.
 *
 * | chain          | hook        | priority | type   | why there                                         |
 * | -------------- | ----------- | -------- | ------ | ------------------------------------------------- |
 * | from_pods      | prerouting  | −305     | filter | before connection tracking (−200) and before raw  |
 * |                |             |          |        | (−300): forged packets make no state, and replies |
 * |                |             |          |        | to a node's loopback still bear their wire address |
 * | host_ports_in  | prerouting  | −95      | nat    | after kube-proxy and Docker (dstnat, −100): a     |
 * |                |             |          |        | NodePort wins over a hostPort                     |
 * | host_ports_out | output      | −95      | nat    | the same for clients on the node                  |
 * | forward        | forward     | −5       | filter | after all NAT of destinations, before the filters |
 * |                |             |          |        | (0) of kube-proxy, Docker, firewalld; the place   |
 * |                |             |          |        | of network policy                                 |
 * | postrouting    | postrouting | 95       | nat    | before everyone's masquerade (srcnat, 100): what  |
 * |                |             |          |        | we decide is not decided again; what we leave     |
 * |                |             |          |        | alone, they still see                             |
 * | from_pods      | input (arp) | 0        | filter | the only hook ARP has on its way in               |
 *
 * `accept` and the end of a chain only end that chain: every other table is asked too, and any
 * of them may drop. Nothing here opens what someone else closed.
 *
 * A set's name stands for its definition: who changes a type gives it a new name, because
 * loading keeps the sets that are there, and their elements.
 */

import type { FieldType } from "./field.ts";

/** The name of both tables. */
export const TABLE = "headcni";

/** The host end of every pod's veth begins with this. */
export const HOST_INTERFACE_PREFIX = "hcni";

/** A set, or a map if it has a `value`. */
export interface SetDefinition {
  readonly name: string;
  readonly key: readonly FieldType[];
  readonly value?: readonly FieldType[];
  /** Holds prefixes: looked up in a tree, so never for what every pod adds to. */
  readonly interval?: boolean;
  /** What it holds from the start, in `nft` syntax. */
  readonly elements?: readonly string[];
}

/** One rule; `why` is shown by `nft list`. */
export interface Rule {
  readonly text: string;
  readonly why: string;
}

/** A chain; without `hook`, one that others jump to. */
export interface ChainDefinition {
  readonly name: string;
  readonly hook?: { readonly type: string; readonly hook: string; readonly priority: number };
  readonly rules: readonly Rule[];
}

/** A table with all it holds. */
export interface TableDefinition {
  readonly family: "inet" | "arp";
  readonly sets: readonly SetDefinition[];
  readonly chains: readonly ChainDefinition[];
}

/** What is loaded together, in one transaction. */
export interface Ruleset {
  /**
   * Tells this ruleset from others. Written down rather than computed, because the plugin asks
   * for it at every pod start; a test compares it with the text.
   */
  readonly fingerprint: string;
  readonly tables: readonly TableDefinition[];
}

/** Interfaces whose packets are not checked. */
const UNCHECKED: SetDefinition = { name: "unchecked", key: ["ifname"] };

/** Addresses a pod may send from, with the interface it sends by. */
const SOURCE4: SetDefinition = { name: "source4", key: ["ifname", "ipv4_addr"] };

/** What a host port leads to. */
const TARGET4: readonly FieldType[] = ["ipv4_addr", "inet_service"];
const TARGET6: readonly FieldType[] = ["ipv6_addr", "inet_service"];
const PORT: readonly FieldType[] = ["inet_proto", "inet_service"];

const FROM_POD = `iifname "${HOST_INTERFACE_PREFIX}*"`;
const TO_POD = `oifname "${HOST_INTERFACE_PREFIX}*"`;

/** Neighbour discovery and multicast membership: all that needs a link-local source. */
const LINK_LOCAL_TYPES = "{ mld-listener-report, mld-listener-done, nd-router-solicit, " +
  "nd-neighbor-solicit, nd-neighbor-advert, mld2-listener-report }";

const INET_SETS: readonly SetDefinition[] = [
  UNCHECKED,
  SOURCE4,
  { name: "source6", key: ["ifname", "ipv6_addr"] },
  { name: "masquerade4", key: ["ipv4_addr"] },
  { name: "masquerade6", key: ["ipv6_addr"] },
  { name: "cluster4", key: ["ipv4_addr"], interval: true },
  { name: "cluster6", key: ["ipv6_addr"], interval: true },
  { name: "host_port4", key: PORT, value: TARGET4 },
  { name: "host_port6", key: PORT, value: TARGET6 },
  { name: "host_port_ip4", key: ["ipv4_addr", ...PORT], value: TARGET4 },
  { name: "host_port_ip6", key: ["ipv6_addr", ...PORT], value: TARGET6 },
  { name: "hairpin4", key: ["ipv4_addr", "ipv4_addr"] },
  { name: "hairpin6", key: ["ipv6_addr", "ipv6_addr"] },
  { name: "tunnels", key: ["ifname"], elements: ['"tailscale0"', '"headcni01"'] },
];

const CHECK_POD: ChainDefinition = {
  name: "check_pod",
  rules: [
    // route_localnet on the veth, which host ports on 127.0.0.1 need, would let these in.
    { text: "ip daddr 127.0.0.0/8 counter drop", why: "the node's loopback is not for pods" },
    { text: "ip saddr 127.0.0.0/8 counter drop", why: "loopback does not come over a link" },
    { text: "icmp type redirect counter drop", why: "pods are no routers" },
    {
      text: "icmpv6 type { nd-router-advert, nd-redirect } counter drop",
      why: "pods are no routers",
    },
    { text: "iifname . ip saddr @source4 accept", why: "its own address" },
    { text: "iifname . ip6 saddr @source6 accept", why: "its own address" },
    { text: "iifname @unchecked accept", why: "source check is off" },
    {
      text: `ip6 saddr fe80::/10 icmpv6 type ${LINK_LOCAL_TYPES} accept`,
      why: "neighbour discovery, multicast membership",
    },
    {
      text: `ip6 saddr :: icmpv6 type ${LINK_LOCAL_TYPES} accept`,
      why: "duplicate address detection",
    },
    { text: "counter drop", why: "not an address of this pod" },
  ],
};

const HOST_PORT_CHAINS: readonly ChainDefinition[] = [
  {
    name: "host_ports_in",
    hook: { type: "nat", hook: "prerouting", priority: -95 },
    rules: [
      // Translation comes before routing, which would refuse such a packet: without this rule
      // a neighbour on the network reaches ports that are bound to 127.0.0.1. For ::1 the
      // kernel has its own test, in ip6_rcv_core(), before this hook.
      { text: "ip daddr 127.0.0.0/8 return", why: "loopback does not come over a link" },
      { text: "fib daddr type local jump host_ports", why: "only addresses of this node" },
    ],
  },
  {
    name: "host_ports_out",
    hook: { type: "nat", hook: "output", priority: -95 },
    rules: [
      // The call would arrive, but not the answer: for ::1 the kernel takes only routes of the
      // interface a packet came by (rt6_need_strict() in net/ipv6/route.c), and IPv6 has no
      // route_localnet. Left alone, the client is refused at once and tries 127.0.0.1.
      { text: "ip6 daddr ::1 return", why: "answers could not come back" },
      { text: "fib daddr type local jump host_ports", why: "only addresses of this node" },
    ],
  },
  {
    name: "host_ports",
    rules: [
      {
        text: "dnat ip to ip daddr . meta l4proto . th dport map @host_port_ip4",
        why: "one address of the node",
      },
      {
        text: "dnat ip6 to ip6 daddr . meta l4proto . th dport map @host_port_ip6",
        why: "one address of the node",
      },
      // Without nfproto the lookup would be made for both families.
      {
        text: "meta nfproto ipv4 dnat ip to meta l4proto . th dport map @host_port4",
        why: "any address of the node",
      },
      {
        text: "meta nfproto ipv6 dnat ip6 to meta l4proto . th dport map @host_port6",
        why: "any address of the node",
      },
    ],
  },
];

const POSTROUTING_CHAINS: readonly ChainDefinition[] = [
  {
    name: "postrouting",
    hook: { type: "nat", hook: "postrouting", priority: 95 },
    rules: [
      { text: `${TO_POD} goto to_pod`, why: "pods of this node see who calls" },
      { text: "ip saddr @masquerade4 goto to_outside", why: "from a pod with ipMasq" },
      { text: "ip6 saddr @masquerade6 goto to_outside", why: "from a pod with ipMasq" },
    ],
  },
  {
    name: "to_pod",
    rules: [
      // Only a host port leads here: nothing else makes loopback leave the node.
      {
        text: "ip saddr 127.0.0.0/8 masquerade fully-random",
        why: "host port, client on the node's loopback",
      },
      {
        text: "ip saddr . ip daddr @hairpin4 masquerade fully-random",
        why: "a pod calls its own host port",
      },
      {
        text: "ip6 saddr . ip6 daddr @hairpin6 masquerade fully-random",
        why: "a pod calls its own host port",
      },
    ],
  },
  {
    name: "to_outside",
    rules: [
      { text: "ip daddr @cluster4 return", why: "pods of all nodes see who calls" },
      { text: "ip6 daddr @cluster6 return", why: "pods of all nodes see who calls" },
      {
        text: "ip daddr { 169.254.0.0/16, 224.0.0.0/4, 255.255.255.255 } return",
        why: "link-local, multicast, broadcast",
      },
      { text: "ip6 daddr { fe80::/10, ff00::/8 } return", why: "link-local, multicast" },
      // The tailnet too: a peer that accepts no routes can answer the node, not a pod.
      { text: "masquerade fully-random", why: "everyone else answers to the node" },
    ],
  },
];

const TABLES: readonly TableDefinition[] = [
  {
    family: "inet",
    sets: INET_SETS,
    chains: [
      {
        name: "from_pods",
        hook: { type: "filter", hook: "prerouting", priority: -305 },
        rules: [{ text: `${FROM_POD} goto check_pod`, why: "source check" }],
      },
      CHECK_POD,
      ...HOST_PORT_CHAINS,
      {
        name: "forward",
        hook: { type: "filter", hook: "forward", priority: -5 },
        rules: [{
          text: "oifname @tunnels tcp flags syn / syn,rst tcp option maxseg size set rt mtu",
          why: "path MTU discovery often fails through tunnels",
        }],
      },
      ...POSTROUTING_CHAINS,
    ],
  },
  {
    family: "arp",
    sets: [UNCHECKED, SOURCE4],
    chains: [
      {
        name: "from_pods",
        hook: { type: "filter", hook: "input", priority: 0 },
        rules: [{ text: `${FROM_POD} goto check_pod`, why: "sender check" }],
      },
      {
        name: "check_pod",
        rules: [
          { text: "iifname . arp saddr ip @source4 accept", why: "its own address" },
          { text: "iifname @unchecked accept", why: "source check is off" },
          { text: "arp saddr ip 0.0.0.0 accept", why: "address probe, RFC 5227; teaches nothing" },
          { text: "counter drop", why: "not an address of this pod" },
        ],
      },
    ],
  },
];

/** The ruleset this version of the program loads. */
export const RULESET: Ruleset = { fingerprint: "5b90b81f", tables: TABLES };
