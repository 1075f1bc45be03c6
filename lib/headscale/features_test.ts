import { assertEquals, assertRejects } from "@std/assert";
import { HeadscaleError } from "./errors.ts";
import {
  apiDescription,
  CURRENT_FEATURES,
  OLD_FEATURES,
  openScripted,
  startScriptedServer,
} from "./testing.ts";

const SWAGGER = "GET /swagger/v1/openapiv2.json";

Deno.test("features come from the description of the API, and are asked for once", async () => {
  for (const features of [OLD_FEATURES, CURRENT_FEATURES]) {
    await using server = startScriptedServer({ [SWAGGER]: () => apiDescription(features) });
    using client = openScripted(server);
    assertEquals(await client.features(), features);
    await client.features();
    assertEquals(server.seen.length, 1);
    client.forget();
    await client.features();
    assertEquals(server.seen.length, 2);
  }
});

Deno.test("0.30 describes itself elsewhere", async () => {
  const paths = { "/api/v1/node/{nodeId}/approve_routes": { post: {} } };
  await using server = startScriptedServer({
    "GET /api/v1/openapi.json": () => ({ openapi: "3.1.0", paths }),
  });
  using client = openScripted(server);
  assertEquals(await client.features(), CURRENT_FEATURES);
});

Deno.test("what is no Headscale, or one too old, says so", async (t) => {
  const cases = {
    "neither description": [{}, "it serves neither"],
    "0.22": [{ [SWAGGER]: () => ({ swagger: "2.0", paths: { "/api/v1/machine": {} } }) }, "older"],
    "something else": [{ "*": () => new Response("<html>hello</html>") }, "it is no JSON"],
  } as const;
  for (const [name, [answers, reason]] of Object.entries(cases)) {
    await t.step(name, async () => {
      await using server = startScriptedServer(answers);
      using client = openScripted(server);
      await assertRejects(() => client.features(), HeadscaleError, reason);
    });
  }
});
