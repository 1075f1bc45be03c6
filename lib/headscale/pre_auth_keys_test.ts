import { assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../sys/testing.ts";
import { HeadscaleError } from "./errors.ts";
import type { Features } from "./features.ts";
import {
  type Answer,
  apiDescription,
  CURRENT_FEATURES,
  grpcError,
  OLD_FEATURES,
  openScripted,
  startScriptedServer,
} from "./testing.ts";

const USER = { id: "3", name: "k8s" };
const MIDDLE_FEATURES: Features = { ...OLD_FEATURES, routes: "set", keyUser: "id" };

function answers(features: Features): Record<string, Answer> {
  return {
    "GET /swagger/v1/openapiv2.json": () => apiDescription(features),
    "POST /api/v1/preauthkey": () => ({ preAuthKey: { id: "5", key: "hskey-auth-1-secret" } }),
    "POST /api/v1/preauthkey/expire": () => ({}),
  };
}

/** What is sent to mint a key with tags, and to end it. */
async function sent(features: Features): Promise<unknown[]> {
  await using server = startScriptedServer(answers(features));
  const clock = new FakeClock({ now: Date.parse("2026-08-01T12:00:00Z") });
  using client = openScripted(server, { clock });
  const minted = await client.mintKey({ user: USER, tags: ["tag:k8s-node"] });
  assertEquals([minted.id, minted.key.expose(), `${minted.key}`], [
    "5",
    "hskey-auth-1-secret",
    "***",
  ]);
  await client.expireKey(minted);
  return server.seen.slice(1).map(({ body }) => body);
}

const WISH = {
  reusable: false,
  ephemeral: false,
  expiration: "2026-08-01T12:10:00.000Z",
  aclTags: ["tag:k8s-node"],
};

Deno.test("a key is for one node and ten minutes; its user is named as the version wants", async () => {
  assertEquals(await sent(OLD_FEATURES), [
    { user: "k8s", ...WISH },
    { user: "k8s", key: "hskey-auth-1-secret" },
  ]);
  assertEquals(await sent(MIDDLE_FEATURES), [
    { user: "3", ...WISH },
    { user: "3", key: "hskey-auth-1-secret" },
  ]);
  assertEquals(await sent(CURRENT_FEATURES), [WISH, { id: "5" }]);
});

Deno.test("without tags a user is sent; without either there is no key", async () => {
  await using server = startScriptedServer(answers(CURRENT_FEATURES));
  using client = openScripted(server);
  await client.mintKey({ user: USER });
  const body = server.seen.at(-1)?.body as Record<string, unknown>;
  assertEquals([body.user, Object.hasOwn(body, "aclTags")], ["3", false]);
  await assertRejects(() => client.mintKey({}), HeadscaleError, "needs a user");
});

Deno.test("minting is not repeated: the first key would be valid and lost", async () => {
  await using server = startScriptedServer({
    ...answers(CURRENT_FEATURES),
    "POST /api/v1/preauthkey": () => grpcError(500, { code: 2, message: "busy" }),
  });
  using client = openScripted(server);
  await assertRejects(() => client.mintKey({ tags: ["tag:a"] }), HeadscaleError, "busy");
  assertEquals(server.seen.filter(({ method }) => method === "POST").length, 1);
});

Deno.test("a key that is gone is ended already", async () => {
  await using server = startScriptedServer({
    ...answers(CURRENT_FEATURES),
    "POST /api/v1/preauthkey/expire": () => grpcError(500, { code: 2, message: "key not found" }),
  });
  using client = openScripted(server);
  await client.expireKey(await client.mintKey({ tags: ["tag:a"] }));
});
