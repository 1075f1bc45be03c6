/**
 * Captures what the kernel answers to lists, as material for the mutation test of lib/netlink.
 *
 * Fills a network namespace with one of everything, lists it, and stores the first datagram of
 * each list. Needs root, nft and conntrack.
 *
 * ```sh
 * deno run -A tools/capture_netlink_replies.ts
 * ```
 */

import { listAddresses } from "../lib/netlink/address.ts";
import { NetlinkConnection } from "../lib/netlink/connection.ts";
import { NETLINK_NETFILTER, NETLINK_ROUTE } from "../lib/netlink/constants/netlink.ts";
import { listFlows } from "../lib/netlink/conntrack.ts";
import { listIngressFilters } from "../lib/netlink/filter.ts";
import { deleteLink, getLink, listLinks } from "../lib/netlink/link.ts";
import { createNetns, deleteNetns } from "../lib/netlink/named_netns.ts";
import { listNeighbours } from "../lib/netlink/neighbour.ts";
import { listSetElements } from "../lib/netlink/nftables.ts";
import { listQdiscs } from "../lib/netlink/qdisc.ts";
import { listRoutes } from "../lib/netlink/route.ts";
import { listRules } from "../lib/netlink/rule.ts";
import { type NetlinkSocket, openSocket } from "../lib/netlink/socket.ts";

const FIXTURES = new URL("../tests/fixtures/netlink_replies/", import.meta.url);
const NAMESPACE = "hcnt-replies";
/** Enough for a few messages of a kind. */
const MAX_BYTES = 4096;

const SETUP: readonly string[] = [
  "ip link add left mtu 1400 type veth peer name right",
  "ip link add br0 type bridge",
  "ip link set right master br0",
  "ip link set left alias grün",
  "ip link set left up",
  "ip link set right up",
  "ip addr add 10.1.0.2/24 dev left noprefixroute",
  "ip addr add 10.1.0.3 peer 10.1.0.4/32 dev left",
  "ip addr add fd00::2/64 dev left nodad",
  "ip route add 10.1.0.1/32 dev left",
  "ip route add default via 10.1.0.1 dev left mtu 1280 advmss 1240",
  "ip route add 10.9.0.0/16 nexthop via 10.1.0.1 dev left nexthop via 10.1.0.1 dev left weight 3",
  "ip route add 10.8.0.0/16 via inet6 fd00::1 dev left",
  "ip route add unreachable 10.7.0.0/16 metric 77 table 51820",
  "ip -6 route add fd00:9::/64 via fd00::1 dev left",
  "ip rule add priority 5105 from 10.0.0.0/8 to 10.244.0.0/16 fwmark 0x40/0xff lookup 51820",
  "ip -6 rule add priority 5106 not from fd00::/64 iif lo lookup main suppress_prefixlength 0",
  "ip neigh add 10.1.0.9 lladdr 0a:58:00:00:00:09 dev left",
  "ip neigh add fd00::9 lladdr 0a:58:00:00:00:09 dev left",
  "tc qdisc add dev left root tbf rate 10mbit burst 32000 latency 25ms",
  "tc qdisc add dev left ingress",
  "tc filter add dev left parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev right",
  "nft add table inet t",
  "nft add map inet t m { type ipv4_addr : ipv4_addr; flags interval; }",
  "nft add element inet t m { 10.0.0.0/24 : 10.1.0.1, 10.2.0.0-10.2.0.9 : 10.1.0.2 }",
  "nft add chain inet t c { type filter hook input priority 0; }",
  "nft add rule inet t c ct state new accept",
  "conntrack -I -p udp -t 300 -s 10.1.0.7 -d 10.9.0.1 --sport 1001 --dport 53",
  "conntrack -I -p tcp -t 300 -s fd00::7 -d fd00:9::1 --sport 1001 --dport 80 --state ESTABLISHED",
];

function run(command: string): void {
  const args = ["netns", "exec", NAMESPACE, ...command.split(" ")];
  const { success, stderr } = new Deno.Command("ip", { args, stdin: "null" }).outputSync();
  if (!success) throw new Error(`Cannot run ${command}: ${new TextDecoder().decode(stderr)}`);
}

/** A socket that keeps what it receives. */
function recording(socket: NetlinkSocket, datagrams: Uint8Array[]): NetlinkSocket {
  return {
    portId: socket.portId,
    send: (datagram) => socket.send(datagram),
    sendAside: (datagram) => socket.sendAside(datagram),
    receive() {
      const datagram = socket.receive();
      datagrams.push(datagram.slice());
      return datagram;
    },
    [Symbol.dispose]: () => socket[Symbol.dispose](),
  };
}

/** Whole messages from the beginning of a datagram, up to the size of a fixture. */
function trim(datagram: Uint8Array): Uint8Array {
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  let end = 0;
  while (end < datagram.length) {
    const next = end + ((view.getUint32(end, true) + 3) & ~3);
    if (next > MAX_BYTES && end > 0) break;
    end = next;
  }
  return datagram.slice(0, end);
}

type Act = (connection: NetlinkConnection) => unknown;

const SET = { family: "inet", table: "t", set: "m" } as const;
const CAPTURES: readonly [string, number, Act][] = [
  ["link", NETLINK_ROUTE, (connection) => listLinks(connection)],
  ["address", NETLINK_ROUTE, (connection) => listAddresses(connection)],
  ["route_ipv4", NETLINK_ROUTE, (connection) => listRoutes(connection, { family: 4 })],
  ["route_ipv6", NETLINK_ROUTE, (connection) => listRoutes(connection, { family: 6 })],
  ["rule_ipv4", NETLINK_ROUTE, (connection) => listRules(connection, { family: 4 })],
  ["rule_ipv6", NETLINK_ROUTE, (connection) => listRules(connection, { family: 6 })],
  ["neighbour", NETLINK_ROUTE, (connection) => listNeighbours(connection)],
  ["qdisc", NETLINK_ROUTE, (connection) => listQdiscs(connection)],
  ["filter", NETLINK_ROUTE, (connection) => {
    return listIngressFilters(connection, getLink(connection, { name: "left" }).index);
  }],
  ["error", NETLINK_ROUTE, (connection) => connection.exchange([deleteLink({ index: 999 })])],
  ["flow_ipv4", NETLINK_NETFILTER, (connection) => listFlows(connection, 4)],
  ["flow_ipv6", NETLINK_NETFILTER, (connection) => listFlows(connection, 6)],
  ["set_elements", NETLINK_NETFILTER, (connection) => listSetElements(connection, SET)],
];

if (import.meta.main) {
  Deno.mkdirSync(FIXTURES, { recursive: true });
  using netns = createNetns(NAMESPACE);
  try {
    SETUP.forEach(run);
    for (const [name, protocol, act] of CAPTURES) {
      const datagrams: Uint8Array[] = [];
      using connection = new NetlinkConnection(
        recording(openSocket({ netns, protocol }), datagrams),
      );
      act(connection);
      // A filter's link is looked up first: what counts is the longest answer.
      const [longest] = datagrams.toSorted((a, b) => b.length - a.length);
      if (longest === undefined) throw new Error(`Cannot capture ${name}: no answer`);
      const hex = Array.from(trim(longest), (byte) => byte.toString(16).padStart(2, "0"));
      const lines = [`# ${name}; Linux ${Deno.osRelease()}`];
      for (let at = 0; at < hex.length; at += 32) lines.push(hex.slice(at, at + 32).join(" "));
      Deno.writeTextFileSync(new URL(`${name}.txt`, FIXTURES), `${lines.join("\n")}\n`);
    }
  } finally {
    deleteNetns(NAMESPACE);
  }
}
