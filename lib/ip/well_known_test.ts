import { assert, assertEquals } from "@std/assert";
import * as ip from "./mod.ts";

Deno.test("well-known prefixes are networks that print as their documented text", () => {
  const table: [prefix: ip.Prefix, text: string][] = [
    [ip.IPV4_ANY, "0.0.0.0/0"],
    [ip.IPV6_ANY, "::/0"],
    [ip.TAILNET_IPV4, "100.64.0.0/10"],
    [ip.TAILNET_IPV6, "fd7a:115c:a1e0::/48"],
    [ip.LOOPBACK_IPV4, "127.0.0.0/8"],
    [ip.LOOPBACK_IPV6, "::1/128"],
    [ip.LINK_LOCAL_IPV4, "169.254.0.0/16"],
    [ip.LINK_LOCAL_IPV6, "fe80::/10"],
    [ip.MULTICAST_IPV4, "224.0.0.0/4"],
    [ip.MULTICAST_IPV6, "ff00::/8"],
  ];
  for (const [prefix, text] of table) {
    assertEquals(prefix.toString(), text);
    assert(prefix.isNetwork);
  }
});
