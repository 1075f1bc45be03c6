/**
 * Connects the test's process with a server inside a network namespace: `relay.ts SOCKET PORT`
 * runs in there and carries each connection to the unix socket on to the server's port. A path is
 * the same in all network namespaces.
 */

import { pump } from "./pump.ts";

const [socket = "", port = ""] = Deno.args;
const listener = Deno.listen({ transport: "unix", path: socket });
Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));
for await (const connection of listener) {
  pump(connection, () => Deno.connect({ hostname: "127.0.0.1", port: Number(port) }));
}
