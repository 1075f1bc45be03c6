/** Routes, rules and neighbours as `ip` changes them. */

import { parseAddress, parsePrefix } from "../../../lib/ip/mod.ts";
import * as nl from "../../../lib/netlink/mod.ts";
import * as rt from "../../../lib/netlink/constants/rtnetlink.ts";
import { ADDRESSES, type GoldenCase, LEFT, NEIGHBOUR, ROUTE, RULE, UP } from "./case.ts";

/** Every request about routes. */
export const ROUTE_CASES: readonly GoldenCase[] = [
  {
    name: "route_add_default",
    setup: ADDRESSES,
    command: "ip route add default via 10.1.0.1 dev left",
    type: rt.RTM_NEWROUTE,
    shape: ROUTE,
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
    shape: ROUTE,
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
    shape: ROUTE,
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
    shape: ROUTE,
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
    shape: ROUTE,
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
    shape: ROUTE,
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
    shape: ROUTE,
    request: () =>
      nl.addRoute({ destination: parsePrefix("10.9.0.0/16"), type: rt.RTN_UNREACHABLE }),
  },
  {
    name: "route_replace",
    setup: ADDRESSES,
    command: "ip route replace 10.9.0.0/16 via 10.1.0.1",
    type: rt.RTM_NEWROUTE,
    shape: ROUTE,
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
    shape: ROUTE,
    request: () => nl.deleteRoute({ destination: parsePrefix("10.9.0.0/16") }),
  },
];

/** Every request about rules and neighbours. */
export const RULE_CASES: readonly GoldenCase[] = [
  {
    name: "rule_add",
    command: "ip rule add priority 5105 to 10.244.0.0/16 lookup main",
    type: rt.RTM_NEWRULE,
    shape: RULE,
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
    shape: RULE,
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
    shape: RULE,
    request: () => nl.deleteRule({ family: 4, priority: 5105 }),
  },
  {
    name: "neigh_add",
    setup: UP,
    command: "ip neigh add fd00::9 lladdr 0a:58:00:00:00:09 dev left",
    type: rt.RTM_NEWNEIGH,
    shape: NEIGHBOUR,
    request: () =>
      nl.addNeighbour({
        index: LEFT,
        address: parseAddress("fd00::9"),
        mac: "0a:58:00:00:00:09",
      }),
  },
  {
    name: "neigh_replace",
    setup: UP,
    command: "ip neigh replace 10.1.0.9 lladdr 0a:58:00:00:00:09 dev left",
    type: rt.RTM_NEWNEIGH,
    shape: NEIGHBOUR,
    request: () =>
      nl.replaceNeighbour({
        index: LEFT,
        address: parseAddress("10.1.0.9"),
        mac: "0a:58:00:00:00:09",
      }),
  },
  {
    name: "neigh_del",
    setup: [...UP, "ip neigh add fd00::9 lladdr 0a:58:00:00:00:09 dev left"],
    command: "ip neigh del fd00::9 dev left",
    type: rt.RTM_DELNEIGH,
    shape: {
      ...NEIGHBOUR,
      headerDiffers: "ip names a state (permanent), which the kernel does not look at",
    },
    request: () => nl.deleteNeighbour({ index: LEFT, address: parseAddress("fd00::9") }),
  },
];
