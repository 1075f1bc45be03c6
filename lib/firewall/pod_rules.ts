/** What one pod asks of the packet filter. */

import { checkLinkName } from "../netlink/link_name.ts";
import type { IpAddress } from "../ip/mod.ts";
import { FirewallError } from "./errors.ts";
import { type Protocol, PROTOCOLS } from "./field.ts";
import { HOST_INTERFACE_PREFIX } from "./ruleset.ts";

/** A port of the node that leads to a port of the pod. */
export interface HostPort {
  readonly protocol: Protocol;
  readonly hostPort: number;
  readonly containerPort: number;
  /**
   * The address of the node it is bound to; `0.0.0.0` and `::` mean all of that family, absent
   * means all. Without an address of that family in the pod it is passed over. `127.0.0.1` needs
   * the setting `route_localnet` on the host interface; for `::1` the kernel has no such thing.
   */
  readonly hostIp?: IpAddress;
}

/** A pod as the packet filter sees it. */
export interface PodRules {
  /** The host end of its veth, `hcni…`: the owner of all its elements. */
  readonly hostInterface: string;
  /**
   * The container, if it may have several interfaces. Runtimes ask for the same host ports on each
   * of them; one has them, and the others go without until it is gone.
   */
  readonly container?: string;
  readonly addresses: readonly IpAddress[];
  /** Whether the outside world sees the node's address instead of the pod's. */
  readonly masquerade: boolean;
  /** Whether it may send only from its own addresses. */
  readonly antiSpoof: boolean;
  /** They lead to the first address of their family. */
  readonly hostPorts: readonly HostPort[];
}

const MAX_PORT = 65_535;

/**
 * Throws unless `pod` can be carried out.
 *
 * @throws {FirewallError} naming the first thing that is wrong.
 */
export function checkPodRules(pod: PodRules): void {
  const { hostInterface, hostPorts } = pod;
  const refuse = (subject: string, reason: string): never => {
    throw new FirewallError({ operation: "make rules for", subject, reason });
  };
  checkLinkName("make rules for interface", hostInterface);
  if (!hostInterface.startsWith(HOST_INTERFACE_PREFIX)) {
    refuse(hostInterface, `the rules are for interfaces that begin with ${HOST_INTERFACE_PREFIX}`);
  }
  for (const { protocol, hostPort, containerPort, hostIp } of hostPorts) {
    const subject = `host port ${protocol} ${hostPort}`;
    if (!Object.hasOwn(PROTOCOLS, protocol)) {
      refuse(subject, `the protocol is none of ${Object.keys(PROTOCOLS).join(", ")}`);
    }
    if (hostIp?.family === 6 && hostIp.isLoopback) {
      refuse(
        subject,
        `IPv6 cannot lead ${hostIp} to a pod; use 127.0.0.1 or an address of the node`,
      );
    }
    for (const port of [hostPort, containerPort]) {
      if (!Number.isInteger(port) || port < 1 || port > MAX_PORT) {
        refuse(subject, `${port} is no port from 1 to ${MAX_PORT}`);
      }
    }
  }
}
