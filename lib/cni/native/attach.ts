/**
 * Makes an attachment in the kernel, as `plan.ts` decided it.
 *
 * The order matters. Settings that decide what a link does when it comes up (router
 * advertisements, duplicate address detection) are written before it does; a gateway has its
 * route before anything goes through it; the host's route comes last, when the container can
 * answer and its bandwidth is limited. Nothing here is undone on failure: the caller deletes the host end, and with it
 * everything that hangs on the pair.
 */

import { addAddress } from "../../netlink/address.ts";
import { type NetlinkConnection } from "../../netlink/connection.ts";
import { ERRNO } from "../../netlink/errno.ts";
import { isErrno } from "../../netlink/errors.ts";
import { changeLink, deleteLink, getLink, setLinkUp } from "../../netlink/link.ts";
import { createVeth } from "../../netlink/link_create.ts";
import { inNetns, type Netns } from "../../netlink/netns.ts";
import { addRoute, replaceRoute } from "../../netlink/route.ts";
import { addRule } from "../../netlink/rule.ts";
import { writeSysctl } from "../../netlink/sysctl.ts";
import { type Prefix } from "../../ip/prefix.ts";
import { failpoint } from "../../sys/failpoint.ts";
import { InterfaceExistsError } from "../errors.ts";
import { leavingAlias } from "./host_interface.ts";
import { type AttachmentPlan, type PlannedRoute } from "./plan.ts";

/** Where an attachment is made: both sides of it. */
export interface Ends {
  readonly host: NetlinkConnection;
  readonly container: NetlinkConnection;
  readonly netns: Netns;
}

/** Indexes of the two interfaces. */
export interface Attached {
  readonly hostIndex: number;
  readonly containerIndex: number;
}

/**
 * Gives the pair its addresses and the container its routes, and sets both ends up.
 *
 * @throws {NetlinkError}
 */
export function attach(plan: AttachmentPlan, ends: Ends): Attached {
  const hostIndex = getLink(ends.host, { name: plan.host.name }).index;
  const containerIndex = getLink(ends.container, { name: plan.container.name }).index;
  prepareHostEnd(plan, ends, hostIndex);
  failpoint("add.host");
  prepareContainerEnd(plan, ends, containerIndex);
  failpoint("add.container");
  return { hostIndex, containerIndex };
}

/**
 * Routes the container's addresses to it: the last thing to be made. Who finds these routes
 * knows that the attachment is whole (`clear_way.ts`).
 *
 * @throws {NetlinkError}
 */
export function routeToContainer(plan: AttachmentPlan, { host }: Ends, attached: Attached): void {
  host.batch(plan.hostRoutes.map((destination) =>
    // Replaces: a route that a killed call left behind would lead nowhere.
    replaceRoute({ destination, index: attached.hostIndex })
  ));
  failpoint("add.routes");
}

/**
 * Deletes the host end, and with it the container's, all addresses and routes. Whether it was
 * there; its absence is no error.
 */
export function detach(host: NetlinkConnection, hostInterface: string): boolean {
  try {
    host.execute(deleteLink({ name: hostInterface }));
    return true;
  } catch (error) {
    if (isErrno(error, "ENODEV")) return false;
    throw error;
  }
}

/**
 * Like {@linkcode detach}, without waiting: the kernel takes ten milliseconds and more until
 * nobody uses a link any more. It is marked first, for an ADD that comes after a kill
 * (`clear_way.ts`). Do not use `host` until it is done.
 */
export async function detachAside(
  host: NetlinkConnection,
  { name, network }: { readonly name: string; readonly network: string },
): Promise<boolean> {
  const [marked] = host.exchange([changeLink({ name }, { alias: leavingAlias(network) })]);
  if (marked?.errno === ERRNO.ENODEV) return false;
  failpoint("del.marked");
  try {
    await host.executeAside(deleteLink({ name }));
    return true;
  } catch (error) {
    if (isErrno(error, "ENODEV")) return false;
    throw error;
  }
}

/**
 * Makes the veth; both ends stay down.
 *
 * @throws {InterfaceExistsError} if the container has an interface of that name.
 * @throws {NetlinkError}
 */
