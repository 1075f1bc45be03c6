/**
 * Is there another tailscaled in a network namespace?
 *
 * Two in one namespace destroy each other: whichever starts deletes the other's packet
 * filter chains, both own the same routing rules and table 52, and the IPv6 of one of them is
 * dead (tailscale/tailscale#183 calls it unsupported).
 */

import type { NetlinkConnection } from "../netlink/mod.ts";
import { listLinks } from "../netlink/mod.ts";
import type { ProcessTable } from "../sys/process_table.ts";
import { TailscaledError } from "./errors.ts";
import { isTailscaled } from "./process_record.ts";

/** Where and how to look. */
export interface SearchForOthers {
  /** Device and inode of the namespace. */
  readonly netnsId: string;
  /** To that namespace. */
  readonly connection: NetlinkConnection;
  readonly table: ProcessTable;
  /** Process of our own tailscaled, which does not count. */
  readonly ownPid?: number | undefined;
  /** Name of our own tunnel, likewise. */
  readonly ownTun: string;
  /**
   * Whether somebody answers at the usual socket; asked only where it can mean this
   * namespace. A socket is found by its path, from any namespace.
   */
  readonly answersAtUsualSocket: () => Promise<boolean>;
}

/** What speaks for another tailscaled in the namespace; `undefined` if nothing does. */
export async function findOtherTailscaled(search: SearchForOthers): Promise<string | undefined> {
  const { netnsId, table, ownPid, ownTun } = search;
  const others = table.list().filter((facts) => isTailscaled(facts) && facts.pid !== ownPid);
  const here = others.find((facts) => facts.netnsId === netnsId);
  if (here !== undefined) {
    return `process ${here.pid} (${here.executable ?? here.name}) runs in it`;
  }
  // A tunnel lives as long as its process; in a container we may not see the process.
  const tunnel = listLinks(search.connection, { kind: "tun" })
    .find(({ name }) => /^tailscale\d*$/.test(name) && name !== ownTun);
  if (tunnel !== undefined) return `the interface ${tunnel.name} is in it`;
  // One that is seen in another namespace explains the socket.
  if (others.length === 0 && await search.answersAtUsualSocket()) {
    return "somebody answers at its usual socket";
  }
  return undefined;
}

/** The refusal, with the two ways out. */
export function otherTailscaledError(evidence: string): TailscaledError {
  return new TailscaledError({
    kind: "OtherTailscaled",
    operation: "run our own tailscaled",
    reason: `another one is in this network namespace (${evidence}), ` +
      "and two would destroy each other's rules",
    remedy: "Use that one (tailscale.mode: host), or run ours in a namespace of its own " +
      "(tailscale.isolation: netns); or stop it: systemctl disable --now tailscaled",
  });
}
