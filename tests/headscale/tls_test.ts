/** The certificate of the server: signed by a CA the machine knows, or by one that is configured. */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { HeadscaleError, openHeadscale } from "../../lib/headscale/mod.ts";
import { Secret } from "../../lib/sys/secret.ts";
import { temporaryDirectory } from "../../lib/sys/testing.ts";
import { run } from "../netlink/fixture.ts";
import { requires, tool } from "../requires.ts";

/** Makes a CA and a certificate of it for 127.0.0.1 in `directory`. */
function makeCertificates(directory: string): void {
  const openssl = (...args: readonly string[]) => run("openssl", ...args);
  const [ca, server] = [`${directory}/ca`, `${directory}/server`];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    `${ca}.key`,
    "-out",
    `${ca}.pem`,
    "-subj",
    "/CN=CA",
  );
  openssl("req", ...newKey, "-keyout", `${server}.key`, "-out", `${server}.csr`, "-subj", "/CN=hs");
  Deno.writeTextFileSync(`${server}.ext`, "subjectAltName=IP:127.0.0.1\n");
  const signed = ["-CA", `${ca}.pem`, "-CAkey", `${ca}.key`, "-CAcreateserial"];
  const files = ["-in", `${server}.csr`, "-out", `${server}.pem`, "-extfile", `${server}.ext`];
  openssl("x509", "-req", ...files, ...signed);
}

Deno.test({
  ...requires(tool("openssl")),
  name: "a server with a certificate of one's own is trusted by the file of its CA",
  async fn() {
    using directory = temporaryDirectory();
    makeCertificates(directory.path);
    await using server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
      cert: Deno.readTextFileSync(`${directory.path}/server.pem`),
      key: Deno.readTextFileSync(`${directory.path}/server.key`),
    }, () => Response.json({ status: "pass" }));
    const apiKey = new Secret("hskey-api-test");
    const url = `https://127.0.0.1:${server.addr.port}`;
    using stranger = openHeadscale({ url, apiKey, deadlineMs: 20_000 });
    const error = await assertRejects(() => stranger.isHealthy(), HeadscaleError, "certificate");
    assertEquals(error.kind, "Unreachable");
    assertStringIncludes(error.remedy ?? "", "CA's file");
    using client = openHeadscale({ url, apiKey, caFile: `${directory.path}/ca.pem` });
    assertEquals(await client.isHealthy(), true);
  },
});
