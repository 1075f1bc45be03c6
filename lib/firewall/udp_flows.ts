/**
 * UDP flows that were there before a host port was.
 *
 * A client that keeps sending to a port nobody served has a tracked flow without translation,
 * and each of its packets prolongs it: without this it would never reach the pod.
 */

import type { NetlinkConnection } from "../netlink/mod.ts";
import { deleteFlowsWhere, type Flow } from "../netlink/conntrack.ts";
import { PROTOCOLS } from "./field.ts";
import type { PodRules } from "./pod_rules.ts";

/**
 * Forgets untranslated flows to the UDP host ports of `pod`; call it after `addPod`. Lists all
 * flows of the node, but only for a pod that has such ports.
 *
 * Flows through the node to the same port elsewhere go with them, which does no harm: without
 * translation, the next packet makes the same flow again.
 *
 * @param connection one of protocol `NETLINK_NETFILTER`.
 * @returns how many were forgotten.
 */
export function forgetUdpFlows(connection: NetlinkConnection, pod: PodRules): number {
  const ports = new Set(
    pod.hostPorts.filter(({ protocol }) => protocol === "udp").map(({ hostPort }) => hostPort),
  );
  if (ports.size === 0) return 0;
  const families = new Set(pod.addresses.map(({ family }) => family));
  let forgotten = 0;
  for (const family of families) {
    forgotten += deleteFlowsWhere(connection, family, (flow) => {
      const { protocol, destinationPort } = flow.original;
      return protocol === PROTOCOLS.udp && ports.has(destinationPort) && isUntranslated(flow);
    });
  }
  return forgotten;
}

function isUntranslated({ original, reply }: Flow): boolean {
  return original.source !== undefined && original.destination !== undefined &&
    reply.destination?.equals(original.source) === true &&
    reply.source?.equals(original.destination) === true &&
    reply.destinationPort === original.sourcePort &&
    reply.sourcePort === original.destinationPort;
}
