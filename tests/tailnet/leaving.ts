/** Leaving puts back what was changed, and nothing else. */

import { assert, assertEquals } from "@std/assert";
import { parsePrefix } from "../../lib/ip/mod.ts";
import type { Prefs } from "../../lib/tailscale/mod.ts";
import { execute } from "../plugin/namespace.ts";
import type { TailnetNode } from "./tailnet_node.ts";
import { until } from "./until.ts";

/** A network the machine's administrator advertises. */
const OFFICE = "192.168.7.0/24";

/** What leaving must bring back. */
export interface Before {
  readonly prefs: Prefs;
  readonly rules: string;
  readonly routes: string;
}

/** Settings in an order that does not matter, and what is not ours to put back left out. */
function comparable(prefs: Prefs): Record<string, unknown> {
  return { ...prefs, advertiseRoutes: prefs.advertiseRoutes.map(String).toSorted() };
}

async function ownRules(node: TailnetNode): Promise<string> {
  const rules = await node.run("ip", "rule") + await node.run("ip", "-6", "rule");
  return rules.split("\n").filter((line) => line.includes("proto 104")).join("\n");
}

async function ownRoutes(node: TailnetNode): Promise<string> {
  const show = ["route", "show", "table", "all", "proto", "104"];
  return await node.run("ip", ...show) + await node.run("ip", "-6", ...show);
}

/** The machine before headcni: with settings and routes of its administrator. */
export async function rememberBefore(node: TailnetNode): Promise<Before> {
  const prefs = await node.api.editPrefs({ advertiseRoutes: [parsePrefix(OFFICE)] });
  return { prefs, rules: await ownRules(node), routes: await ownRoutes(node) };
}

/** Leaves host mode and compares. */
export async function checkLeaving(node: TailnetNode, before: Before): Promise<void> {
  const id = (await node.api.status({ peers: false })).self.id;
  const busy = await execute({ command: node.inside(...node.headcni("leave")) });
  assertEquals(busy.code, 1, "leaving while it runs");
  assert(busy.stderr.includes("another headcni does"), busy.stderr);
  await node.end("headcni");
  const { code, stdout, stderr } = await execute({
    command: node.inside(...node.headcni("leave")),
  });
  assertEquals(code, 0, stdout + stderr);
  assertEquals(comparable(await node.api.prefs()), comparable(before.prefs));
  assertEquals(await ownRules(node), before.rules);
  assertEquals(await ownRoutes(node), before.routes);
  const list = () => JSON.parse(node.server.cli("nodes", "list-routes", "-i", id, "-o", "json"))[0];
  const routes = await until("Headscale has heard of it", () => {
    const found = list();
    return (found.available_routes ?? []).length === 1 ? found : undefined;
  });
  assertEquals(routes.available_routes, [OFFICE]);
  assertEquals(routes.approved_routes ?? [], []);
  const again = await execute({ command: node.inside(...node.headcni("leave")) });
  assertEquals([again.code, again.stdout], [0, "nothing to put back\n"]);
}
