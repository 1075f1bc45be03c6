/**
 * Routes as Headscale 0.23 to 0.25 has them: one object each, which is there once a node has
 * advertised it, and is switched on and off by its own id.
 */

import { parsePrefix, type Prefix } from "../ip/prefix.ts";
import type { JsonView } from "../sys/json_view.ts";
import type { CallOptions, Requests } from "./requests.ts";

/** A route of a node. */
export interface RouteRow {
  readonly id: string;
  readonly nodeId: string;
  readonly prefix: Prefix;
  readonly advertised: boolean;
  readonly enabled: boolean;
  readonly primary: boolean;
}

/** All routes, or those of one node. */
export async function listRouteRows(
  requests: Requests,
  filter: { readonly nodeId?: string },
  options: CallOptions,
): Promise<readonly RouteRow[]> {
  const { nodeId } = filter;
  const rows = await requests.ask({
    operation: "list routes of Headscale",
    method: "GET",
    path: nodeId === undefined ? "/api/v1/routes" : `/api/v1/node/${nodeId}/routes`,
    idempotent: true,
    read: (answer) => answer.objects("routes").flatMap(readRow),
  }, options);
  return rows;
}

/** A route whose node was deleted stays behind without one. */
function readRow(row: JsonView): RouteRow[] {
  const nodeId = row.object("node")?.optionalText("id");
  const prefix = row.parsed("prefix", parsePrefix);
  if (nodeId === undefined || prefix === undefined) return [];
  return [{
    id: row.text("id"),
    nodeId,
    prefix,
    advertised: row.flag("advertised"),
    enabled: row.flag("enabled"),
    primary: row.flag("isPrimary"),
  }];
}

/** Switches a route on or off. */
export async function switchRoute(
  requests: Requests,
  change: { readonly row: RouteRow; readonly to: "enable" | "disable" },
  options: CallOptions,
): Promise<void> {
  const { row, to } = change;
  await requests.ask({
    operation: `${to} route`,
    subject: `${row.prefix}`,
    method: "POST",
    path: `/api/v1/routes/${encodeURIComponent(row.id)}/${to}`,
    idempotent: true,
    read: () => undefined,
  }, options);
}
