import { assertEquals, assertThrows } from "@std/assert";
import { parseAddress } from "../ip/mod.ts";
import { HeadcniError } from "../sys/errors.ts";
import { elementsOf, formatElement, POD_SETS } from "./elements.ts";
import { FirewallError } from "./errors.ts";
import type { HostPort, PodRules } from "./pod_rules.ts";

const BARE: PodRules = {
  hostInterface: "hcni0a1b",
  addresses: [parseAddress("10.244.3.7")],
  masquerade: false,
  antiSpoof: true,
  hostPorts: [],
};

function lines(changes: Partial<PodRules>): string[] {
  return elementsOf({ ...BARE, ...changes }).map(formatElement);
}

function port(changes: Partial<Omit<HostPort, "hostIp">> & { hostIp?: string } = {}): HostPort {
  const { hostIp, ...rest } = changes;
  return {
    protocol: "tcp",
    hostPort: 8080,
    containerPort: 80,
    ...rest,
    ...(hostIp === undefined ? {} : { hostIp: parseAddress(hostIp) }),
  };
}

Deno.test("a checked pod may send IP and ARP from each of its addresses", () => {
  assertEquals(lines({}), [
    "inet headcni source4 { hcni0a1b . 10.244.3.7 }",
    "arp headcni source4 { hcni0a1b . 10.244.3.7 }",
  ]);
  assertEquals(lines({ addresses: [parseAddress("fd00::7")] }), [
    "inet headcni source6 { hcni0a1b . fd00::7 }",
  ]);
});

Deno.test("an unchecked pod is known by its interface", () => {
  assertEquals(lines({ antiSpoof: false, masquerade: true }), [
    "inet headcni unchecked { hcni0a1b }",
    "arp headcni unchecked { hcni0a1b }",
    "inet headcni masquerade4 { 10.244.3.7 }",
  ]);
});

Deno.test("a host port leads to the first address of its family and marks the hairpin", () => {
  const addresses = ["10.244.3.7", "10.244.3.8"].map(parseAddress);
  assertEquals(lines({ addresses, hostPorts: [port()] }).slice(4), [
    "inet headcni host_port4 { tcp . 8080 : 10.244.3.7 . 80 }",
    "inet headcni hairpin4 { 10.244.3.7 . 10.244.3.7 }",
  ]);
});

Deno.test("an address of the node binds a host port; another family's is passed over", () => {
  const bound = lines({ hostPorts: [port({ hostIp: "192.0.2.1", protocol: "udp" })] });
  assertEquals(bound[2], "inet headcni host_port_ip4 { 192.0.2.1 . udp . 8080 : 10.244.3.7 . 80 }");
  const unspecified = lines({ hostPorts: [port({ hostIp: "0.0.0.0" })] });
  assertEquals(unspecified[2], "inet headcni host_port4 { tcp . 8080 : 10.244.3.7 . 80 }");
  assertEquals(lines({ hostPorts: [port({ hostIp: "2001:db8::1" })] }).length, 2);
});

Deno.test("a repeated host port counts once, one with two targets is refused", () => {
  assertEquals(lines({ hostPorts: [port(), port(), port({ hostIp: "0.0.0.0" })] }).length, 4);
  assertThrows(
    () => lines({ hostPorts: [port(), port({ containerPort: 81 })] }),
    FirewallError,
    "one host port leads to two places",
  );
});

const REFUSED: readonly [string, Partial<PodRules>, string][] = [
  ["a port of zero", { hostPorts: [port({ hostPort: 0 })] }, "0 is no port"],
  ["a large port", { hostPorts: [port({ containerPort: 65536 })] }, "65536 is no port"],
  ["half a port", { hostPorts: [port({ hostPort: 1.5 })] }, "1.5 is no port"],
  ["IPv6 loopback", { hostPorts: [port({ hostIp: "::1" })] }, "IPv6 cannot lead ::1 to a pod"],
  ["a foreign interface", { hostInterface: "veth1" }, "begin with hcni"],
  ["a long interface", { hostInterface: "hcni567890123456" }, "the limit is 15"],
];

for (const [what, changes, message] of REFUSED) {
  Deno.test(`${what} is refused`, () => {
    assertThrows(() => lines(changes), HeadcniError, message);
  });
}

Deno.test("only sets of pods are searched for left-overs", () => {
  const names = POD_SETS.map(({ set }) => set);
  assertEquals(names.filter((name) => /cluster|tunnel/.test(name)), []);
  assertEquals(POD_SETS.length, 13);
});
