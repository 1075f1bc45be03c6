/** Traffic filters: send what arrives on one link through another, to shape it there. */

import type { AttributeDecoder, Draft } from "./attribute_decoder.ts";
import type { NetlinkConnection } from "./connection.ts";
import { NLM_F_CREATE, NLM_F_EXCL } from "./constants/netlink.ts";
import {
  ETH_P_ALL,
  TC_ACT_STOLEN,
  TC_H_INGRESS_HANDLE,
  TC_U32_TERMINAL,
  TCA_ACT_KIND,
  TCA_ACT_OPTIONS,
  TCA_EGRESS_REDIR,
  TCA_MIRRED_PARMS,
  TCA_U32_ACT,
  TCA_U32_SEL,
} from "./constants/pkt_sched.ts";
import { RTM_GETTFILTER, RTM_NEWTFILTER, TCA_KIND, TCA_OPTIONS } from "./constants/rtnetlink.ts";
import type { Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import { putTrafficHeader } from "./qdisc.ts";
import type { Request } from "./request.ts";

/** A filter found on a link. */
export interface Filter {
  readonly index: number;
  /** `"u32"`, `"bpf"`, … */
  readonly kind: string;
  readonly parent: number;
  /** Link that packets are redirected to. */
  readonly redirectTo: number | undefined;
}

/** `sizeof(struct tcmsg)`. */
const HEADER_BYTES = 20;
/** `sizeof(struct tc_mirred)`. */
const MIRRED_BYTES = 28;
/** `TCA_ACT_MAX_PRIO` counts from one: the first action of a filter. */
const FIRST_ACTION = 1;

/**
 * Sends every packet that arrives on link `from` out through link `to`, usually an ifb. Needs
 * an ingress qdisc on `from`. ≈ `tc filter add dev FROM parent ffff: protocol all u32 match
 * u32 0 0 action mirred egress redirect dev TO`
 *
 * u32 rather than matchall: every kernel that has ifb has it.
 */
export function redirectIngress(from: number, to: number): Request {
  // tcm_info is priority << 16 | protocol, the latter in network order; priority zero lets
  // the kernel choose.
  const info = ETH_P_ALL << 8;
  const encoder = putTrafficHeader({ index: from, handle: 0, parent: TC_H_INGRESS_HANDLE, info });
  encoder.string(TCA_KIND, "u32").nested(TCA_OPTIONS, (options) => {
    options.nested(
      TCA_U32_ACT,
      (actions) =>
        actions.nested(
          FIRST_ACTION,
          (action) =>
            action.string(TCA_ACT_KIND, "mirred").nested(TCA_ACT_OPTIONS, (mirred) =>
              mirred.bytes(TCA_MIRRED_PARMS, mirredParameters(to))),
        ),
    );
    options.bytes(TCA_U32_SEL, matchEverything());
  });
  return {
    operation: "redirect ingress",
    subject: () => `of link ${from} to link ${to}`,
    type: RTM_NEWTFILTER,
    flags: NLM_F_CREATE | NLM_F_EXCL,
    payload: encoder.finish(),
  };
}

/** Filters on what arrives. ≈ `tc filter show dev NAME ingress` */
export function listIngressFilters(connection: NetlinkConnection, index: number): Filter[] {
  const payload = putTrafficHeader({ index, handle: 0, parent: TC_H_INGRESS_HANDLE }).finish();
  const request: Request = {
    operation: "list filters",
    subject: () => `of link ${index}`,
    type: RTM_GETTFILTER,
    flags: 0,
    payload,
  };
  return connection.dump(request, decodeFilter);
}

/** The filter a message describes. */
export function decodeFilter(message: Message): Filter {
  const attributes = message.attributes(HEADER_BYTES);
  const { view, start } = message;
  const filter: Draft<Filter> = {
    index: view.getInt32(start + 4, true),
    kind: "",
    parent: view.getUint32(start + 12, true),
    redirectTo: undefined,
  };
  while (attributes.next()) {
    if (attributes.type === TCA_KIND) filter.kind = attributes.string();
    else if (attributes.type === TCA_OPTIONS && filter.kind === "u32") {
      filter.redirectTo = findRedirect(attributes.nested());
    }
  }
  return filter;
}

/** `struct tc_mirred`: index, capabilities, verdict, two counters, direction, link. */
function mirredParameters(to: number): Uint8Array {
  return new PayloadEncoder().putU32(0).putU32(0).putU32(TC_ACT_STOLEN).putU32(0).putU32(0)
    .putU32(TCA_EGRESS_REDIR).putU32(to).finish();
}

/** `struct tc_u32_sel` with one key of mask zero, which every packet satisfies. */
function matchEverything(): Uint8Array {
  const keys = 1;
  return new PayloadEncoder().putU8(TC_U32_TERMINAL).putU8(0).putU8(keys).putU8(0)
    .putBytes(new Uint8Array(12 + 16 * keys)).finish();
}

function findRedirect(options: AttributeDecoder): number | undefined {
  let to: number | undefined;
  while (options.next()) {
    if (options.type !== TCA_U32_ACT) continue;
    const actions = options.nested();
    while (actions.next()) to ??= redirectOf(actions.nested());
  }
  return to;
}

function redirectOf(action: AttributeDecoder): number | undefined {
  let kind = "";
  while (action.next()) {
    if (action.type === TCA_ACT_KIND) kind = action.string();
    if (action.type !== TCA_ACT_OPTIONS || kind !== "mirred") continue;
    const mirred = action.nested();
    while (mirred.next()) {
      if (mirred.type === TCA_MIRRED_PARMS) return mirred.struct(MIRRED_BYTES).getUint32(24, true);
    }
  }
  return undefined;
}
