/** Lists and lookups as `ip … show` asks for them. */

import { parseAddress } from "../../../lib/ip/mod.ts";
import * as nl from "../../../lib/netlink/mod.ts";
import * as rt from "../../../lib/netlink/constants/rtnetlink.ts";
import { acknowledge, fakeSocket } from "../../../lib/netlink/testing.ts";
import { listFlows, NFGENMSG_BYTES } from "../../../lib/netlink/conntrack.ts";
import {
  IPCTNL_MSG_CT_GET,
  NFNL_SUBSYS_CTNETLINK,
} from "../../../lib/netlink/constants/nfnetlink.ts";
import {
  ADDRESS,
  ADDRESSES,
  type GoldenCase,
  LEFT,
  LINK,
  NEIGHBOUR,
  ROUTE,
  RULE,
  UP,
  VETH,
} from "./case.ts";

/** Every request that reads. */
export const READ_CASES: readonly GoldenCase[] = [
  {
    name: "link_show",
    setup: [VETH],
    command: "ip link show type veth",
    type: rt.RTM_GETLINK,
    shape: {
      header: 16,
      headerDiffers: "ip asks as AF_PACKET; links have no family",
      differs: { 29: "ip also asks for virtual functions" },
      nested: LINK.nested,
    },
    request: () => recorded((connection) => nl.listLinks(connection, { kind: "veth" })),
    recorded: true,
  },
  {
    name: "addr_show",
    setup: ADDRESSES,
    command: "ip -6 addr show dev left",
    type: rt.RTM_GETADDR,
    shape: ADDRESS,
    request: () =>
      recorded((connection) => nl.listAddresses(connection, { family: 6, index: LEFT })),
    recorded: true,
  },
  {
    name: "route_show",
    setup: [...ADDRESSES, "ip route add 10.9.0.0/16 via 10.1.0.1 table 100"],
    command: "ip -4 route show table 100 dev left",
    type: rt.RTM_GETROUTE,
    shape: ROUTE,
    request: () =>
      recorded((connection) => nl.listRoutes(connection, { family: 4, table: 100, index: LEFT })),
    recorded: true,
  },
  {
    name: "route_get",
    setup: ADDRESSES,
    command: "ip route get 10.1.0.9",
    type: rt.RTM_GETROUTE,
    shape: ROUTE,
    request: () =>
      recorded((connection) => nl.getRoute(connection, { destination: parseAddress("10.1.0.9") })),
    recorded: true,
    flagsDiffer: "every request of ours asks for an acknowledgement",
  },
  {
    name: "rule_show",
    command: "ip -6 rule show",
    type: rt.RTM_GETRULE,
    shape: RULE,
    request: () => recorded((connection) => nl.listRules(connection, { family: 6 })),
    recorded: true,
  },
  {
    name: "neigh_show",
    setup: UP,
    command: "ip -4 neigh show dev left",
    type: rt.RTM_GETNEIGH,
    shape: NEIGHBOUR,
    request: () =>
      recorded((connection) => nl.listNeighbours(connection, { family: 4, index: LEFT })),
    recorded: true,
  },
  {
    name: "flow_list",
    command: "conntrack -L -f ipv6",
    type: NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET,
    shape: { header: NFGENMSG_BYTES },
    request: () => recorded((connection) => listFlows(connection, 6)),
    recorded: true,
  },
];

/** What `act` sends first. */
function recorded(act: (connection: nl.NetlinkConnection) => unknown): nl.Request {
  let sent: nl.Request | undefined;
  const socket = fakeSocket((message) => {
    const { type, flags, view, start, payloadLength } = message;
    const payload = new Uint8Array(view.buffer, view.byteOffset + start, payloadLength).slice();
    sent ??= { operation: "", type, flags, payload };
    return [acknowledge(message, { error: "EPERM" })];
  });
  try {
    act(new nl.NetlinkConnection(socket));
  } catch {
    // Refused on purpose: only the request matters.
  }
  return sent as nl.Request;
}
