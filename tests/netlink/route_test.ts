/** Routes, compared with what `ip -json route` says. */

import { assertEquals, assertThrows } from "@std/assert";
import { type Family, parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import {
  RT_TABLE_MAIN,
  RTN_BLACKHOLE,
  RTN_UNREACHABLE,
  RTPROT_STATIC,
} from "../../lib/netlink/constants/rtnetlink.ts";
import {
  addAddress,
  addRoute,
  appendRoute,
  createVeth,
  deleteRoute,
  getLink,
  getRoute,
  listRoutes,
  NetlinkError,
  replaceRoute,
  type Route,
  setLinkUp,
} from "../../lib/netlink/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { type Json, only, Sandbox } from "./fixture.ts";

const needs = requires(root, tool("ip", "iproute2"));
const SCOPES: Readonly<Record<number, string>> = { 0: "global", 253: "link", 254: "host" };
const TYPES: Readonly<Record<number, string>> = {
  1: "unicast",
  2: "local",
  3: "broadcast",
  4: "anycast",
  5: "multicast",
  6: "blackhole",
  7: "unreachable",
};

function ours(route: Route, linkName: (index: number) => string): Json {
  const { destination, gateway, index, priority, source } = route;
  const text = destination.isHost ? `${destination.address}` : `${destination}`;
  return {
    destination: destination.length === 0 ? "default" : text,
    gateway: gateway === undefined ? undefined : `${gateway}`,
    device: index === undefined ? undefined : linkName(index),
    priority,
    source: source === undefined ? undefined : `${source}`,
    type: TYPES[route.type],
    scope: SCOPES[route.scope],
    mtu: route.mtu,
    advmss: route.advmss,
    onlink: route.onlink,
    hops: route.nextHops.map((hop) => [`${hop.gateway}`, linkName(hop.index), hop.weight]),
  };
}

function theirs(route: Json): Json {
  const metrics = route.metrics?.[0] ?? {};
  return {
    destination: route.dst,
    gateway: route.gateway ?? route.via?.host,
    device: route.dev,
    priority: route.metric,
    source: route.prefsrc,
    type: route.type,
    scope: route.scope,
    mtu: metrics.mtu,
    advmss: metrics.advmss,
    onlink: route.flags.includes("onlink"),
    hops: (route.nexthops ?? []).map((hop: Json) => [hop.gateway, hop.dev, hop.weight]),
  };
}

function assertSameRoutes(sandbox: Sandbox, family: Family, table: number): void {
  const { connection } = sandbox;
  const names = (index: number) => getLink(connection, { index }).name;
  assertEquals(
    listRoutes(connection, { family, table }).map((route) => ours(route, names)),
    sandbox.ip(`-${family}`, "route", "show", "table", String(table)).map(theirs),
  );
}

/** A sandbox with link `a` up and addresses on it. */
function withLink(): { sandbox: Sandbox; index: number } {
  const sandbox = new Sandbox();
  const { connection } = sandbox;
  connection.batch([
    createVeth({ name: "a", peer: { name: "b" } }),
    setLinkUp({ name: "a" }),
    setLinkUp({ name: "b" }),
  ]);
  const { index } = getLink(connection, { name: "a" });
  connection.batch([
    addAddress({ index, address: parsePrefix("10.1.0.2/24") }),
    addAddress({ index, address: parsePrefix("fd00:1::2/64"), noDad: true }),
  ]);
  return { sandbox, index };
}

Deno.test({
  ...needs,
  name: "IPv4 routes with every attribute of a CNI result look to ip as asked",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    const gateway = parseAddress("10.1.0.1");
    sandbox.connection.batch([
      addRoute({ destination: parsePrefix("0.0.0.0/0"), gateway }),
      addRoute({ destination: parsePrefix("10.2.0.0/16"), index }),
      addRoute({ destination: parsePrefix("10.3.0.1/32"), index, scope: 254 }),
      addRoute({ destination: parsePrefix("10.4.0.0/16"), gateway, priority: 77 }),
      addRoute({ destination: parsePrefix("10.5.0.0/16"), gateway, mtu: 1280, advmss: 1240 }),
      addRoute({
        destination: parsePrefix("10.6.0.0/16"),
        gateway,
        source: parseAddress("10.1.0.2"),
        protocol: RTPROT_STATIC,
      }),
      addRoute({
        destination: parsePrefix("10.7.0.0/16"),
        gateway: parseAddress("192.0.2.1"),
        index,
        onlink: true,
      }),
      addRoute({ destination: parsePrefix("10.8.0.0/16"), type: RTN_UNREACHABLE, priority: 4096 }),
      addRoute({ destination: parsePrefix("10.9.0.0/16"), type: RTN_BLACKHOLE }),
      addRoute({
        destination: parsePrefix("10.10.0.0/16"),
        nextHops: [
          { gateway: parseAddress("10.1.0.3"), weight: 1 },
          { gateway: parseAddress("10.1.0.4"), index, weight: 5 },
        ],
      }),
      addRoute({
        destination: parsePrefix("10.11.0.0/16"),
        gateway: parseAddress("fd00:1::1"),
        index,
      }),
      addRoute({ destination: parsePrefix("10.12.0.0/16"), gateway, table: 100 }),
      addRoute({ destination: parsePrefix("10.13.0.0/16"), gateway, table: 51_820 }),
    ]);
    assertSameRoutes(sandbox, 4, RT_TABLE_MAIN);
    assertSameRoutes(sandbox, 4, 100);
    assertSameRoutes(sandbox, 4, 51_820);
    assertEquals(listRoutes(sandbox.connection, { family: 4, table: 51_820 }).length, 1);
    assertEquals(listRoutes(sandbox.connection, { family: 4, table: 99 }), []);
    assertSameRoutes(sandbox, 4, 255);
  },
});

