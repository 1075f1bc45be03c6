import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError } from "../sys/config_error.ts";
import { type JsonObject } from "../sys/json_reader.ts";
import { isOwnIpam, readPluginConfig } from "./plugin_config.ts";

function read(raw: JsonObject) {
  return readPluginConfig({ cniVersion: "1.0.0", name: "net", raw });
}

Deno.test("readPluginConfig() needs nothing but pod_cidr", () => {
  const config = read({ pod_cidr: "10.42.1.0/24" });
  assertEquals(config.ipam, {
    type: "headcni-ipam",
    ranges: [[{ subnet: "10.42.1.0/24" }]],
    routes: [{ dst: "0.0.0.0/0" }],
  });
  const { mode, mtu, ipMasq, antiSpoof } = config;
  assertEquals({ mode, mtu, ipMasq, antiSpoof }, {
    mode: "host",
    mtu: undefined,
    ipMasq: true,
    antiSpoof: true,
  });
});

Deno.test("readPluginConfig() makes two range sets of a dual-stack pod_cidr", () => {
  const { ipam } = read({ pod_cidr: "10.42.1.0/24,fd42:1::/64" });
  assertEquals(ipam?.ranges, [[{ subnet: "10.42.1.0/24" }], [{ subnet: "fd42:1::/64" }]]);
  assertEquals(ipam?.routes, [{ dst: "0.0.0.0/0" }, { dst: "::/0" }]);
});

Deno.test("readPluginConfig() leaves IPv6 out when enable_ipv6 is false", () => {
  const { ipam } = read({ pod_cidr: "10.42.1.0/24,fd42:1::/64", enable_ipv6: false });
  assertEquals(ipam?.ranges, [[{ subnet: "10.42.1.0/24" }]]);
});

Deno.test("readPluginConfig() takes a written ipam as it is", () => {
  const ipam = { type: "static", addresses: [{ address: "10.0.0.5/24" }] };
  assertEquals(read({ ipam, pod_cidr: "10.42.1.0/24" }).ipam, ipam);
});

Deno.test("readPluginConfig() has no addresses to give without ipam and pod_cidr", () => {
  assertEquals(read({}).ipam, undefined);
  assertEquals(read({ ipam: {} }).ipam, undefined);
});

Deno.test("readPluginConfig() is silent about keys of others", () => {
  read({ pod_cidr: "10.42.1.0/24", isGateway: true, bridge: 7, "cni.dev/x": null });
});

/** A configuration and what must be said of it. */
const WRONG: readonly [raw: JsonObject, says: string][] = [
  [{ pod_cidr: "10.42.1.5/24" }, "pod_cidr is wrong"],
  [{ pod_cidr: "10.42.1.0/24,10.42.2.0/24" }, "pod_cidr has more than one prefix of a family"],
  [{ pod_cidr: 7 }, "pod_cidr is 7 instead of a text"],
  [{ pod_cidr: "10.0.0.0/8", service_cidr: "10.96.0.0/12" }, "overlaps pod_cidr 10.0.0.0/8"],
  [{ mode: "hots" }, 'mode is "hots" instead of one of host, daemon'],
  [{ mtu: 1400.5 }, "mtu is 1400.5 instead of a whole number"],
  [{ mtu: 40 }, "mtu is 40, below 68"],
  [{ mtu: 70000 }, "mtu is 70000, not between"],
  [{ mtu: 1000, pod_cidr: "fd00::/64" }, "mtu is 1000, but IPv6 needs 1280"],
  [{ enable_ipv6: true, pod_cidr: "10.42.1.0/24" }, "pod_cidr has no IPv6 prefix"],
  [{ enable_ipv6: "yes" }, 'enable_ipv6 is "yes" instead of true or false'],
  [{ ipam: { type: 5 } }, "ipam.type is 5"],
  [{ ipam: { subnet: "10.0.0.0/8" } }, "ipam.type is missing"],
  [{ ipam: [] }, "ipam is [] instead of an object"],
  [{ ipMasq: 1 }, "ipMasq is 1 instead of true or false"],
  [{ antiSpoof: "no" }, "antiSpoof is"],
  [{ dataDir: "var/lib" }, 'dataDir is "var/lib" instead of an absolute path'],
  [{ logFile: 3 }, "logFile is 3"],
  [{ logLevel: "loud" }, "logLevel is"],
  [{ headscale_url: "headscale.example" }, "headscale_url is wrong"],
  [{ headscale_url: "file:///etc/passwd" }, "headscale_url is wrong"],
  [{ tailscale_socket: "tailscaled.sock" }, "tailscale_socket is"],
  [{ enable_network_policy: "true" }, "enable_network_policy is"],
  [{ dns: { nameservers: ["example"] } }, "dns.nameservers[0] is wrong"],
  [{ magic_dns: { enable: 1 } }, "magic_dns.enable is 1"],
  [{ magic_dns: { enable: true, nameservers: "x" } }, 'magic_dns.nameservers is "x"'],
  [
    { runtimeConfig: { portMappings: [{ hostPort: 70000, containerPort: 1 }] } },
    "runtimeConfig.portMappings[0].hostPort is 70000",
  ],
  [{ runtimeConfig: { portMappings: [{ hostPort: 80 }] } }, "containerPort is missing"],
  [
    { runtimeConfig: { portMappings: [{ hostPort: 80, containerPort: 1, protocol: "icmp" }] } },
    "protocol is",
  ],
  [
    { runtimeConfig: { portMappings: [{ hostPort: 80, containerPort: 1, hostIP: "x" }] } },
    "hostIP is wrong",
  ],
  [{ runtimeConfig: { bandwidth: { ingressRate: 1000 } } }, "ingressBurst is missing"],
  [{ runtimeConfig: { bandwidth: { egressBurst: 1000 } } }, "egressRate is missing"],
  [{ runtimeConfig: { mac: "zz" } }, "runtimeConfig.mac is wrong"],
  [{ runtimeConfig: { ips: ["10.0.0"] } }, "runtimeConfig.ips[0] is wrong"],
  [{ runtimeConfig: [] }, "runtimeConfig is [] instead of an object"],
];

