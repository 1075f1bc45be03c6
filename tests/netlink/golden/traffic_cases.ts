/** Traffic control and set elements as `tc` and `nft` change them. */

import { parseAddress } from "../../../lib/ip/mod.ts";
import type { Request } from "../../../lib/netlink/mod.ts";
import { NFNL_SUBSYS_NFTABLES } from "../../../lib/netlink/constants/nfnetlink.ts";
import * as rt from "../../../lib/netlink/constants/rtnetlink.ts";
import { redirectIngress } from "../../../lib/netlink/filter.ts";
import { addSetElements, deleteSetElements } from "../../../lib/netlink/nftables.ts";
import * as tc from "../../../lib/netlink/qdisc.ts";
import { type GoldenCase, LEFT, RIGHT, type Shape, VETH } from "./case.ts";

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

/** Every request about queues, filters and sets. */
export const TRAFFIC_CASES: readonly GoldenCase[] = [
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

function first(requests: readonly Request[]): Request {
  return requests[0] as Request;
}