Deno.test({
  ...needs,
  name: "IPv6 routes with every attribute of a CNI result look to ip as asked",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    const gateway = parseAddress("fd00:1::1");
    sandbox.connection.batch([
      addRoute({ destination: parsePrefix("::/0"), gateway, index }),
      addRoute({ destination: parsePrefix("fd00:2::/64"), index }),
      addRoute({ destination: parsePrefix("fd00:3::/64"), gateway, index, priority: 77 }),
      addRoute({ destination: parsePrefix("fd00:4::/64"), gateway, mtu: 1280, advmss: 1220 }),
      addRoute({
        destination: parsePrefix("fd00:5::/64"),
        gateway,
        source: parseAddress("fd00:1::2"),
      }),
      addRoute({
        destination: parsePrefix("fd00:6::/64"),
        gateway: parseAddress("fd00:ffff::1"),
        index,
        onlink: true,
      }),
      addRoute({ destination: parsePrefix("fd00:7::/64"), type: RTN_UNREACHABLE }),
      addRoute({
        destination: parsePrefix("fd00:8::/64"),
        nextHops: [
          { gateway: parseAddress("fd00:1::3"), index, weight: 1 },
          { gateway: parseAddress("fd00:1::4"), index, weight: 2 },
        ],
      }),
      addRoute({ destination: parsePrefix("fd00:9::/64"), gateway, index, table: 1000 }),
    ]);
    assertSameRoutes(sandbox, 6, RT_TABLE_MAIN);
    assertSameRoutes(sandbox, 6, 1000);
  },
});

Deno.test({
  ...needs,
  name: "routes are replaced, appended and deleted",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    const { connection } = sandbox;
    for (const [text, first, second] of ROUTES) {
      const destination = parsePrefix(text);
      connection.execute(addRoute({ destination, gateway: parseAddress(first), index }));
      connection.execute(replaceRoute({ destination, gateway: parseAddress(second), index }));
      assertEquals(gateways(sandbox, text), [second]);
      connection.execute(
        appendRoute({ destination, gateway: parseAddress(first), index, priority: 2000 }),
      );
      assertEquals(gateways(sandbox, text), [second, first]);
      connection.execute(deleteRoute({ destination, priority: 2000 }));
      assertEquals(gateways(sandbox, text), [second]);
      connection.execute(deleteRoute({ destination }));
      assertEquals(gateways(sandbox, text), []);
    }
  },
});

const ROUTES = [
  ["10.2.0.0/16", "10.1.0.1", "10.1.0.9"],
  ["fd00:2::/64", "fd00:1::1", "fd00:1::9"],
] as const;

function gateways(sandbox: Sandbox, destination: string): string[] {
  const family = destination.includes(":") ? "-6" : "-4";
  return sandbox.ip(family, "route", "show", destination).map((route) => route.gateway);
}

Deno.test({
  ...needs,
  name: "routes are filtered by table, link, protocol and type",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    const { connection } = sandbox;
    connection.batch([
      addRoute({ destination: parsePrefix("10.2.0.0/16"), index, protocol: RTPROT_STATIC }),
      addRoute({ destination: parsePrefix("10.3.0.0/16"), type: RTN_UNREACHABLE }),
      addRoute({ destination: parsePrefix("fd00:3::/64"), index, protocol: RTPROT_STATIC }),
    ]);
    const texts = (filter: Parameters<typeof listRoutes>[1]) =>
      listRoutes(connection, filter).map(({ destination }) => `${destination}`).sort();
    assertEquals(texts({ protocol: RTPROT_STATIC }), ["10.2.0.0/16", "fd00:3::/64"]);
    assertEquals(texts({ family: 4, type: RTN_UNREACHABLE }), ["10.3.0.0/16"]);
    assertEquals(texts({ family: 4, index, table: RT_TABLE_MAIN }), ["10.1.0.0/24", "10.2.0.0/16"]);
  },
});

Deno.test({
  ...needs,
  name: "a route lookup gives the way ip gives",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    const { connection } = sandbox;
    connection.batch([
      addRoute({ destination: parsePrefix("0.0.0.0/0"), gateway: parseAddress("10.1.0.1") }),
      addRoute({ destination: parsePrefix("::/0"), gateway: parseAddress("fd00:1::1"), index }),
    ]);
    for (const text of ["192.0.2.7", "10.1.0.9", "2001:db8::7"]) {
      const route = getRoute(connection, { destination: parseAddress(text) });
      const expected = only(sandbox.ip("route", "get", text));
      assertEquals(route?.gateway === undefined ? undefined : `${route.gateway}`, expected.gateway);
      assertEquals(`${route?.source}`, expected.prefsrc);
      assertEquals([route?.index, expected.dev], [index, "a"]);
    }
    connection.execute(deleteRoute({ destination: parsePrefix("0.0.0.0/0") }));
    assertThrows(
      () => getRoute(connection, { destination: parseAddress("192.0.2.7") }),
      NetlinkError,
      "Cannot look up route to 192.0.2.7: Network is unreachable (ENETUNREACH)",
    );
  },
});
