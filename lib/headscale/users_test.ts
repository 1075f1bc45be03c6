import { assertEquals, assertRejects } from "@std/assert";
import { HeadscaleError } from "./errors.ts";
import { grpcError, openScripted, startScriptedServer } from "./testing.ts";

Deno.test("a user another node creates at the same moment is the same user", async () => {
  const users: unknown[] = [];
  await using server = startScriptedServer({
    "GET /api/v1/user": () => ({ users }),
    "POST /api/v1/user": () => {
      users.push({ id: "4", name: "k8s" });
      return grpcError(500, { code: 2, message: "UNIQUE constraint failed: users.name" });
    },
  });
  using client = openScripted(server);
  assertEquals(await client.ensureUser("k8s"), { id: "4", name: "k8s" });
});

Deno.test("a user that cannot be created says why", async () => {
  await using server = startScriptedServer({
    "GET /api/v1/user": () => ({ users: [{ id: "1", name: "K8S" }] }),
    "POST /api/v1/user": () => grpcError(400, { code: 3, message: "name is not valid" }),
  });
  using client = openScripted(server);
  await assertRejects(() => client.ensureUser("k8s"), HeadscaleError, "name is not valid");
  assertEquals(server.seen.at(1)?.body, { name: "k8s" });
});
