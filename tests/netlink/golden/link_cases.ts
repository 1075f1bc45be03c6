/** Links as `ip link` changes them. */

import * as nl from "../../../lib/netlink/mod.ts";
import * as rt from "../../../lib/netlink/constants/rtnetlink.ts";
import { type GoldenCase, LEFT, LINK, type Shape, UP, VETH } from "./case.ts";

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
/** Every request about links. */
export const LINK_CASES: readonly GoldenCase[] = [
  {
    name: "link_add_veth",
    command: "ip link add left mtu 1280 address 0a:58:00:00:00:01 type veth peer name right",
    type: rt.RTM_NEWLINK,
    shape: LINK,
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
    shape: LINK,
    request: () => nl.createBridge({ name: "left", spanningTree: false, forwardDelayMs: 2000 }),
  },
  {
    name: "link_add_ifb",
    command: "ip link add left type ifb",
    type: rt.RTM_NEWLINK,
    shape: LINK,
    request: () => nl.createIfb({ name: "left" }),
  },
  {
    name: "link_set_up",
    setup: [VETH],
    command: "ip link set left up",
    type: rt.RTM_NEWLINK,
    shape: LINK,
    request: () => nl.setLinkUp({ index: LEFT }),
  },
  {
    name: "link_set_down",
    setup: UP,
    command: "ip link set left down",
    type: rt.RTM_NEWLINK,
    shape: LINK,
    request: () => nl.setLinkDown({ index: LEFT }),
  },
  {
    name: "link_set_mtu_address",
    setup: [VETH],
    command: "ip link set left mtu 1400 address 0a:58:00:00:00:09",
    type: rt.RTM_NEWLINK,
    shape: LINK,
    request: () => nl.changeLink({ index: LEFT }, { mtu: 1400, mac: "0a:58:00:00:00:09" }),
  },
  {
    name: "link_set_name",
    setup: [VETH],
    command: "ip link set left name eth0",
    type: rt.RTM_NEWLINK,
    shape: LINK,
    request: () => nl.renameLink({ index: LEFT }, "eth0"),
  },
  {
    name: "link_set_master",
    setup: [VETH, "ip link add br0 type bridge"],
    command: "ip link set left master br0",
    type: rt.RTM_NEWLINK,
    shape: LINK,
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
    shape: LINK,
    request: () => nl.deleteLink({ index: LEFT }),
  },
];
