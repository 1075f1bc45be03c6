/**
 * Limits of bandwidth, as Kubernetes' bandwidth annotations ask for them.
 *
 * A token bucket at either end of the veth: the host end limits what enters the container,
 * the container's end what leaves it. Both go with the pair, so nothing has to be deleted. (The
 * bandwidth plugin shapes the second with an `ifb` device on the host, which leaks when its
 * DEL is lost. The price here: a container with CAP_NET_ADMIN could lift its own limit, as it
 * could change its routes.)
 */

import { type NetlinkConnection } from "../../netlink/connection.ts";
import { listQdiscs, replaceTokenBucket, type TokenBucket } from "../../netlink/qdisc.ts";
import { type Request } from "../../netlink/request.ts";
import { type Bandwidth } from "../runtime_config.ts";
import { type Attached, type Ends } from "./attach.ts";

/** How long a packet may wait; the bandwidth plugin's value. */
const LATENCY_MS = 25;

/** The scheduler's limits are 32 bits of bytes. */
const MAX_BYTES = 2 ** 32 - 1;

/**
 * From here on a burst says "I do not care": kubelet passes 2³¹-1 bits, containerd 2³²-1. Taken
 * by the word, the first half gigabyte of a pod limited to 10 Mbit/s would pass at full speed.
 */
const UNSPECIFIED_BURST_BITS = 2 ** 31 - 1;

/** The burst then: a few full-sized segments, or what the rate gives in {@linkcode LATENCY_MS}. */
const LEAST_BURST_BYTES = 65_536;

/** Sets the limits; those there are replaced. @throws {NetlinkError} */
export function limitBandwidth(bandwidth: Bandwidth, ends: Ends, attached: Attached): void {
  const { ingressRate, ingressBurst, egressRate, egressBurst } = bandwidth;
  if (ingressRate > 0) ends.host.execute(bucket(attached.hostIndex, ingressRate, ingressBurst));
  if (egressRate > 0) {
    ends.container.execute(bucket(attached.containerIndex, egressRate, egressBurst));
  }
}

function bucket(index: number, rateBits: number, burstBits: number): Request {
  return replaceTokenBucket({ index, ...inBytes(rateBits, burstBits), latencyMs: LATENCY_MS });
}

/** Bits to bytes, cut to what the kernel can count with the queue of {@linkcode LATENCY_MS}. */
function inBytes(
  rateBits: number,
  burstBits: number,
): { rateBytesPerSecond: number; burstBytes: number } {
  const rateBytesPerSecond = Math.max(1, Math.floor(rateBits / 8));
  const queueBytes = Math.floor(rateBytesPerSecond * LATENCY_MS / 1000);
  const most = Math.max(1, MAX_BYTES - queueBytes);
  const wanted = burstBits >= UNSPECIFIED_BURST_BITS
    ? Math.max(LEAST_BURST_BYTES, queueBytes)
    : Math.max(1, Math.floor(burstBits / 8));
  return { rateBytesPerSecond, burstBytes: Math.min(wanted, most) };
}

/** What differs between the limits there should be and those there are, in words. */
export function bandwidthDifferences(
  bandwidth: Bandwidth,
  ends: Ends,
  attached: Attached,
): string[] {
  const { ingressRate, ingressBurst, egressRate, egressBurst } = bandwidth;
  return [
    ...difference("into the container", ends.host, attached.hostIndex, [ingressRate, ingressBurst]),
    ...difference("out of the container", ends.container, attached.containerIndex, [
      egressRate,
      egressBurst,
    ]),
  ];
}

function difference(
  way: string,
  connection: NetlinkConnection,
  index: number,
  [rateBits, burstBits]: readonly [rate: number, burst: number],
): string[] {
  if (rateBits === 0) return [];
  const wanted = inBytes(rateBits, burstBits).rateBytesPerSecond;
  const found: TokenBucket | undefined = listQdiscs(connection, { index })
    .find(({ tokenBucket }) => tokenBucket !== undefined)?.tokenBucket;
  if (found === undefined) return [`the bandwidth ${way} is not limited`];
  if (found.rateBytesPerSecond === wanted) return [];
  return [`the bandwidth ${way} is ${found.rateBytesPerSecond} bytes/s instead of ${wanted}`];
}
