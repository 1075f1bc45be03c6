/** The node's side of an attachment: its sockets, opened when first needed. */

import { NETLINK_NETFILTER } from "../../netlink/constants/netlink.ts";
import { type NetlinkConnection, openConnection } from "../../netlink/connection.ts";

/** Connections to the kernel in this program's own namespace. */
export class Node implements Disposable {
  #route: NetlinkConnection | undefined;
  #filter: NetlinkConnection | undefined;

  /** Links, addresses, routes. */
  get route(): NetlinkConnection {
    return this.#route ??= openConnection();
  }

  /** nftables and connection tracking. */
  get filter(): NetlinkConnection {
    return this.#filter ??= openConnection({ protocol: NETLINK_NETFILTER });
  }

  [Symbol.dispose](): void {
    this.#route?.[Symbol.dispose]();
    this.#filter?.[Symbol.dispose]();
  }
}
