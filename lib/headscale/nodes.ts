/** Nodes, as Headscale knows them. */

import { type IpAddress, parseAddress } from "../ip/address.ts";
import { parsePrefix, type Prefix } from "../ip/prefix.ts";
import type { JsonView } from "../sys/json_view.ts";
import { HeadscaleError, isHeadscaleError } from "./errors.ts";
import type { Features } from "./features.ts";
import type { CallOptions, Requests } from "./requests.ts";
import { listRouteRows, type RouteRow } from "./route_rows.ts";

/** A machine in the tailnet. */
export interface HeadscaleNode {
  /** The same as `Self.ID` in the status of its tailscaled. */
  readonly id: string;
  /** `nodekey:…`, the same as `Self.PublicKey` there; changes when the node logs in again. */
  readonly nodeKey: string;
  /** What the machine calls itself. */
  readonly hostname: string;
  /** What it is called in the tailnet's DNS. */
  readonly givenName: string;
  /** Name of its owner; `undefined` for a node that belongs to its tags. */
  readonly user: string | undefined;
  readonly addresses: readonly IpAddress[];
  readonly tags: readonly string[];
  readonly online: boolean;
  /** When its key ends, in milliseconds since 1970; `undefined` if never. */
  readonly expiresAtMs: number | undefined;
  /** Routes it offers now. */
  readonly advertised: readonly Prefix[];
  /** Routes it may serve. From 0.26 on also ones it does not offer (yet). */
  readonly approved: readonly Prefix[];
  /** Routes that lead to it. `undefined` where Headscale does not tell: for a single node. */
  readonly primary: readonly Prefix[] | undefined;
}

/** What the calls about nodes need to know. */
export interface NodeOptions extends CallOptions {
  readonly features: Features;
}

/** All nodes; with the routes of 0.25 and before, two requests. */
export async function listNodes(
  requests: Requests,
  options: NodeOptions,
): Promise<readonly HeadscaleNode[]> {
  const { features } = options;
  const nodes = await requests.ask({
    operation: "list nodes of Headscale",
    method: "GET",
    path: "/api/v1/node",
    idempotent: true,
    read: (answer) => answer.objects("nodes").map((node) => readNode(node, features)),
  }, options);
  if (features.routes === "set") return nodes;
  const rows = await listRouteRows(requests, {}, options);
  return nodes.map((node) => withRows(node, rows));
}

/** The node `id`. @throws {HeadscaleError} `NotFound` if there is none. */
export async function getNode(
  requests: Requests,
  id: string,
  options: NodeOptions,
): Promise<HeadscaleNode> {
  const { features } = options;
  const node = await requests.ask({
    operation: "look up node",
    subject: id,
    method: "GET",
    path: nodePath(id),
    idempotent: true,
    // What it is primary for is always empty here, whether it is or not.
    read: (answer) => ({ ...readNode(answer.required("node"), features), primary: undefined }),
  }, options);
  if (features.routes === "set") return node;
  return withRows(node, await listRouteRows(requests, { nodeId: id }, options));
}

/** Ends the key of node `id` now: it must log in again. */
export async function expireNode(
  requests: Requests,
  id: string,
  options: CallOptions,
): Promise<void> {
  await requests.ask({
    operation: "expire node",
    subject: id,
    method: "POST",
    path: `${nodePath(id)}/expire`,
    idempotent: true,
    read: () => undefined,
  }, options);
}

/** Deletes node `id`. Returns whether there was one. */
export async function deleteNode(
  requests: Requests,
  id: string,
  options: CallOptions,
): Promise<boolean> {
  try {
    await requests.ask({
      operation: "delete node",
      subject: id,
      method: "DELETE",
      path: nodePath(id),
      idempotent: true,
      read: () => undefined,
    }, options);
    return true;
  } catch (error) {
    if (!isHeadscaleError(error, "NotFound")) throw error;
    return false;
  }
}

/** Gives node `id` another name in the tailnet's DNS. */
export async function renameNode(
  requests: Requests,
  change: { readonly id: string; readonly name: string },
  options: CallOptions,
): Promise<void> {
  await requests.ask({
    operation: "rename node",
    subject: `${change.id} to ${JSON.stringify(change.name)}`,
    method: "POST",
    path: `${nodePath(change.id)}/rename/${encodeURIComponent(change.name)}`,
    idempotent: true,
    read: () => undefined,
  }, options);
}

/**
 * Replaces the tags of node `id`. From 0.28 on they must be in the policy, and a node that has
 * tags once keeps at least one.
 */
export async function setNodeTags(
  requests: Requests,
  change: { readonly id: string; readonly tags: readonly string[] },
  options: CallOptions,
): Promise<void> {
  await requests.ask({
    operation: "set tags of node",
    subject: change.id,
    method: "POST",
    path: `${nodePath(change.id)}/tags`,
    body: { tags: change.tags },
    idempotent: true,
    read: () => undefined,
  }, options);
}

/** The path of node `id`. @throws {HeadscaleError} if that is no id. */
export function nodePath(id: string): string {
  if (/^[1-9]\d{0,19}$/.test(id)) return `/api/v1/node/${id}`;
  throw new HeadscaleError({
    kind: "Refused",
    operation: "look up node",
    subject: JSON.stringify(id),
    reason: "the id of a node in Headscale is a number; this tailscaled may use another server",
  });
}

/** A node in an answer. */
export function readNode(node: JsonView, features: Features): HeadscaleNode {
  const prefixes = (key: string) => node.parsedTexts(key, parsePrefix);
  const bySet = features.routes === "set";
  // One list from 0.28 on; before, what an admin set and what the node asked for and got.
  const tags = ["tags", "forcedTags", "validTags"].flatMap((key) => node.texts(key));
  // From 0.28 on such a node has no owner, but lists name one: "tagged-devices".
  const isOwnerless = features.ownerlessTags && tags.length > 0;
  return {
    id: node.text("id"),
    nodeKey: node.text("nodeKey"),
    hostname: node.text("name"),
    givenName: node.optionalText("givenName") ?? node.text("name"),
    user: isOwnerless ? undefined : node.object("user")?.optionalText("name"),
    addresses: node.parsedTexts("ipAddresses", parseAddress),
    tags: [...new Set(tags)],
    online: node.flag("online"),
    expiresAtMs: timeOf(node.optionalText("expiry")),
    advertised: bySet ? prefixes("availableRoutes") : [],
    approved: bySet ? prefixes("approvedRoutes") : [],
    primary: bySet ? prefixes("subnetRoutes") : [],
  };
}

/** Milliseconds since 1970; Go's zero time, of the year 1, means that there is none. */
function timeOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}

function withRows(node: HeadscaleNode, rows: readonly RouteRow[]): HeadscaleNode {
  const own = rows.filter((row) => row.nodeId === node.id);
  const prefixes = (which: "advertised" | "enabled" | "primary") =>
    own.filter((row) => row[which]).map((row) => row.prefix);
  return {
    ...node,
    advertised: prefixes("advertised"),
    approved: prefixes("enabled"),
    primary: prefixes("primary"),
  };
}
