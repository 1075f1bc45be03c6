/** The keys of this plugin's configuration, and those it shares with others. */

import { assertEquals } from "@std/assert";
import { ipam, SUBNET4 } from "../config.ts";
import { type Json } from "../namespace.ts";
import { type Row, rows } from "./row.ts";

const CODE_7 = "SPEC 1.1.0, Error: 7, invalid network config; every problem names its key";

/** A configuration that is wrong, and the key the error has to name. */
const WRONG: readonly (readonly [config: Json, key: string])[] = [
  [{ mode: "bridge" }, "mode"],
  [{ mode: 1 }, "mode"],
  [{ ipam: undefined, pod_cidr: "10.1.2.3/24" }, "pod_cidr"],
  [{ ipam: undefined, pod_cidr: "10.0.0.0" }, "pod_cidr"],
  [{ ipam: undefined, pod_cidr: 10 }, "pod_cidr"],
  [{ ipam: undefined, pod_cidr: "10.0.0.0/24,10.1.0.0/24" }, "pod_cidr"],
  [{ ipam: undefined, pod_cidr: "10.0.0.0/24", service_cidr: "10.0.0.0/16" }, "service_cidr"],
  [{ ipam: undefined }, "pod_cidr"],
  [{ service_cidr: "x" }, "service_cidr"],
  [{ ipam: "host-local" }, "ipam"],
  [{ ipam: [] }, "ipam"],
  [{ ipam: { subnet: SUBNET4 } }, "ipam.type"],
  [{ ipam: { type: 5 } }, "ipam.type"],
  [{ ipam: ipam([]) }, "ipam"],
  [{ ipam: ipam(["10.1.2.3/24"]) }, "ipam.ranges[0][0].subnet"],
  [{ ipam: ipam(["10.1.2.0/31"]) }, "ipam.ranges[0][0].subnet"],
  [{ ipam: ipam(["x"]) }, "ipam.ranges[0][0].subnet"],
  [{ ipam: ipam([SUBNET4, "10.83.0.128/25"]) }, "ipam.ranges"],
  [{ ipam: ipam([SUBNET4], { routes: [{ gw: "10.83.0.1" }] }) }, "ipam.routes[0].dst"],
  [{ ipam: ipam([SUBNET4], { routes: [{ dst: "::/0", gw: "10.83.0.1" }] }) }, "ipam.routes[0].gw"],
  [{ ipam: ipam([SUBNET4], { routes: "x" }) }, "ipam.routes"],
  [{ mtu: "1500" }, "mtu"],
  [{ mtu: -1 }, "mtu"],
  [{ mtu: 67 }, "mtu"],
  [{ mtu: 70_000 }, "mtu"],
  [{ mtu: 1500.5 }, "mtu"],
  [{ ipMasq: "true" }, "ipMasq"],
  [{ antiSpoof: 1 }, "antiSpoof"],
  [{ dataDir: "relative" }, "dataDir"],
  [{ dataDir: 1 }, "dataDir"],
  [{ logFile: "relative" }, "logFile"],
  [{ logLevel: "loud" }, "logLevel"],
  [{ tailscale_socket: "relative" }, "tailscale_socket"],
  [{ headscale_url: "file:///etc/passwd" }, "headscale_url"],
  [{ headscale_url: "nonsense" }, "headscale_url"],
  [{ enable_ipv6: "yes" }, "enable_ipv6"],
  [{ ipam: undefined, pod_cidr: "10.0.0.0/24", enable_ipv6: true }, "enable_ipv6"],
  [{ enable_network_policy: "yes" }, "enable_network_policy"],
  [{ dns: "1.1.1.1" }, "dns"],
  [{ dns: { nameservers: "1.1.1.1" } }, "dns.nameservers"],
  [{ dns: { nameservers: ["dns.example"] } }, "dns.nameservers[0]"],
  [{ dns: { search: [1] } }, "dns.search[0]"],
  [{ magic_dns: true }, "magic_dns"],
  [{ magic_dns: { enable: "yes" } }, "magic_dns.enable"],
  [{ bandwidth: { ingressRate: 8000 } }, "bandwidth.ingressBurst"],
  [{ bandwidth: { egressBurst: 8000 } }, "bandwidth.egressRate"],
  [{ runtimeConfig: [] }, "runtimeConfig"],
  [{ runtimeConfig: { portMappings: {} } }, "runtimeConfig.portMappings"],
  [{ runtimeConfig: { portMappings: [1] } }, "runtimeConfig.portMappings[0]"],
  [{ runtimeConfig: { portMappings: [{ hostPort: 1 }] } }, "containerPort"],
  [{ runtimeConfig: { portMappings: [port({ hostPort: "80" })] } }, "hostPort"],
  [{ runtimeConfig: { portMappings: [port({ hostPort: 65_536 })] } }, "hostPort"],
  [{ runtimeConfig: { portMappings: [port({ hostPort: -1 })] } }, "hostPort"],
  [{ runtimeConfig: { portMappings: [port({ containerPort: 0 })] } }, "containerPort"],
  [{ runtimeConfig: { portMappings: [port({ protocol: "icmp" })] } }, "protocol"],
  [{ runtimeConfig: { portMappings: [port({ hostIP: "x" })] } }, "hostIP"],
  [{ runtimeConfig: { PortMappings: [{ HostPort: 70_000, ContainerPort: 1 }] } }, "hostPort"],
  [{ runtimeConfig: { bandwidth: { ingressRate: 8000 } } }, "bandwidth.ingressBurst"],
  [{ runtimeConfig: { bandwidth: { IngressRate: -1 } } }, "bandwidth.ingressRate"],
  [{ runtimeConfig: { mac: "x" } }, "runtimeConfig.mac"],
  [{ runtimeConfig: { mac: "01:00:5e:00:00:01" } }, "runtimeConfig.mac"],
  [{ runtimeConfig: { mac: "00:00:00:00:00:00" } }, "runtimeConfig.mac"],
  [{ runtimeConfig: { ips: "10.83.0.9" } }, "runtimeConfig.ips"],
  [{ runtimeConfig: { ips: ["x"] } }, "runtimeConfig.ips[0]"],
  [{ runtimeConfig: { dns: { servers: "1.1.1.1" } } }, "runtimeConfig.dns.servers"],
  [{ runtimeConfig: { ipRanges: "x" } }, "ipRanges"],
  [{ args: { cni: { mac: "x" } } }, "args.cni.mac"],
  [{ args: { cni: { ips: ["x"] } } }, "args.cni.ips[0]"],
];

