/**
 * The routing rules a killed tailscaled leaves. `tailscaled --cleanup` takes the packet filter's
 * away, but not these.
 */

import { deleteRule, listRules, type NetlinkConnection, type Rule } from "../netlink/mod.ts";

/** Base 5200 plus 10, 30, 50 and 70 (`wgengine/router/osrouter` of Tailscale). */
const PRIORITIES: ReadonlySet<number> = new Set([5210, 5230, 5250, 5270]);
const TABLE = 52;
/** Marks packets of tailscaled itself, and the bits it uses. */
const MARK = 0x80000;
const MARK_MASK = 0xff0000;

/**
 * Deletes tailscaled's routing rules, of both families. Only with no tailscaled in the
 * namespace: it would have to put them back.
 *
 * @throws {NetlinkError}
 */
export function removeLeftRules(connection: NetlinkConnection): void {
  for (const rule of listRules(connection).filter(isTailscales)) {
    const { family, priority, table, mark, markMask } = rule;
    connection.execute(deleteRule({
      family,
      priority,
      ...(table === TABLE ? { table } : {}),
      ...(mark === undefined ? {} : { mark }),
      ...(markMask === undefined ? {} : { markMask }),
    }));
  }
}

/** By priority and content: others may have rules at the same priority. */
function isTailscales({ priority, table, mark, markMask }: Rule): boolean {
  if (!PRIORITIES.has(priority)) return false;
  return table === TABLE || (mark === MARK && markMask === MARK_MASK);
}
