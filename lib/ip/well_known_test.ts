import { assert, assertEquals } from "@std/assert";
import * as ip from "./mod.ts";

Deno.test("well-known prefixes are networks that print as their documented text", () => {
  const table: [prefix: ip.Prefix, text: string][] = [
    [ip.TAILNET_IPV4, "100.64.0.0/10"],
    [ip.TAILNET_IPV6, "fd7a:115c:a1e0::/48"],
  ];
  for (const [prefix, text] of table) {
    assertEquals(prefix.toString(), text);
    assert(prefix.isNetwork);
  }
});
