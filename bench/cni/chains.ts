/** What is compared: networks of Debian's plugins, and ours that does the same. */

/** One plugin of a chain, as it gets its configuration. */
export interface Plugin {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A network under test. */
export interface Chain {
  readonly title: string;
  /** The conflist's `name`. Those of one store share it. */
  readonly network: string;
  readonly plugins: readonly Plugin[];
}

/** Where stores are; made and filled by `fill.ts`. */
export interface StorePlaces {
  readonly hostLocal: string;
  readonly headcni: string;
  /** The subnet file of the meta-plugin. */
  readonly subnetFile: string;
}

/** Names alone, for titles. */
export const NOWHERE: StorePlaces = { hostLocal: "", headcni: "", subnetFile: "" };

/** Room for 16,000 attachments and those under test. */
export const SUBNET = "10.99.0.0/16";

/** The name all peers share, and with it host-local's directory. */
export const PEER_NETWORK = "peers";

/** Our name. */
export const OWN_NETWORK = "headcni";

const PORT = { hostPort: 8080, containerPort: 80, protocol: "tcp" };
const LIMITS = {
  ingressRate: 100_000_000,
  ingressBurst: 8_000_000,
  egressRate: 100_000_000,
  egressBurst: 8_000_000,
};

/** Names of the chains. */
export type ChainName =
  | "ptp"
  | "bridge"
  | "bridgePorts"
  | "ptpAll"
  | "plain"
  | "ports"
  | "all"
  | "delegate";

/** What the meta-plugin makes the delegate of; the same bridge as that of the peers. */
export const SUBNET_FILE_TEXT = `HEADCNI_NETWORK=${SUBNET}
HEADCNI_SUBNET=${SUBNET}
HEADCNI_MTU=1500
HEADCNI_IPMASQ=false
`;

/** All chains, by what they do. */
export function chains(places: StorePlaces): Record<ChainName, Chain> {
  const ipam = {
    type: "host-local",
    subnet: SUBNET,
    dataDir: places.hostLocal,
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const ptp: Plugin = { type: "ptp", ipMasq: true, ipam };
  const bridge: Plugin = { type: "bridge", bridge: "cni0", isGateway: true, ipMasq: true, ipam };
  const portmap: Plugin = { type: "portmap", runtimeConfig: { portMappings: [PORT] } };
  const bandwidth: Plugin = { type: "bandwidth", runtimeConfig: { bandwidth: LIMITS } };
  const firewall: Plugin = { type: "firewall", backend: "iptables" };
  const headcni: Plugin = { type: "headcni", pod_cidr: SUBNET, dataDir: places.headcni };
  const peer = (title: string, ...plugins: Plugin[]): Chain => {
    return { title, network: PEER_NETWORK, plugins };
  };
  const own = (title: string, runtimeConfig: Record<string, unknown>): Chain => {
    return { title, network: OWN_NETWORK, plugins: [{ ...headcni, runtimeConfig }] };
  };
  return {
    ptp: peer("ptp + host-local", ptp),
    bridge: peer("bridge + host-local", bridge),
    bridgePorts: peer("bridge + host-local + portmap", bridge, portmap),
    ptpAll: peer(
      "ptp + host-local + portmap + bandwidth + firewall",
      ptp,
      portmap,
      bandwidth,
      firewall,
    ),
    plain: own("headcni", {}),
    ports: own("headcni with a hostPort", { portMappings: [PORT] }),
    all: own("headcni with hostPort and bandwidth", { portMappings: [PORT], bandwidth: LIMITS }),
    // With the peers' addresses: host-local reads all of them at each call.
    delegate: peer("headcni delegate → bridge → host-local", {
      type: "headcni",
      dataDir: places.headcni,
      subnetFile: places.subnetFile,
      ipam: { dataDir: places.hostLocal, routes: ipam.routes },
      delegate: { bridge: "cni0" },
    }),
  };
}
