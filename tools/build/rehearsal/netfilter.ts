/** nftables and connection tracking of a rehearsal: our tables are loaded, everything succeeds. */

import { expectedChains } from "../../../lib/firewall/render.ts";
import { RULESET } from "../../../lib/firewall/ruleset.ts";
import { NLM_F_ACK, NLM_F_DUMP } from "../../../lib/netlink/constants/netlink.ts";
import * as nf from "../../../lib/netlink/constants/nfnetlink.ts";
import { NFGENMSG_BYTES, putNetfilterHeader } from "../../../lib/netlink/conntrack.ts";
import { type Message } from "../../../lib/netlink/message.ts";
import { FAMILIES } from "../../../lib/netlink/nftables.ts";
import { acknowledge, multipart, reply } from "../../../lib/netlink/testing.ts";

const NFTABLES = nf.NFNL_SUBSYS_NFTABLES << 8;

/** What the kernel would answer on a node whose rules are in place. */
export function answerNetfilter(request: Message): Uint8Array<ArrayBuffer>[] {
  if ((request.flags & NLM_F_DUMP) === NLM_F_DUMP) return multipart(request, []);
  return [
    ...answerOf(request),
    ...(request.flags & NLM_F_ACK) === 0 ? [] : [acknowledge(request)],
  ];
}

function answerOf(request: Message): Uint8Array<ArrayBuffer>[] {
  switch (request.type) {
    case NFTABLES | nf.NFT_MSG_GETCHAIN: {
      const payload = putNetfilterHeader(0).be32(nf.NFTA_CHAIN_USE, usesOf(request)).finish();
      return [reply(request, { type: NFTABLES | nf.NFT_MSG_GETCHAIN, payload })];
    }
    case NFTABLES | nf.NFT_MSG_GETSETELEM:
      // What is asked for is what is there.
      return [
        reply(request, { type: NFTABLES | nf.NFT_MSG_GETSETELEM, payload: bytesOf(request) }),
      ];
    default:
      return [];
  }
}

function usesOf(request: Message): number {
  const number = request.view.getUint8(request.start); // `nfgen_family`
  const attributes = request.attributes(NFGENMSG_BYTES);
  while (attributes.next()) {
    if (attributes.type !== nf.NFTA_CHAIN_NAME) continue;
    const name = attributes.string();
    return expectedChains(RULESET)
      .find(({ family, chain }) => FAMILIES[family] === number && chain === name)?.uses ?? 0;
  }
  return 0;
}

function bytesOf({ view, start, payloadLength }: Message): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + start, payloadLength).slice();
}
