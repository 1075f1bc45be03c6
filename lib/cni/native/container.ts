/** The container's side of an attachment: its namespace, opened and checked. */

import { type NetlinkConnection, openConnection } from "../../netlink/connection.ts";
import { type Netns, openNetns, openOwnNetns } from "../../netlink/netns.ts";
import { NetnsError } from "../../netlink/errors.ts";
import { type CallParameters } from "../environment.ts";
import { OwnNetnsError } from "../errors.ts";

/** An open network namespace and a connection inside it. */
export class Container implements Disposable {
  readonly netns: Netns;
  readonly route: NetlinkConnection;

  constructor(netns: Netns) {
    this.netns = netns;
    this.route = openConnection({ netns });
  }

  [Symbol.dispose](): void {
    this.route[Symbol.dispose]();
    this.netns[Symbol.dispose]();
  }
}

/**
 * Opens the namespace of a call.
 *
 * @throws {NetnsError} if there is none.
 * @throws {OwnNetnsError} if it is the node's own: a DEL would delete the node's interface.
 */
export function openContainer(parameters: CallParameters): Container {
  const netns = openNetns(parameters.netns);
  try {
    if (!parameters.allowOwnNetns) refuseOwn(netns);
    return new Container(netns);
  } catch (error) {
    netns[Symbol.dispose]();
    throw error;
  }
}

/** The container of a call that must go on without one: DEL after the namespace is gone. */
export function findContainer(parameters: CallParameters): Container | undefined {
  if (parameters.netns === "") return undefined;
  try {
    return openContainer(parameters);
  } catch (error) {
    // Runtimes pass stale paths, also such that are files of another kind by now.
    if (error instanceof NetnsError) return undefined;
    throw error;
  }
}

function refuseOwn(netns: Netns): void {
  using own = openOwnNetns();
  if (own.id !== netns.id) return;
  throw new OwnNetnsError({
    operation: "use network namespace",
    subject: netns.subject,
    reason: "it is the one this program runs in",
  });
}
