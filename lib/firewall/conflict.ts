/** Host ports that lead elsewhere: found, and put into words. */

import type { NetlinkConnection } from "../netlink/mod.ts";
import { getSetElements, type SetElement } from "../netlink/nftables.ts";
import { hostPortElements, type PodElement, sameBytes } from "./elements.ts";
import type { HostPortConflict } from "./errors.ts";
import { formatFields } from "./field.ts";
import type { HostPort, PodRules } from "./pod_rules.ts";

/** A host port element that cannot be made, because its key leads elsewhere. */
export interface TakenPort {
  readonly element: PodElement;
  readonly conflict: HostPortConflict;
}

/** The host ports of `pod` that lead elsewhere in the kernel. */
export function findTakenPorts(connection: NetlinkConnection, pod: PodRules): TakenPort[] {
  const elements = pod.hostPorts.flatMap((port) => hostPortElements(pod, port));
  const references = elements.map(({ set, key }) => ({ ...set, key }));
  return getSetElements(connection, references).flatMap((found, index) => {
    const element = elements[index];
    if (element === undefined || found?.data === undefined) return [];
    if (sameBytes(found.data, element.data)) return [];
    return [{ element, conflict: describeConflict(pod, element, found) }];
  });
}

/** Who has the port that `element` of `pod` would have. */
export function describeConflict(
  pod: PodRules,
  element: PodElement,
  found: SetElement,
): HostPortConflict {
  const { data } = found;
  return {
    hostInterface: pod.hostInterface,
    hostPort: portOf(pod, element),
    owner: found.comment,
    target: formatTarget({ set: element.set, ...(data === undefined ? {} : { data }) }),
  };
}

/** Where an element of a map leads, as `nft` writes it. */
export function formatTarget({ set, data }: Pick<PodElement, "set" | "data">): string {
  return data === undefined ? "nothing" : formatFields(set.definition.value ?? [], data);
}

function portOf(pod: PodRules, { set, key }: PodElement): HostPort {
  const port = pod.hostPorts.find((candidate) =>
    hostPortElements(pod, candidate).some((one) => one.set === set && sameBytes(one.key, key))
  );
  if (port === undefined) {
    throw new TypeError(`Cannot find host port: ${set.set} of ${pod.hostInterface} has none`);
  }
  return port;
}
