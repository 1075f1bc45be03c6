/** Health, version, features, authorisation, users. */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type Features, HeadscaleError, openHeadscale } from "../../lib/headscale/mod.ts";
import { Secret } from "../../lib/sys/secret.ts";
import { type ConformanceCase, PATIENCE } from "./conformance_case.ts";

/** From 0.29 on. */
const CURRENT: Features = {
  routes: "set",
  keyUser: "id",
  expiresKeysById: true,
  ownerlessTags: true,
  checksPolicy: true,
  allowsWithoutRules: true,
};

/** What each version can do. */
const FEATURES: Readonly<Record<string, Features>> = {
  "0.25.1": {
    routes: "rows",
    keyUser: "name",
    expiresKeysById: false,
    ownerlessTags: false,
    checksPolicy: false,
    allowsWithoutRules: false,
  },
  "0.26.1": {
    routes: "set",
    keyUser: "id",
    expiresKeysById: false,
    ownerlessTags: false,
    checksPolicy: false,
    allowsWithoutRules: false,
  },
};

/** The steps. */
export async function checkBasics(t: Deno.TestContext, test: ConformanceCase): Promise<void> {
  const { client, server, version } = test;

  await t.step("says that it is well, and from 0.27 on its version", async () => {
    assertEquals(await client.isHealthy(), true);
    const own = await client.version();
    if (["0.25.1", "0.26.1"].includes(version)) assertEquals(own, undefined);
    else assertMatch(own ?? "", /^(dev|v\d)/);
  });

  await t.step("has the features of its version", async () => {
    assertEquals(await client.features(), FEATURES[version] ?? CURRENT);
  });

  await t.step("refuses a wrong key, which is not repeated", async () => {
    const wrong = new Secret("wrongkey-wrongkey.wrongkey");
    using other = openHeadscale({ url: server.url, apiKey: wrong, ...PATIENCE });
    const error = await assertRejects(() => other.nodes(), HeadscaleError);
    assertEquals(error.kind, "Unauthorized");
    assertEquals(Deno.inspect(error).includes(wrong.expose()), false);
  });

  await t.step("has a user once, however many nodes ask for it at once", async () => {
    const users = await Promise.all([1, 2, 3].map(() => client.ensureUser("k8s")));
    assertEquals(new Set(users.map(({ id }) => id)).size, 1);
    assertEquals(await client.ensureUser("k8s"), users[0]);
    assertEquals((await client.users()).map(({ name }) => name), ["k8s"]);
  });

  await t.step("knows no node that is not there", async () => {
    const error = await assertRejects(() => client.node("4711"), HeadscaleError);
    assertEquals(error.kind, "NotFound");
    assertEquals(await client.deleteNode("4711"), false);
    assertEquals(await client.nodes(), []);
  });

  await t.step("is unreachable while it is away, and works when it is back", async () => {
    await server.stop();
    const error = await assertRejects(() => client.nodes(), HeadscaleError);
    assertEquals(error.kind, "Unreachable");
    await server.start();
    client.forget();
    assertEquals(await client.nodes(), []);
  });
}