function port(more: Json): Json {
  return { hostPort: 8080, containerPort: 80, ...more };
}

/** Keys that are nobody's business here. */
const SILENT: readonly Json[] = [
  { capabilities: { portMappings: true } },
  { capabilities: "x" },
  { bridge: "cni0", isGateway: "perhaps" },
  { "cni.dev/future": 1 },
  { args: { labels: [{ key: "app" }] } },
  { runtimeConfig: { "io.kubernetes.cri.pod-annotations": { a: "b" }, cgroupPath: "/x" } },
  { runtimeConfig: { deviceID: "0", infinibandGUID: "x", aliases: { testnet: ["a"] } } },
  { runtimeConfig: null },
  { runtimeConfig: { portMappings: null, bandwidth: null, ips: null, mac: null, dns: null } },
  { runtimeConfig: { mac: "", portMappings: [], ips: [] } },
  { runtimeConfig: { bandwidth: { ingressRate: 0, ingressBurst: 0 } } },
  { dns: {} },
  { ipMasq: null, mtu: null, mode: null },
  { prevResult: null },
  { mtu: 0 },
];

/** All rows about keys. */
export const CONFIG: readonly Row[] = [
  ...rows({ cites: CODE_7, code: 7 }, WRONG, ([config, key]) => ({
    what: `ADD with ${JSON.stringify(config)}`,
    config,
    says: key,
  })),
  ...rows({ cites: "issue 4: all problems are told at once", code: 7 }, ["mtu", "mode"], (key) => ({
    what: `ADD with three mistakes names ${key}`,
    config: { mode: "x", mtu: "y", ipMasq: "z" },
    says: key,
  })),
  ...rows(
    { cites: "SPEC 1.1.0, Configuration: other keys may be ignored", makesPod: true },
    SILENT,
    (config) => ({ what: `ADD with ${JSON.stringify(config)}`, config }),
  ),
  {
    cites: "SPEC 1.1.0, ipam: our own names mean our own",
    what: 'ADD with ipam.type "headcni"',
    config: { ipam: ipam([SUBNET4], { type: "headcni" }) },
    code: 0,
    makesPod: true,
  },
  {
    cites: "host-local: old style subnet beside ranges",
    what: "ADD with ipam.subnet",
    config: { ipam: { type: "headcni-ipam", subnet: SUBNET4, routes: [{ dst: "0.0.0.0/0" }] } },
    code: 0,
    makesPod: true,
    result: ({ ips }) => assertEquals(ips.length, 1),
  },
  {
    cites: "SPEC 1.1.0, ADD Success: routes as IPAM gave them, host bits included",
    what: "a destination with host bits is echoed",
    config: { ipam: ipam([SUBNET4], { routes: [{ dst: "192.0.2.7/24", gw: "10.83.0.1" }] }) },
    code: 0,
    makesPod: true,
    result: ({ routes }) => assertEquals(routes, [{ dst: "192.0.2.7/24", gw: "10.83.0.1" }]),
  },
  {
    cites: "SPEC 1.1.0, ADD Success: scope and table 0 are meaningful",
    what: "zeros of a route are kept",
    config: { ipam: ipam([SUBNET4], { routes: [{ dst: "0.0.0.0/0", scope: 0, table: 0 }] }) },
    code: 0,
    makesPod: true,
    result: ({ routes }) => assertEquals(routes, [{ dst: "0.0.0.0/0", scope: 0, table: 0 }]),
  },
  {
    cites: "SPEC 0.2.0: a result has room for one address per family",
    what: "two IPv4 range sets in 0.2.0",
    config: { cniVersion: "0.2.0", ipam: ipam([SUBNET4, "10.89.0.0/24"]) },
    code: 7,
    says: "0.2.0",
  },
];