for (const [raw, says] of WRONG) {
  Deno.test(`readPluginConfig() says of ${JSON.stringify(raw)}: ${says}`, () => {
    assertStringIncludes(assertThrows(() => read(raw), ConfigError).message, says);
  });
}

Deno.test("readPluginConfig() tells all mistakes at once", () => {
  const error = assertThrows(() => read({ mode: "x", mtu: "y", ipMasq: "z" }), ConfigError);
  assertEquals(error.problems.map(({ key }) => key).toSorted(), ["ipMasq", "mode", "mtu"]);
});

Deno.test("readPluginConfig() reads what containerd writes with capital letters", () => {
  const { runtime } = read({
    runtimeConfig: {
      PortMappings: [
        { HostPort: 8080, ContainerPort: 80, Protocol: "TCP", HostIP: "" },
        { HostPort: 0, ContainerPort: 81 },
        { HostPort: 53, ContainerPort: 53, Protocol: "udp", HostIP: "0.0.0.0" },
      ],
      Bandwidth: { IngressRate: 8000, IngressBurst: 8000, EgressRate: 0, EgressBurst: 0 },
      DNS: { Servers: ["10.96.0.10"], Searches: ["svc"], Options: [] },
    },
  });
  assertEquals(
    runtime.portMappings.map(({ hostPort, protocol, hostIp }) => [
      hostPort,
      protocol,
      hostIp?.toString(),
    ]),
    [[8080, "tcp", undefined], [53, "udp", "0.0.0.0"]],
  );
  assertEquals(runtime.bandwidth?.ingressRate, 8000);
  assertEquals(runtime.dns, { nameservers: ["10.96.0.10"], search: ["svc"] });
});

Deno.test("readPluginConfig() takes the hardware address of runtimeConfig, else of args.cni", () => {
  const [one, two] = ["02:00:00:00:00:01", "02:00:00:00:00:02"];
  const args = { cni: { mac: two } };
  assertEquals(read({ args, runtimeConfig: { Mac: one } }).runtime.mac, one);
  assertEquals(read({ args }).runtime.mac, two);
  assertThrows(() => read({ args: { cni: { mac: "x" } } }), ConfigError, "args.cni.mac is wrong");
});

Deno.test("readPluginConfig() takes no bandwidth for no limit", () => {
  const bandwidth = { ingressRate: 0, ingressBurst: 0, egressRate: 0, egressBurst: 0 };
  assertEquals(read({ runtimeConfig: { bandwidth } }).runtime.bandwidth, undefined);
  assert(read({ bandwidth: { egressRate: 8, egressBurst: 8 } }).runtime.bandwidth !== undefined);
});

Deno.test("readPluginConfig() orders name servers: cluster, tailnet, others", () => {
  const { dns } = read({
    dns: { nameservers: ["8.8.8.8", "10.96.0.10"], search: ["svc.cluster.local"] },
    magic_dns: { enable: true, base_domain: "tail.example", search_domains: ["svc.cluster.local"] },
  });
  assertEquals(dns, {
    nameservers: ["10.96.0.10", "100.100.100.100", "8.8.8.8"],
    search: ["svc.cluster.local", "tail.example"],
  });
});

Deno.test("readPluginConfig() leaves dns as written without magic_dns", () => {
  const dns = { nameservers: ["8.8.8.8", "10.96.0.10"], domain: "d", options: ["ndots:5"] };
  assertEquals(read({ dns, magic_dns: { enable: false, base_domain: "x" } }).dns, dns);
  assertEquals(read({}).dns, undefined);
});

Deno.test("isOwnIpam() knows both names of our own", () => {
  assertEquals(["headcni-ipam", "headcni", "host-local"].map(isOwnIpam), [true, true, false]);
});
