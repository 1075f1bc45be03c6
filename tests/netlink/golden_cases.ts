/**
 * The same request made by `ip`, `tc` or `nft` and by us.
 *
 * `tools/capture_netlink.ts` runs the commands in a new namespace under strace and stores what
 * they send; `golden_test.ts` compares.
 */

import { parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import * as nl from "../../lib/netlink/mod.ts";
import * as tc from "../../lib/netlink/qdisc.ts";
import { NFNL_SUBSYS_NFTABLES } from "../../lib/netlink/constants/nfnetlink.ts";
import * as rt from "../../lib/netlink/constants/rtnetlink.ts";
import { redirectIngress } from "../../lib/netlink/filter.ts";
import { addSetElements, deleteSetElements } from "../../lib/netlink/nftables.ts";

/** Where fixed headers end and which attributes hold others. */
export interface Shape {
  /** Bytes before the attributes. */
  readonly header: number;
  /** Attribute type → shape of its payload. */
  readonly nested?: Readonly<Record<number, Shape>>;
  /** Attributes that are text, which ip sends without its final NUL and we with it. */
  readonly text?: readonly number[];
  /** Attribute type → why only one side has it, or why its value differs. */
  readonly differs?: Readonly<Record<number, string>>;
}

/** One comparison. */
export interface GoldenCase {
  /** Name of the fixture. */
  readonly name: string;
  /** Commands that prepare the namespace. */
  readonly setup?: readonly string[];
  /** The command whose message is compared. */
  readonly command: string;
  /** `nlmsg_type` of that message; commands also send others. */
  readonly type: number;
  readonly shape: Shape;
  readonly request: () => nl.Request;
  /** Why `nlmsg_flags` differ, if they do. */
  readonly flagsDiffer?: string;
}

/** Two ends of a veth: in a new namespace the kernel makes the peer number 2, then number 3. */
const VETH = "ip link add left type veth peer name right";
const LEFT = 3;
const RIGHT = 2;
const UP = [VETH, "ip link set left up", "ip link set right up"];
const ADDRESSES = [
  ...UP,
  "ip addr add 10.1.0.2/24 dev left",
  "ip addr add fd00::2/64 dev left nodad",
];

const link: Shape = {
  header: 16,
  nested: {
    18: { header: 0, text: [1], nested: { 2: { header: 0, nested: { 1: { header: 16 } } } } },
  },
};
const linkIntoNetns: Shape = {
  header: 16,
  nested: {
    18: {
      header: 0,
      text: [1],
      nested: {
        2: {
          header: 0,
          nested: { 1: { header: 16, differs: { 28: "the number of an open file" } } },
        },
      },
    },
  },
};
const address: Shape = { header: 8 };
const route: Shape = { header: 12, nested: { 8: { header: 0 } } };
const rule: Shape = { header: 12 };
const neighbour: Shape = { header: 12 };
const qdisc: Shape = { header: 20, nested: { 2: { header: 0 } } };
const NFT = NFNL_SUBSYS_NFTABLES << 8;
const setElements: Shape = {
  header: 4,
  nested: {
    3: {
      header: 0,
      nested: { 1: { header: 0, nested: { 1: { header: 0 }, 2: { header: 0 } } } },
    },
  },
};
const SET = { family: "inet", table: "t", set: "s" } as const;
const FLUSH_FLAGS = "nft sends the change without NLM_F_ACK and reads the errors of the batch";

const LINKS: readonly GoldenCase[] = [
  {
    name: "link_add_veth",
    command: "ip link add left mtu 1280 address 0a:58:00:00:00:01 type veth peer name right",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () =>
      nl.createVeth({
        name: "left",
        mtu: 1280,
        mac: "0a:58:00:00:00:01",
        peer: { name: "right" },
      }),
  },
  {
    name: "link_add_veth_netns",
    command: "ip link add left type veth peer name right netns NETNS",
    type: rt.RTM_NEWLINK,
    shape: linkIntoNetns,
    request: () =>
      nl.createVeth({
        name: "left",
        peer: { name: "right", netns: new nl.Netns(3, "fixture") },
      }),
  },
  {
    name: "link_add_bridge",
    command: "ip link add left type bridge stp_state 0 forward_delay 200",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () => nl.createBridge({ name: "left", spanningTree: false, forwardDelayMs: 2000 }),
  },
  {
    name: "link_add_ifb",
    command: "ip link add left type ifb",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () => nl.createIfb({ name: "left" }),
  },
  {
    name: "link_set_up",
    setup: [VETH],
    command: "ip link set left up",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () => nl.setLinkUp({ index: LEFT }),
  },
  {
    name: "link_set_down",
    setup: UP,
    command: "ip link set left down",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () => nl.setLinkDown({ index: LEFT }),
  },
  {
    name: "link_set_mtu_address",
    setup: [VETH],
    command: "ip link set left mtu 1400 address 0a:58:00:00:00:09",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () => nl.changeLink({ index: LEFT }, { mtu: 1400, mac: "0a:58:00:00:00:09" }),
  },
  {
    name: "link_set_name",
    setup: [VETH],
    command: "ip link set left name eth0",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () => nl.renameLink({ index: LEFT }, "eth0"),
  },
  {
    name: "link_set_master",
    setup: [VETH, "ip link add br0 type bridge"],
    command: "ip link set left master br0",
    type: rt.RTM_NEWLINK,
    shape: link,
    request: () => nl.setLinkMaster({ index: LEFT }, 4),
  },
  {
    name: "link_set_alias",
    setup: [VETH],
    command: "ip link set left alias pod",
    type: rt.RTM_NEWLINK,
    shape: { header: 16, text: [20] },
    request: () => nl.setLinkAlias({ index: LEFT }, "pod"),
  },
  {
    name: "link_set_netns",
    setup: [VETH],
    command: "ip link set left netns NETNS",
    type: rt.RTM_NEWLINK,
    shape: { header: 16, differs: { 28: "the number of an open file" } },
    request: () => nl.moveLink({ index: LEFT }, new nl.Netns(3, "fixture")),
  },
  {
    name: "link_del",
    setup: [VETH],
    command: "ip link del left",
    type: rt.RTM_DELLINK,
    shape: link,
    request: () => nl.deleteLink({ index: LEFT }),
  },
];

const ADDRESS_CASES: readonly GoldenCase[] = [
  {
    name: "addr_add_ipv4",
    setup: UP,
    command: "ip addr add 10.1.0.2/24 dev left noprefixroute",
    type: rt.RTM_NEWADDR,
    shape: address,
    request: () =>
      nl.addAddress({ index: LEFT, address: parsePrefix("10.1.0.2/24"), noPrefixRoute: true }),
  },
  {
    name: "addr_add_ipv6",
    setup: UP,
    command: "ip addr add fd00::2/64 dev left noprefixroute nodad",
    type: rt.RTM_NEWADDR,
    shape: address,
    request: () =>
      nl.addAddress({
        index: LEFT,
        address: parsePrefix("fd00::2/64"),
        noPrefixRoute: true,
        noDad: true,
      }),
  },
  {
    name: "addr_add_peer",
    setup: UP,
    command: "ip addr add 10.1.0.2 peer 10.1.0.1/32 dev left scope link",
    type: rt.RTM_NEWADDR,
    shape: address,
    request: () =>
      nl.addAddress({
        index: LEFT,
        address: parsePrefix("10.1.0.2/32"),
        peer: parseAddress("10.1.0.1"),
        scope: rt.RT_SCOPE_LINK,
      }),
  },
  {
    name: "addr_del",
    setup: ADDRESSES,
    command: "ip addr del 10.1.0.2/24 dev left",
    type: rt.RTM_DELADDR,
    shape: { header: 8, differs: { 1: "ip leaves out the peer; it is the address itself" } },
    request: () => nl.deleteAddress({ index: LEFT, address: parsePrefix("10.1.0.2/24") }),
  },
];

const ROUTES: readonly GoldenCase[] = [
  {
    name: "route_add_default",
    setup: ADDRESSES,
    command: "ip route add default via 10.1.0.1 dev left",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.addRoute({
        destination: parsePrefix("0.0.0.0/0"),
        gateway: parseAddress("10.1.0.1"),
        index: LEFT,
      }),
  },
  {
    name: "route_add_link_scope",
    setup: ADDRESSES,
    command: "ip route add 10.1.0.1/32 dev left src 10.1.0.2",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.addRoute({
        destination: parsePrefix("10.1.0.1/32"),
        index: LEFT,
        source: parseAddress("10.1.0.2"),
      }),
  },
  {
    name: "route_add_ipv6_metrics",
    setup: ADDRESSES,
    command: "ip -6 route add fd00:2::/64 via fd00::1 dev left metric 77 mtu 1280 advmss 1220",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.addRoute({
        destination: parsePrefix("fd00:2::/64"),
        gateway: parseAddress("fd00::1"),
        index: LEFT,
        priority: 77,
        mtu: 1280,
        advmss: 1220,
      }),
  },
  {
    name: "route_add_onlink_table",
    setup: ADDRESSES,
    command: "ip route add 10.9.0.0/16 via 192.0.2.1 dev left onlink table 51820 proto static",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.addRoute({
        destination: parsePrefix("10.9.0.0/16"),
        gateway: parseAddress("192.0.2.1"),
        index: LEFT,
        onlink: true,
        table: 51_820,
        protocol: rt.RTPROT_STATIC,
      }),
  },
  {
    name: "route_add_multipath",
    setup: ADDRESSES,
    command: "ip route add 10.9.0.0/16 nexthop via 10.1.0.3 dev left weight 1 " +
      "nexthop via 10.1.0.4 dev left weight 5",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.addRoute({
        destination: parsePrefix("10.9.0.0/16"),
        nextHops: [
          { gateway: parseAddress("10.1.0.3"), index: LEFT, weight: 1 },
          { gateway: parseAddress("10.1.0.4"), index: LEFT, weight: 5 },
        ],
      }),
  },
  {
    name: "route_add_via_ipv6",
    setup: ADDRESSES,
    command: "ip route add 10.9.0.0/16 via inet6 fd00::1 dev left",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.addRoute({
        destination: parsePrefix("10.9.0.0/16"),
        gateway: parseAddress("fd00::1"),
        index: LEFT,
      }),
  },
  {
    name: "route_add_unreachable",
    command: "ip route add unreachable 10.9.0.0/16",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.addRoute({ destination: parsePrefix("10.9.0.0/16"), type: rt.RTN_UNREACHABLE }),
  },
  {
    name: "route_replace",
    setup: ADDRESSES,
    command: "ip route replace 10.9.0.0/16 via 10.1.0.1",
    type: rt.RTM_NEWROUTE,
    shape: route,
    request: () =>
      nl.replaceRoute({
        destination: parsePrefix("10.9.0.0/16"),
        gateway: parseAddress("10.1.0.1"),
      }),
  },
  {
    name: "route_del",
    setup: [...ADDRESSES, "ip route add 10.9.0.0/16 via 10.1.0.1"],
    command: "ip route del 10.9.0.0/16",
    type: rt.RTM_DELROUTE,
    shape: route,
    request: () => nl.deleteRoute({ destination: parsePrefix("10.9.0.0/16") }),
  },
];

const OTHERS: readonly GoldenCase[] = [
  {
    name: "rule_add",
    command: "ip rule add priority 5105 to 10.244.0.0/16 lookup main",
    type: rt.RTM_NEWRULE,
    shape: rule,
    request: () =>
      nl.addRule({
        family: 4,
        priority: 5105,
        destination: parsePrefix("10.244.0.0/16"),
        table: rt.RT_TABLE_MAIN,
      }),
  },
  {
    name: "rule_add_mark",
    command: "ip -6 rule add priority 5106 from fd00::/64 fwmark 0x4000/0xff00 lookup 51820",
    type: rt.RTM_NEWRULE,
    shape: rule,
    request: () =>
      nl.addRule({
        family: 6,
        priority: 5106,
        source: parsePrefix("fd00::/64"),
        mark: 0x4000,
        markMask: 0xff00,
        table: 51_820,
      }),
  },
  {
    name: "rule_del",
    setup: ["ip rule add priority 5105 lookup 100"],
    command: "ip rule del priority 5105",
    type: rt.RTM_DELRULE,
    shape: rule,
    request: () => nl.deleteRule({ family: 4, priority: 5105 }),
  },
  {
    name: "neigh_add",
    setup: UP,
    command: "ip neigh add fd00::9 lladdr 0a:58:00:00:00:09 dev left",
    type: rt.RTM_NEWNEIGH,
    shape: neighbour,
    request: () =>
      nl.addNeighbour({
        index: LEFT,
        address: parseAddress("fd00::9"),
        mac: "0a:58:00:00:00:09",
      }),
  },
  {
    name: "qdisc_add_tbf",
    setup: [VETH],
    command: "tc qdisc add dev left root handle 1: tbf rate 10mbit burst 32000 latency 25ms",
    type: rt.RTM_NEWQDISC,
    shape: {
      header: 20,
      nested: {
        2: {
          header: 0,
          differs: {
            1: "tc fills cell_log and cell_align for its rate table",
            2: "a rate table, which kernels compute themselves since 3.8",
          },
        },
      },
    },
    request: () =>
      tc.addTokenBucket({
        index: LEFT,
        rateBytesPerSecond: 1_250_000,
        burstBytes: 32_000,
        latencyMs: 25,
        handle: 0x10000,
      }),
  },
  {
    name: "qdisc_add_ingress",
    setup: [VETH],
    command: "tc qdisc add dev left ingress",
    type: rt.RTM_NEWQDISC,
    shape: { header: 20, differs: { 2: "an empty attribute of options" } },
    request: () => tc.addIngress(LEFT),
  },
  {
    name: "qdisc_del",
    setup: [VETH, "tc qdisc add dev left root tbf rate 10mbit burst 32000 latency 25ms"],
    command: "tc qdisc del dev left root",
    type: rt.RTM_DELQDISC,
    shape: qdisc,
    request: () => tc.deleteQdisc(LEFT),
  },
  {
    name: "filter_add_redirect",
    setup: [VETH, "tc qdisc add dev left ingress"],
    command: "tc filter add dev left parent ffff: protocol all u32 match u32 0 0 " +
      "action mirred egress redirect dev right",
    type: rt.RTM_NEWTFILTER,
    shape: {
      header: 20,
      nested: {
        2: {
          header: 0,
          nested: { 7: { header: 0, nested: { 1: { header: 0, nested: { 2: { header: 0 } } } } } },
        },
      },
    },
    request: () => redirectIngress(LEFT, RIGHT),
  },
  {
    name: "set_element_add",
    setup: ["nft add table inet t", "nft add set inet t s { type ipv4_addr; }"],
    command: "nft add element inet t s { 10.1.0.7 }",
    type: NFT | 12,
    shape: { ...setElements, differs: { 4: "an id for sets made in the same transaction" } },
    request: () => first(addSetElements(SET, [{ key: parseAddress("10.1.0.7").toBytes() }])),
    flagsDiffer: FLUSH_FLAGS,
  },
  {
    name: "set_element_delete",
    setup: [
      "nft add table inet t",
      "nft add set inet t s { type ipv4_addr; elements = { 10.1.0.7 }; }",
    ],
    command: "nft delete element inet t s { 10.1.0.7 }",
    type: NFT | 14,
    shape: { ...setElements, differs: { 4: "an id for sets made in the same transaction" } },
    request: () => first(deleteSetElements(SET, [{ key: parseAddress("10.1.0.7").toBytes() }])),
    flagsDiffer: FLUSH_FLAGS,
  },
];

function first<T>(items: readonly T[]): T {
  return items[0] as T;
}

/** Every comparison. */
export const GOLDEN_CASES: readonly GoldenCase[] = [
  ...LINKS,
  ...ADDRESS_CASES,
  ...ROUTES,
  ...OTHERS,
];
