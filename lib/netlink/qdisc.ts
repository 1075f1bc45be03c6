/** Queueing disciplines that limit bandwidth. */

import type { AttributeDecoder, Draft } from "./attribute_decoder.ts";
import type { NetlinkConnection } from "./connection.ts";
import { NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from "./constants/netlink.ts";
import {
  TC_H_INGRESS,
  TC_H_INGRESS_HANDLE,
  TC_H_ROOT,
  TC_LINKLAYER_ETHERNET,
  TCA_TBF_BURST,
  TCA_TBF_PARMS,
  TCA_TBF_RATE64,
} from "./constants/pkt_sched.ts";
import {
  RTM_DELQDISC,
  RTM_GETQDISC,
  RTM_NEWQDISC,
  TCA_KIND,
  TCA_OPTIONS,
} from "./constants/rtnetlink.ts";
import { InvalidRequestError } from "./errors.ts";
import type { Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** A token bucket: so many bytes per second, and so many at once. */
export interface TokenBucketSpec {
  /** Link index. */
  readonly index: number;
  readonly rateBytesPerSecond: number;
  /** Size of the bucket; at least one packet, and what arrives per timer tick. */
  readonly burstBytes: number;
  /** Packets that would wait longer are dropped. */
  readonly latencyMs: number;
  /** Number of the qdisc: major << 16. Chosen by the kernel if absent. */
  readonly handle?: number;
}

/** A token bucket found on a link. */
export interface TokenBucket {
  readonly rateBytesPerSecond: number;
  readonly burstBytes: number;
  readonly limitBytes: number;
}

/** A queueing discipline found on a link. */
export interface Qdisc {
  readonly index: number;
  /** `"tbf"`, `"ingress"`, `"noqueue"`, … */
  readonly kind: string;
  readonly handle: number;
  readonly parent: number;
  /** Set for kind `"tbf"`. */
  readonly tokenBucket: TokenBucket | undefined;
}

/** `sizeof(struct tcmsg)`. */
const HEADER_BYTES = 20;
/** `sizeof(struct tc_tbf_qopt)`. */
const TBF_BYTES = 36;
/** The scheduler counts time in units of 64 ns (`PSCHED_SHIFT` in `net/pkt_sched.h`). */
const NANOSECONDS_PER_TICK = 64;
const MAX_U32 = 0xffffffff;

/**
 * Limits what leaves by a link. ≈ `tc qdisc add dev NAME root tbf rate RATE burst BURST
 * latency LATENCY`
 */
export function addTokenBucket(spec: TokenBucketSpec): Request {
  return tokenBucket("add token bucket", spec, NLM_F_CREATE | NLM_F_EXCL);
}

/** ≈ `tc qdisc replace dev NAME root tbf …` */
export function replaceTokenBucket(spec: TokenBucketSpec): Request {
  return tokenBucket("replace token bucket", spec, NLM_F_CREATE | NLM_F_REPLACE);
}

/** The place to attach filters to what arrives. ≈ `tc qdisc add dev NAME ingress` */
export function addIngress(index: number): Request {
  const encoder = putTrafficHeader({ index, handle: TC_H_INGRESS_HANDLE, parent: TC_H_INGRESS });
  encoder.string(TCA_KIND, "ingress");
  return {
    operation: "add ingress qdisc",
    subject: () => `on link ${index}`,
    type: RTM_NEWQDISC,
    flags: NLM_F_CREATE | NLM_F_EXCL,
    payload: encoder.finish(),
  };
}

/** ≈ `tc qdisc del dev NAME root` (or `ingress`, with that parent) */
export function deleteQdisc(index: number, parent: number = TC_H_ROOT): Request {
  const encoder = putTrafficHeader({ index, handle: 0, parent });
  return {
    operation: "delete qdisc",
    subject: () => `on link ${index}`,
    type: RTM_DELQDISC,
    flags: 0,
    payload: encoder.finish(),
  };
}

/** ≈ `tc qdisc show [dev NAME]` */
export function listQdiscs(
  connection: NetlinkConnection,
  filter: { readonly index?: number } = {},
): Qdisc[] {
  const { index } = filter;
  const request: Request = {
    operation: "list qdiscs",
    type: RTM_GETQDISC,
    flags: 0,
    payload: putTrafficHeader({ index: index ?? 0, handle: 0, parent: 0 }).finish(),
  };
  return connection.dump(request, (message) => {
    const qdisc = decodeQdisc(message);
    // The kernel has no filter for this list.
    return index === undefined || qdisc.index === index ? qdisc : undefined;
  });
}

/** The qdisc a message describes. */
export function decodeQdisc(message: Message): Qdisc {
  const attributes = message.attributes(HEADER_BYTES);
  const { view, start } = message;
  const qdisc: Draft<Qdisc> = {
    index: view.getInt32(start + 4, true),
    kind: "",
    handle: view.getUint32(start + 8, true),
    parent: view.getUint32(start + 12, true),
    tokenBucket: undefined,
  };
  while (attributes.next()) {
    if (attributes.type === TCA_KIND) qdisc.kind = attributes.string();
    else if (attributes.type === TCA_OPTIONS && qdisc.kind === "tbf") {
      qdisc.tokenBucket = decodeTokenBucket(attributes.nested());
    }
  }
  return qdisc;
}

/** Writes `struct tcmsg`: family, padding, link, handle, parent, and what filters use. */
export function putTrafficHeader(header: {
  readonly index: number;
  readonly handle: number;
  readonly parent: number;
  readonly info?: number;
}): PayloadEncoder {
  return new PayloadEncoder()
    .putU32(0)
    .putU32(header.index)
    .putU32(header.handle)
    .putU32(header.parent)
    .putU32(header.info ?? 0);
}

function tokenBucket(operation: string, spec: TokenBucketSpec, flags: number): Request {
  const { index, rateBytesPerSecond: rate, burstBytes, latencyMs } = spec;
  const subject = `of ${rate} bytes/s on link ${index}`;
  const limit = Math.floor(rate * latencyMs / 1000) + burstBytes;
  if (rate < 1 || burstBytes < 1 || burstBytes > MAX_U32 || limit > MAX_U32) {
    const reason = `rate, burst (${burstBytes}) and rate × latency (${limit}) must be 1 to 2³²-1`;
    throw new InvalidRequestError({ operation, subject, reason });
  }
  const bufferTicks = Math.floor(burstBytes / rate * 1e9 / NANOSECONDS_PER_TICK);
  const encoder = putTrafficHeader({ index, handle: spec.handle ?? 0, parent: TC_H_ROOT });
  encoder.string(TCA_KIND, "tbf").nested(TCA_OPTIONS, (options) => {
    const parameters = new PayloadEncoder();
    putRate(parameters, Math.min(rate, MAX_U32));
    putRate(parameters, 0); // no peak rate
    parameters.putU32(limit).putU32(Math.min(bufferTicks, MAX_U32)).putU32(0);
    options.bytes(TCA_TBF_PARMS, parameters.finish());
    // Bytes, where TCA_TBF_PARMS has time: nothing lost in rounding.
    options.u32(TCA_TBF_BURST, burstBytes);
    if (rate > MAX_U32) options.u64(TCA_TBF_RATE64, BigInt(rate));
  });
  return {
    operation,
    subject: () => subject,
    type: RTM_NEWQDISC,
    flags,
    payload: encoder.finish(),
  };
}

/** Writes `struct tc_ratespec`: cell log, link layer, overhead, cell align, mpu, rate. */
function putRate(encoder: PayloadEncoder, rate: number): void {
  encoder.putU8(0).putU8(rate === 0 ? 0 : TC_LINKLAYER_ETHERNET).putU16(0).putU16(0).putU16(0)
    .putU32(rate);
}

function decodeTokenBucket(options: AttributeDecoder): TokenBucket {
  let rate = 0;
  let limitBytes = 0;
  let bufferTicks = 0;
  while (options.next()) {
    if (options.type === TCA_TBF_PARMS) {
      const parameters = options.struct(TBF_BYTES);
      rate = rate === 0 ? parameters.getUint32(8, true) : rate;
      limitBytes = parameters.getUint32(24, true);
      bufferTicks = parameters.getUint32(28, true);
    } else if (options.type === TCA_TBF_RATE64) {
      rate = Number(options.u64());
    }
  }
  const burstBytes = Math.round(bufferTicks * NANOSECONDS_PER_TICK * rate / 1e9);
  return { rateBytesPerSecond: rate, burstBytes, limitBytes };
}
