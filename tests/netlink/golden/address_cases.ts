/** Addresses as `ip addr` changes them. */

import { parseAddress, parsePrefix } from "../../../lib/ip/mod.ts";
import * as nl from "../../../lib/netlink/mod.ts";
import * as rt from "../../../lib/netlink/constants/rtnetlink.ts";
import { ADDRESS, ADDRESSES, type GoldenCase, LEFT, UP } from "./case.ts";

/** Every request about addresses. */
export const ADDRESS_CASES: readonly GoldenCase[] = [
  {
    name: "addr_add_ipv4",
    setup: UP,
    command: "ip addr add 10.1.0.2/24 dev left noprefixroute",
    type: rt.RTM_NEWADDR,
    shape: ADDRESS,
    request: () =>
      nl.addAddress({ index: LEFT, address: parsePrefix("10.1.0.2/24"), noPrefixRoute: true }),
  },
  {
    name: "addr_add_ipv6",
    setup: UP,
    command: "ip addr add fd00::2/64 dev left noprefixroute nodad",
    type: rt.RTM_NEWADDR,
    shape: ADDRESS,
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
    shape: ADDRESS,
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
