import { assertEquals, assertRejects } from "@std/assert";
import { parsePrefix } from "../ip/prefix.ts";
import { RouteRefusedError } from "./approved_routes.ts";
import { HeadscaleError } from "./errors.ts";
import {
  type Answer,
  apiDescription,
  CURRENT_FEATURES,
  OLD_FEATURES,
  openScripted,
  startScriptedServer,
  wireNode,
} from "./testing.ts";

const OWN = { id: "7", nodeKey: "nodekey:07" };
const MINE = [parsePrefix("10.244.3.0/24")];
const SWAGGER = "GET /swagger/v1/openapiv2.json";

/** A current server whose node 7 has `approved`. */
function current(
  approved: readonly string[],
  ...others: readonly unknown[]
): Record<string, Answer> {
  const node = wireNode({ approvedRoutes: approved });
  return {
    [SWAGGER]: () => apiDescription(CURRENT_FEATURES),
    "GET /api/v1/node": () => ({ nodes: [node, ...others] }),
    "GET /api/v1/node/7": () => ({ node }),
    "POST /api/v1/node/7/approve_routes": () => ({ node }),
  };
}

/** An old server with three routes of node 7 and one of node 8. */
function old(): Record<string, Answer> {
  const row = (id: string, nodeId: string, prefix: string, enabled: boolean) => ({
    id,
    node: { id: nodeId },
    prefix,
    advertised: true,
    enabled,
    isPrimary: enabled,
  });
  const rows = [
    row("1", "7", "192.168.7.0/24", true),
    row("2", "7", "10.244.3.0/24", false),
    row("3", "7", "10.9.0.0/24", false),
    row("4", "8", "10.244.4.0/24", true),
  ];
  const node = wireNode({ validTags: ["tag:a"], forcedTags: ["tag:b"], tags: undefined });
  return {
    [SWAGGER]: () => apiDescription(OLD_FEATURES),
    "GET /api/v1/node": () => ({ nodes: [node, wireNode({ id: "8", nodeKey: "nodekey:08" })] }),
    "GET /api/v1/node/7": () => ({ node }),
    "GET /api/v1/routes": () => ({
      routes: [...rows, { id: "9", node: null, prefix: "10.1.0.0/24" }],
    }),
    "GET /api/v1/node/7/routes": () => ({ routes: rows.slice(0, 3) }),
    "POST /api/v1/routes/1/disable": () => ({}),
    "POST /api/v1/routes/2/enable": () => ({}),
  };
}

Deno.test("approving sends the whole set, with what somebody else approved", async () => {
  await using server = startScriptedServer(current(["192.168.7.0/24"]));
  using client = openScripted(server);
  assertEquals(await client.approve({ own: OWN, mine: MINE }), { changed: true, waiting: [] });
  assertEquals(server.seen.at(-1)?.body, { routes: ["192.168.7.0/24", "10.244.3.0/24"] });
});

Deno.test("approving what is approved sends nothing", async () => {
  await using server = startScriptedServer(current(["10.244.3.0/24"]));
  using client = openScripted(server);
  assertEquals(await client.approve({ own: OWN, mine: MINE }), { changed: false, waiting: [] });
  assertEquals(server.seen.every(({ method }) => method === "GET"), true);
});

Deno.test("withdrawing sends the rest", async () => {
  await using server = startScriptedServer(current(["192.168.7.0/24", "10.244.3.0/24"]));
  using client = openScripted(server);
  assertEquals((await client.withdraw({ own: OWN, mine: MINE })).changed, true);
  assertEquals(server.seen.at(-1)?.body, { routes: ["192.168.7.0/24"] });
});

Deno.test("another node's prefix and another node's key change nothing", async () => {
  const other = wireNode({ id: "8", nodeKey: "nodekey:08", availableRoutes: ["10.244.0.0/16"] });
  await using server = startScriptedServer(current([], other));
  using client = openScripted(server);
  await assertRejects(() => client.approve({ own: OWN, mine: MINE }), RouteRefusedError);
  const stranger = { ...OWN, nodeKey: "nodekey:99" };
  const error = await assertRejects(
    () => client.approve({ own: stranger, mine: MINE }),
    HeadscaleError,
  );
  assertEquals(error.kind, "NotOurs");
  const gone = await assertRejects(
    () => client.approve({ own: { ...OWN, id: "99" }, mine: MINE }),
    HeadscaleError,
  );
  assertEquals(gone.kind, "NotFound");
  assertEquals(server.seen.every(({ method }) => method === "GET"), true);
});

Deno.test("an old server: only our rows are switched, others wait for being advertised", async () => {
  await using server = startScriptedServer(old());
  using client = openScripted(server);
  const later = parsePrefix("10.244.9.0/24");
  const result = await client.approve({ own: OWN, mine: [...MINE, later] });
  assertEquals([result.changed, result.waiting.map(String)], [true, ["10.244.9.0/24"]]);
  assertEquals(
    (await client.withdraw({ own: OWN, mine: [parsePrefix("192.168.7.0/24")] })).changed,
    true,
  );
  const posts = server.seen.filter(({ method }) => method === "POST").map(({ path }) => path);
  assertEquals(posts, ["/api/v1/routes/2/enable", "/api/v1/routes/1/disable"]);
});

Deno.test("an old server: nodes have the routes of their rows, and all their tags", async () => {
  await using server = startScriptedServer(old());
  using client = openScripted(server);
  const [node, other] = await client.nodes();
  assertEquals(node?.advertised.map(String), ["192.168.7.0/24", "10.244.3.0/24", "10.9.0.0/24"]);
  assertEquals(node?.approved.map(String), ["192.168.7.0/24"]);
  assertEquals(node?.tags, ["tag:b", "tag:a"]);
  assertEquals(other?.primary?.map(String), ["10.244.4.0/24"]);
  assertEquals((await client.node("7")).approved.map(String), ["192.168.7.0/24"]);
});