export function createPair(plan: AttachmentPlan, ends: Ends): void {
  const { mtu, host, container } = plan;
  const create = createVeth({
    name: host.name,
    mac: host.mac,
    mtu,
    peer: { name: container.name, mac: container.mac, mtu, netns: ends.netns },
  });
  try {
    ends.host.execute(create);
  } catch (error) {
    if (isErrno(error, "EEXIST")) throw new InterfaceExistsError(container.name, error);
    throw error;
  }
}

/** `IN6_ADDR_GEN_MODE_NONE` of `<linux/if_link.h>`. */
const ADDR_GEN_MODE_NONE = 1;

/** A router advertisement from a pod must not change the host's routes (CVE-2020-10749). */
function prepareHostEnd(plan: AttachmentPlan, { host }: Ends, index: number): void {
  writeIfPresent(`net/ipv6/conf/${plan.host.name}/accept_ra`, 0);
  // No address made by the kernel: fe80::1 is the one containers know.
  writeIfPresent(`net/ipv6/conf/${plan.host.name}/addr_gen_mode`, ADDR_GEN_MODE_NONE);
  // Lets packets from 127.0.0.1 out by this link. It would let the container's packets to
  // 127.0.0.1 in as well (CVE-2020-8558): the packet filter, loaded by now, drops those.
  if (plan.servesLoopback) writeSysctl(`net/ipv4/conf/${plan.host.name}/route_localnet`, 1);
  failpoint("add.host.settings");
  host.batch([
    changeLink({ index }, { up: true, alias: plan.alias }),
    ...plan.host.addresses.map((address) =>
      addAddress({
        index,
        address,
        noPrefixRoute: address.length === address.address.bits,
        noDad: true,
      })
    ),
  ]);
}

function prepareContainerEnd(plan: AttachmentPlan, ends: Ends, index: number): void {
  const { container, netns } = ends;
  const { name, addresses } = plan.container;
  inNetns(netns, () => {
    writeIfPresent(`net/ipv6/conf/${name}/accept_ra`, 0);
    writeIfPresent(`net/ipv6/conf/${name}/accept_dad`, 0);
    // Some runtimes switch IPv6 off in new namespaces.
    if (addresses.some(({ family }) => family === 6)) {
      writeIfPresent(`net/ipv6/conf/${name}/disable_ipv6`, 0);
    }
  });
  failpoint("add.container.settings");
  container.batch([
    setLinkUp({ index }),
    ...addresses.map((address) => addAddress({ index, address, noPrefixRoute: true, noDad: true })),
  ]);
  failpoint("add.container.addresses");
  addContainerRoutes(plan, container, index);
}

/**
 * Adds the routes in their order. One that exists belongs to an interface attached before,
 * and the first one wins. Then answers from this interface's addresses would leave by the
 * other one, so they get a table of their own, chosen by source address.
 */
function addContainerRoutes(
  plan: AttachmentPlan,
  container: NetlinkConnection,
  index: number,
): void {
  const requests = plan.containerRoutes.map((route) => addRoute({ ...route, index }));
  let isTaken = false;
  for (const { error } of container.exchange(requests)) {
    if (isErrno(error, "EEXIST")) isTaken = true;
    else if (error !== undefined) throw error;
  }
  failpoint("add.container.routes");
  if (isTaken) addSourceTable(plan, container, index);
}

/** Tables of further interfaces: above those anybody numbers by hand, one per interface. */
export function sourceTable(index: number): number {
  return 10_000 + index;
}

/** Before the main table (32766) and after what an administrator of the container may add. */
export const SOURCE_RULE_PRIORITY = 5_200;

function addSourceTable(plan: AttachmentPlan, container: NetlinkConnection, index: number): void {
  const table = sourceTable(index);
  const routes = plan.containerRoutes.filter((route: PlannedRoute) => route.table === undefined);
  container.batch([
    ...routes.map((route) => replaceRoute({ ...route, index, table })),
    ...plan.hostRoutes.map((source: Prefix) =>
      addRule({ family: source.family, source, table, priority: SOURCE_RULE_PRIORITY })
    ),
  ]);
}

/** A kernel without IPv6 has none of its settings, and needs none. */
function writeIfPresent(name: string, value: number): void {
  try {
    writeSysctl(name, value);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
}
