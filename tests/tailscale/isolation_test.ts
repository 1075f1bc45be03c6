/** A namespace for our tailscaled, beside a node that has one of its own. */

import { assert, assertEquals } from "@std/assert";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { deleteNetns } from "../../lib/netlink/named_netns.ts";
import {
  ensureIsolation,
  removeIsolation,
  syncIsolationRoutes,
  TailscaledSupervisor,
} from "../../lib/tailscale/mod.ts";
import { run, Sandbox } from "../netlink/fixture.ts";
import { requires, root } from "../requires.ts";
import { NEEDS, TestHost } from "./fixture.ts";

/** A namespace of this name, which goes away with the test whatever happens. */
function roomName(): Disposable & { readonly name: string } {
  const name = `hcnt-room-${crypto.randomUUID().slice(0, 8)}`;
  return { name, [Symbol.dispose]: () => void deleteNetns(name) };
}

/** The first packet over a new cable may be too early; one answer is enough. */
const PING = ["ping", "-c5", "-i0.2", "-W2"];

const routesOf = (node: Sandbox, family: "-4" | "-6") =>
  node.ip(family, "route", "show", "dev", "headcni-ts0", "proto", "104")
    .map(({ dst, gateway }) => `${dst} via ${gateway}`).sort();

Deno.test({
  ...requires(root),
  name: "node and namespace reach each other; what is in order is left alone",
  fn() {
    using node = new Sandbox();
    using room = roomName();
    const spec = { name: room.name, node: node.netns };
    const first = ensureIsolation(spec);
    assertEquals(first.gateways.map(String), ["169.254.101.2", "fd68:6361:6e69::2"]);
    for (const gateway of first.gateways) node.run(...PING, `${gateway}`);
    const inside = (...command: string[]) => run("ip", "netns", "exec", room.name, ...command);
    inside(...PING, "169.254.101.1");
    inside(...PING, "fd68:6361:6e69::1");
    assertEquals(inside("sysctl", "-n", "net.ipv4.ip_forward").trim(), "1");
    assertEquals(inside("sysctl", "-n", "net.ipv6.conf.all.forwarding").trim(), "1");
    assert(inside("ip", "-6", "route").includes("default via fd68:6361:6e69::1"));

    const look = () => [
      node.ip("link"),
      inside("ip", "link"),
      inside("ip", "-oneline", "addr", "show", "scope", "global"),
      inside("ip", "route"),
    ];
    const before = look();
    assertEquals(ensureIsolation(spec), first);
    assertEquals(look(), before);
    assertEquals(removeIsolation(spec), true);
    assertEquals(removeIsolation(spec), false);
    assertEquals(node.ip("link").map(({ ifname }) => ifname), ["lo"]);
  },
});

Deno.test({
  ...requires(root),
  name: "what was damaged is repaired: an address, an end of the cable, the namespace",
  fn() {
    using node = new Sandbox();
    using room = roomName();
    const spec = { name: room.name, node: node.netns };
    const damages: (() => unknown)[] = [
      () => node.ip("addr", "flush", "dev", "headcni-ts0"),
      () => node.ip("link", "set", "headcni-ts0", "down"),
      () => node.ip("link", "del", "headcni-ts0"),
      () => run("ip", "-n", room.name, "route", "flush", "table", "main"),
      () => deleteNetns(room.name),
    ];
    ensureIsolation(spec);
    for (const damage of damages) {
      damage();
      for (const gateway of ensureIsolation(spec).gateways) {
        node.run(...PING, `${gateway}`);
      }
    }
    removeIsolation(spec);
  },
});

Deno.test({
  ...requires(root),
  name: "the node's routes through the cable are exactly the wanted ones, and others' stay",
  fn() {
    using node = new Sandbox();
    using room = roomName();
    const spec = { name: room.name, node: node.netns };
    const isolation = ensureIsolation(spec);
    node.ip("route", "add", "192.0.2.0/24", "via", "169.254.101.2");
    const sync = (...prefixes: string[]) =>
      syncIsolationRoutes(isolation, prefixes.map((text) => parsePrefix(text)), spec);
    sync("100.64.0.0/10", "10.244.2.0/24", "fd7a:115c:a1e0::/48");
    assertEquals(routesOf(node, "-4"), [
      "10.244.2.0/24 via 169.254.101.2",
      "100.64.0.0/10 via 169.254.101.2",
    ]);
    sync("100.64.0.0/10", "10.244.9.0/24");
    sync("100.64.0.0/10", "10.244.9.0/24");
    assertEquals(routesOf(node, "-4"), [
      "10.244.9.0/24 via 169.254.101.2",
      "100.64.0.0/10 via 169.254.101.2",
    ]);
    assertEquals(routesOf(node, "-6"), []);
    assert(node.run("ip", "route").includes("192.0.2.0/24 via 169.254.101.2"));
    removeIsolation(spec);
  },
});

Deno.test({
  ...NEEDS,
  name: "in a namespace of its own our tailscaled runs beside the node's",
  async fn() {
    await using host = new TestHost();
    using room = roomName();
    const foreign = await host.foreign();
    const rules = host.sandbox.ip("rule", "show");
    ensureIsolation({ name: room.name, node: host.sandbox.netns });
    const settings = { ...host.options().settings, netns: room.name };
    const supervisor = new TailscaledSupervisor({ settings });
    await supervisor.start();
    assertEquals((await supervisor.api.status()).state, "NeedsLogin");
    assertEquals((await foreign.status()).state, "NeedsLogin");
    assertEquals(host.sandbox.ip("rule", "show"), rules);
    assert(run("ip", "-n", room.name, "link").includes("headcni01"));
    await supervisor.stop();
    assertEquals((await foreign.status()).state, "NeedsLogin");
    removeIsolation({ name: room.name, node: host.sandbox.netns });
  },
});
