/** Approving the routes of our own node, on both kinds of API. */

import type { Prefix } from "../ip/prefix.ts";
import {
  includes,
  mergeApproved,
  refusedPrefixes,
  RouteRefusedError,
  withoutApproved,
} from "./approved_routes.ts";
import { HeadscaleError } from "./errors.ts";
import { getNode, type HeadscaleNode, listNodes, type NodeOptions, nodePath } from "./nodes.ts";
import type { Requests } from "./requests.ts";
import { listRouteRows, type RouteRow, switchRoute } from "./route_rows.ts";

/** The node this program runs on, as its tailscaled knows itself. */
export interface OwnNode {
  /** `Self.ID`. */
  readonly id: string;
  /** `Self.PublicKey`. It proves that both speak of the same node of the same server. */
  readonly nodeKey: string;
}

/** How approving ended. */
export interface Approval {
  /** Whether anything had to be changed. */
  readonly changed: boolean;
  /** Ours that are not approved yet because the node does not advertise them yet (up to 0.25). */
  readonly waiting: readonly Prefix[];
}

/**
 * Approves `mine` for our node, next to what is approved already.
 *
 * @throws {RouteRefusedError} if one of them must not be ours; nothing is changed then.
 * @throws {HeadscaleError} `NotFound` if the node is gone, `NotOurs` if it is another one.
 */
export async function approveRoutes(
  requests: Requests,
  request: { readonly own: OwnNode; readonly mine: readonly Prefix[] },
  options: NodeOptions,
): Promise<Approval> {
  const { own, mine } = request;
  const nodes = await listNodes(requests, options);
  const node = nodes.find(({ id }) => id === own.id);
  if (node === undefined) throw gone(own);
  checkOwn(node, own);
  const refusals = refusedPrefixes(mine, own.id, nodes);
  if (refusals.length > 0) throw new RouteRefusedError(refusals);
  const missing = withoutApproved(mine, node.approved);
  if (missing.length === 0) return { changed: false, waiting: [] };
  if (options.features.routes === "rows") {
    const switched = await switchRows(requests, { own, mine: missing, to: "enable" }, options);
    const waiting = missing.filter((prefix) => !includes(switched, prefix));
    return { changed: switched.length > 0, waiting };
  }
  await setApproved(requests, { own, routes: mergeApproved(node.approved, mine) }, options);
  return { changed: true, waiting: [] };
}

/** Takes the approval of `mine` back; what else is approved stays. A node that is gone is fine. */
export async function withdrawRoutes(
  requests: Requests,
  request: { readonly own: OwnNode; readonly mine: readonly Prefix[] },
  options: NodeOptions,
): Promise<Approval> {
  const { own, mine } = request;
  let node: HeadscaleNode;
  try {
    node = await getNode(requests, own.id, options);
  } catch (error) {
    if (!(error instanceof HeadscaleError) || error.kind !== "NotFound") throw error;
    return { changed: false, waiting: [] };
  }
  checkOwn(node, own);
  const routes = withoutApproved(node.approved, mine);
  if (routes.length === node.approved.length) return { changed: false, waiting: [] };
  if (options.features.routes === "rows") {
    await switchRows(requests, { own, mine, to: "disable" }, options);
  } else {
    await setApproved(requests, { own, routes }, options);
  }
  return { changed: true, waiting: [] };
}

async function setApproved(
  requests: Requests,
  request: { readonly own: OwnNode; readonly routes: readonly Prefix[] },
  options: NodeOptions,
): Promise<void> {
  await requests.ask({
    operation: "approve routes of node",
    subject: request.own.id,
    method: "POST",
    path: `${nodePath(request.own.id)}/approve_routes`,
    body: { routes: request.routes.map(String) },
    // It replaces the set, so that the same set twice is the same.
    idempotent: true,
    read: () => undefined,
  }, options);
}

/** Switches the rows of `mine` that are not as they should be; returns what they are for. */
async function switchRows(
  requests: Requests,
  request: { own: OwnNode; mine: readonly Prefix[]; to: "enable" | "disable" },
  options: NodeOptions,
): Promise<readonly Prefix[]> {
  const { own, mine, to } = request;
  const rows = await listRouteRows(requests, { nodeId: own.id }, options);
  const wrong = (row: RouteRow) =>
    row.nodeId === own.id && includes(mine, row.prefix) && row.enabled !== (to === "enable");
  const switched = rows.filter(wrong);
  for (const row of switched) await switchRoute(requests, { row, to }, options);
  return switched.map(({ prefix }) => prefix);
}

function checkOwn(node: HeadscaleNode, own: OwnNode): void {
  if (node.nodeKey === own.nodeKey) return;
  throw new HeadscaleError({
    kind: "NotOurs",
    operation: "touch node",
    subject: `${node.id} (${node.givenName})`,
    reason: "its key is not that of this machine's tailscaled",
    remedy:
      "tailscaled may be logged in to another server than the configured one, or is logging " +
      "in right now: compare tailscale debug prefs (ControlURL) with the URL in the configuration",
  });
}

function gone(own: OwnNode): HeadscaleError {
  return new HeadscaleError({
    kind: "NotFound",
    operation: "approve routes of node",
    subject: own.id,
    reason: "Headscale does not know it; it was deleted there, or tailscaled uses another server",
  });
}
