import { assertEquals, assertRejects } from "@std/assert";
import { parsePrefix } from "../ip/prefix.ts";
import { HeadscaleError } from "./errors.ts";
import {
  type Answer,
  apiDescription,
  CURRENT_FEATURES,
  grpcError,
  openScripted,
  problem,
  startScriptedServer,
} from "./testing.ts";

const WISH = { tag: "tag:k8s-node", prefixes: [parsePrefix("10.244.0.0/16")] };
const none = () => grpcError(500, { code: 2, message: "loading ACL: acl policy not found" });

function answers(changes: Record<string, Answer> = {}): Record<string, Answer> {
  return {
    "GET /swagger/v1/openapiv2.json": () => apiDescription(CURRENT_FEATURES),
    "GET /api/v1/policy": none,
    "PUT /api/v1/policy": () => ({}),
    "POST /api/v1/policy/check": () => ({}),
    ...changes,
  };
}

Deno.test("a policy is read, checked, read again and only then written", async () => {
  await using server = startScriptedServer(answers());
  using client = openScripted(server);
  const { outcome, text } = await client.ensurePolicy(WISH);
  assertEquals(outcome, "written");
  assertEquals(server.seen.slice(1).map(({ method, path }) => `${method} ${path}`), [
    "GET /api/v1/policy",
    "POST /api/v1/policy/check",
    "GET /api/v1/policy",
    "PUT /api/v1/policy",
  ]);
  assertEquals(server.seen.at(-1)?.body, { policy: text });
});

Deno.test("a policy somebody changes meanwhile is not overwritten", async () => {
  let reads = 0;
  await using server = startScriptedServer(answers({
    "GET /api/v1/policy": () => ({ policy: `{"acls": []} // ${reads++}` }),
  }));
  using client = openScripted(server);
  await assertRejects(() => client.ensurePolicy(WISH), HeadscaleError, "somebody else changed it");
  assertEquals(server.seen.some(({ method }) => method === "PUT"), false);
});

Deno.test("a policy Headscale does not like is not written", async () => {
  await using server = startScriptedServer(answers({
    "POST /api/v1/policy/check": () => grpcError(400, { code: 3, message: "undefined tag" }),
  }));
  using client = openScripted(server);
  await assertRejects(() => client.ensurePolicy(WISH), HeadscaleError, "undefined tag");
  assertEquals(server.seen.some(({ method }) => method === "PUT"), false);
});

Deno.test("a policy in a file is told apart from a failure, in both formats", async () => {
  const disabled = "update is disabled for modes other than 'database'";
  for (
    const refused of [
      () => grpcError(500, { code: 2, message: disabled }),
      () => problem(400, disabled),
    ]
  ) {
    await using server = startScriptedServer(answers({ "PUT /api/v1/policy": refused }));
    using client = openScripted(server);
    const { outcome, added } = await client.ensurePolicy(WISH);
    assertEquals([outcome, added], ["readOnly", ["all"]]);
  }
});
