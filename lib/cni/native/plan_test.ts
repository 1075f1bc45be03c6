import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { parseAddress } from "../../ip/address.ts";
import { ResultError } from "../errors.ts";
import { type CniResult, EMPTY_RESULT } from "../result.ts";
import { planAttachment, type PlannedRoute } from "./plan.ts";

const KEY = { network: "net", containerId: "c1", ifname: "eth0" };

function plan(ipam: Partial<CniResult>, mac?: string) {
  return planAttachment({ key: KEY, ipam: { ...EMPTY_RESULT, ...ipam }, mtu: 1280, mac });
}

/** A route as `ip` would take it. */
function line(route: PlannedRoute): string {
  const { destination, gateway, onlink, scope, table, priority, mtu, advmss } = route;
  return [
    `${destination}`,
    gateway && `via ${gateway}`,
    onlink && "onlink",
    scope !== undefined && `scope ${scope}`,
    table !== undefined && `table ${table}`,
    priority && `metric ${priority}`,
    mtu && `mtu ${mtu}`,
    advmss && `advmss ${advmss}`,
  ].filter(Boolean).join(" ");
}

Deno.test("planAttachment() routes an IPv4 container through the other end of its veth", () => {
  const { host, container, containerRoutes, hostRoutes } = plan({
    ips: [{ address: "10.1.2.3/24", gateway: "10.1.2.1" }],
    routes: [{ dst: "0.0.0.0/0" }],
  });
  assertMatch(host.name, /^hcni[0-9a-z]{11}$/);
  assertEquals(host.addresses.map(String), ["10.1.2.1/32"]);
  assertEquals(container.addresses.map(String), ["10.1.2.3/24"]);
  assertEquals(containerRoutes.map(line), ["10.1.2.1/32", "0.0.0.0/0 via 10.1.2.1 onlink"]);
  assertEquals(hostRoutes.map(String), ["10.1.2.3/32"]);
});

Deno.test("planAttachment() gives the host end fe80::1 beside the IPv6 gateway", () => {
  const { host, containerRoutes } = plan({
    ips: [
      { address: "10.1.2.3/24", gateway: "10.1.2.1" },
      { address: "fd00::3/64", gateway: "fd00::1" },
    ],
    routes: [{ dst: "::/0" }],
  });
  assertEquals(host.addresses.map(String), ["10.1.2.1/32", "fd00::1/128", "fe80::1/64"]);
  assertEquals(containerRoutes.map(line), [
    "10.1.2.1/32",
    "fd00::1/128",
    "::/0 via fe80::1 onlink",
  ]);
});

Deno.test("planAttachment() invents link-local gateways for addresses without one", () => {
  const { host, containerRoutes } = plan({
    ips: [{ address: "10.1.2.3/24" }, { address: "fd00::3/64" }],
    routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
  });
  assertEquals(host.addresses.map(String), ["169.254.1.1/32", "fe80::1/64"]);
  assertEquals(containerRoutes.map(line), [
    "169.254.1.1/32",
    "0.0.0.0/0 via 169.254.1.1 onlink",
    "::/0 via fe80::1 onlink",
  ]);
});

Deno.test("planAttachment() carries every attribute of a route", () => {
  const { containerRoutes } = plan({
    ips: [{ address: "10.1.2.3/24", gateway: "10.1.2.1" }],
    routes: [
      { dst: "10.9.9.9/8", gw: "10.1.2.254" },
      { dst: "192.168.0.0/16", gw: "10.1.2.1", mtu: 1400, advmss: 1360, priority: 7, table: 100 },
      { dst: "172.16.0.0/12", scope: 253 },
      { dst: "172.32.0.0/12", table: 0, scope: 0 },
    ],
  });
  assertEquals(containerRoutes.slice(1).map(line), [
    "10.0.0.0/8 via 10.1.2.254 onlink",
    "192.168.0.0/16 via 10.1.2.1 onlink table 100 metric 7 mtu 1400 advmss 1360",
    "172.16.0.0/12 scope 253",
    "172.32.0.0/12 via 10.1.2.1 onlink scope 0",
  ]);
});

Deno.test("planAttachment() names one gateway of two addresses once", () => {
  const { host, containerRoutes } = plan({
    ips: [
      { address: "10.1.2.3/24", gateway: "10.1.2.1" },
      { address: "10.1.2.4/24", gateway: "10.1.2.1" },
    ],
  });
  assertEquals(host.addresses.map(String), ["10.1.2.1/32"]);
  assertEquals(containerRoutes.length, 1);
});

Deno.test("planAttachment() derives hardware addresses that stay, unless one is asked for", () => {
  const ips = [{ address: "10.1.2.3/24" }];
  const first = plan({ ips });
  assertEquals(plan({ ips }).container.mac, first.container.mac);
  assertMatch(first.container.mac, /^.[26ae](:[0-9a-f]{2}){5}$/, "locally administered, unicast");
  assertNotEquals(first.container.mac, first.host.mac);
  const wanted = "02:00:00:00:00:09";
  assertEquals(plan({ ips }, wanted).container.mac, wanted);
});

Deno.test("planAttachment() refuses what it cannot act on", () => {
  assertThrows(() => plan({}), ResultError, "it has no address");
  assertThrows(
    () => plan({ ips: [{ address: "10.1.2.3" }] }),
    ResultError,
    "Cannot use IPAM result",
  );
  const routes = [{ dst: "nowhere" }];
  assertThrows(() => plan({ ips: [{ address: "10.1.2.3/24" }], routes }), ResultError, "nowhere");
});

Deno.test("planAttachment() tells attachments apart by network, container and interface", () => {
  const ips = [{ address: "10.1.2.3/24" }];
  const names = [KEY, { ...KEY, ifname: "eth1" }, { ...KEY, containerId: "c2" }, {
    ...KEY,
    network: "n2",
  }].map((key) => planAttachment({ key, ipam: { ...EMPTY_RESULT, ips }, mtu: 1280 }).host.name);
  assertEquals(new Set(names).size, 4);
});

for (
  const [hostIp, expected] of [
    [undefined, true],
    ["0.0.0.0", true],
    ["127.0.0.1", true],
    ["192.0.2.1", false],
    ["::", false],
    ["::1", false],
  ] as const
) {
  Deno.test(`planAttachment() for a host port on ${hostIp}: loopback ${expected}`, () => {
    const port = { protocol: "tcp", hostPort: 80, containerPort: 80 } as const;
    const { servesLoopback } = planAttachment({
      key: KEY,
      ipam: { ...EMPTY_RESULT, ips: [{ address: "10.1.2.3/24" }] },
      mtu: 1280,
      hostPorts: [hostIp === undefined ? port : { ...port, hostIp: parseAddress(hostIp) }],
    });
    assertEquals(servesLoopback, expected);
  });
}
