import { assert, assertEquals } from "@std/assert";
import { aliasNetwork, hostInterfaceAlias, isLeaving, leavingAlias } from "./host_interface.ts";

Deno.test("an alias tells the network, and whether a DEL has begun", () => {
  const key = { network: "net", containerId: "deleting", ifname: "deleting" };
  assertEquals(aliasNetwork(hostInterfaceAlias(key)), "net");
  assertEquals(isLeaving(hostInterfaceAlias(key)), false);
  assertEquals(aliasNetwork(leavingAlias("net")), "net");
  assertEquals(isLeaving(leavingAlias("net")), true);
  assertEquals([undefined, "", "headcni net", "other net deleting"].map(isLeaving), [
    false,
    false,
    false,
    false,
  ]);
});

Deno.test("aliases of a network with a long name fit the kernel's 255 bytes", () => {
  const network = "n".repeat(400);
  const key = { network, containerId: "c".repeat(64), ifname: "eth0" };
  assert(hostInterfaceAlias(key).length <= 255);
  assert(leavingAlias(network).length <= 255);
  assert(isLeaving(leavingAlias(network)));
});
