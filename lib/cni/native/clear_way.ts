/**
 * Whether an attachment can be made, looked at before anything is changed.
 *
 * An interface of the name asked for is in the way, unless it is what a killed ADD of the same
 * attachment left behind. Told apart by the last thing ADD makes, the node's route to the
 * container: with it the attachment is whole and in use, also if it is in another namespace
 * than the one asked for: a namespace that is gone would have taken the interface along. Unless a
 * DEL of it has begun, which marks it first.
 */

import { type NetlinkConnection } from "../../netlink/connection.ts";
import { RT_TABLE_MAIN } from "../../netlink/constants/rtnetlink.ts";
import { findLink } from "../../netlink/link.ts";
import { listRoutes } from "../../netlink/route.ts";
import { InterfaceExistsError } from "../errors.ts";
import { detach } from "./attach.ts";
import { type AttachmentKey, hostInterfaceName, isLeaving } from "./host_interface.ts";

/**
 * Removes what a killed ADD left behind.
 *
 * @throws {InterfaceExistsError} if the container has an interface of that name, or the
 * attachment is whole.
 */
export function clearWay(
  key: AttachmentKey,
  at: { readonly host: NetlinkConnection; readonly container: NetlinkConnection },
): void {
  const name = hostInterfaceName(key);
  const inContainer = findLink(at.container, { name: key.ifname });
  const onHost = findLink(at.host, { name });
  if (onHost === undefined) {
    if (inContainer !== undefined) throw new InterfaceExistsError(key.ifname);
    return;
  }
  if (!isLeaving(onHost.alias) && hasRoute(at.host, onHost.index)) {
    throw new InterfaceExistsError(key.ifname);
  }
  detach(at.host, name);
}

function hasRoute(host: NetlinkConnection, index: number): boolean {
  return ([4, 6] as const).some((family) =>
    listRoutes(host, { family, index, table: RT_TABLE_MAIN }).some(({ destination }) =>
      destination.isHost && !destination.address.isLinkLocal
    )
  );
}
