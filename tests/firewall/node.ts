/**
 * A node with two pods, a machine on its network and a tunnel, each a network namespace:
 *
 * ```
 *  alpha 10.244.3.2 fd00:3::2 ── hcnialpha ┐
 *                                          node ── uplink 192.0.2.1 ────── remote 192.0.2.2
 *  beta  10.244.3.3 fd00:3::3 ── hcnibeta ─┘   │          2001:db8::1             2001:db8::2
 *                                              └── tailscale0 100.64.0.1 ─ peer   100.64.0.2
 *                                                  fd7a:115c:a1e0::1              …::2
 *                                          pods of another node, behind the peer: 10.244.9.9
 *                                                                                 fd00:9::9
 * ```
 */

import { type IpAddress, parseAddress } from "../../lib/ip/mod.ts";
import { ensureRuleset, type LoadOptions, type LoadOutcome } from "../../lib/firewall/mod.ts";
import type { PodRules } from "../../lib/firewall/mod.ts";
import { getLink, type NetlinkConnection, writeSysctl } from "../../lib/netlink/mod.ts";
import { run } from "../../lib/sys/process.ts";
import { Sandbox } from "../netlink/fixture.ts";
import { type Endpoint, openTransport } from "./sockets.ts";

/** Addresses by family. */
export type Pair = Readonly<Record<4 | 6, string>>;

/** Everybody's addresses. */
export const ADDRESS = {
  alpha: { 4: "10.244.3.2", 6: "fd00:3::2" },
  beta: { 4: "10.244.3.3", 6: "fd00:3::3" },
  node: { 4: "192.0.2.1", 6: "2001:db8::1" },
  gateway: { 4: "10.244.3.1", 6: "fe80::1" },
  loopback: { 4: "127.0.0.1", 6: "::1" },
  remote: { 4: "192.0.2.2", 6: "2001:db8::2" },
  tunnel: { 4: "100.64.0.1", 6: "fd7a:115c:a1e0::1" },
  peer: { 4: "100.64.0.2", 6: "fd7a:115c:a1e0::2" },
  farPod: { 4: "10.244.9.9", 6: "fd00:9::9" },
} as const satisfies Record<string, Pair>;

/** Namespaces by what they play. */
export type Place = "node" | "alpha" | "beta" | "remote" | "peer";

/** The node and everything around it; gone with the test. */
export class TestNode implements Disposable {
  readonly #places: Readonly<Record<Place, Sandbox>>;
  /** To the node's packet filter. */
  readonly netfilter: NetlinkConnection;

  constructor() {
    using cleanup = new DisposableStack();
    const add = () => cleanup.use(new Sandbox());
    const places = { node: add(), alpha: add(), beta: add(), remote: add(), peer: add() };
    this.#places = places;
    for (const place of Object.values(places)) {
      for (const scope of ["all", "default"]) {
        writeSysctl(`net/ipv6/conf/${scope}/accept_dad`, 0, place);
      }
    }
    writeSysctl("net/ipv4/ip_forward", 1, places.node);
    writeSysctl("net/ipv6/conf/all/forwarding", 1, places.node);
    ip(places.node.name, [
      "link set lo up",
      ...podLink("alpha", places.alpha.name),
      ...podLink("beta", places.beta.name),
      ...wire({
        name: "uplink",
        peer: places.remote.name,
        own: ["192.0.2.1/24", "2001:db8::1/64"],
      }),
      ...wire({
        name: "tailscale0",
        peer: places.peer.name,
        own: ["100.64.0.1/10", "fd7a:115c:a1e0::1/48"],
      }),
      "link set tailscale0 mtu 1280",
      "route add 10.244.9.0/24 via 100.64.0.2",
      "route add fd00:9::/64 via fd7a:115c:a1e0::2",
      "route add 169.254.7.7/32 via 192.0.2.2",
    ]);
    ip(places.alpha.name, podInside("alpha"));
    ip(places.beta.name, podInside("beta"));
    ip(
      places.remote.name,
      outside(["192.0.2.2/24", "2001:db8::2/64", "169.254.7.7/32"], "192.0.2.1", "2001:db8::1"),
    );
    ip(
      places.peer.name,
      outside(
        ["100.64.0.2/10", "fd7a:115c:a1e0::2/48", "10.244.9.9/32", "fd00:9::9/128"],
        "100.64.0.1",
        "fd7a:115c:a1e0::1",
      ),
    );
    this.netfilter = cleanup.use(places.node.netfilter());
    this.#cleanup = cleanup.move();
  }

  readonly #cleanup: DisposableStack;

  /** The namespace that plays `place`. */
  at(place: Place): Sandbox {
    return this.#places[place];
  }

  /** `ensureRuleset` with `nft` run on the node. */
  load(options: LoadOptions = {}): Promise<LoadOutcome> {
    return ensureRuleset(this.netfilter, { ...options, run: this.run });
  }

  /** Runs a program on the node. */
  readonly run: typeof run = (command, args, options = {}) => {
    const { clearEnv: _, ...rest } = options;
    return run("ip", ["netns", "exec", this.at("node").name, command, ...args], rest);
  };

  /** `nft` on the node; what it prints. */
  nft(...command: readonly string[]): string {
    return this.at("node").run("nft", ...command);
  }

  /** Index of a link. */
  linkIndex(place: Place, name: string): number {
    return getLink(this.at(place).connection, { name }).index;
  }

  /** The MAC address of a link. */
  mac(place: Place, name: string): string {
    return getLink(this.at(place).connection, { name }).mac ?? "";
  }

  [Symbol.dispose](): void {
    this.#cleanup.dispose();
  }
}

/** Rules of a pod, with everything on and no host ports. */
export function podRules(name: "alpha" | "beta", changes: Partial<PodRules> = {}): PodRules {
  return {
    hostInterface: `hcni${name}`,
    addresses: [parseAddress(ADDRESS[name][4]), parseAddress(ADDRESS[name][6])],
    masquerade: true,
    antiSpoof: true,
    hostPorts: [],
    ...changes,
  };
}

/** Address and port. */
export function endpoint(address: string, port: number): Endpoint {
  return { address: parseAddress(address), port };
}

/** The unspecified address: any of the machine's own. */
export function any(family: 4 | 6, port: number): Endpoint {
  return endpoint(family === 4 ? "0.0.0.0" : "::", port);
}

/** How one end calls another. */
export interface Call {
  readonly protocol: "tcp" | "udp";
  readonly client: Place;
  /** Where the client says it wants to go. */
  readonly to: Endpoint;
  /** The client's own address, if not the kernel's choice. */
  readonly from?: IpAddress;
  readonly server: Place;
  /** Where the server listens; by default on the address and port that are called. */
  readonly serverAt?: Endpoint;
}

/**
 * Calls, answers, and tells the source address the server saw; `undefined` if the call, or the
 * answer to it, did not arrive.
 */
export function call(node: TestNode, spec: Call): string | undefined {
  const { protocol, to, client: from, server: at } = spec;
  const { family } = to.address;
  using server = openTransport(node.at(at).netns, protocol, family);
  server.bind(spec.serverAt ?? to);
  if (protocol === "tcp") server.listen();
  using client = openTransport(node.at(from).netns, protocol, family);
  if (spec.from !== undefined) client.bind({ address: spec.from, port: 0 });
  if (protocol === "tcp") {
    if (!client.connect(to)) return undefined;
    const connection = server.accept();
    connection?.socket[Symbol.dispose]();
    return connection?.from.address.toString();
  }
  // Connected, so that an answer from any other address is not taken.
  if (!client.connect(to) || !client.send(Uint8Array.of(1), to)) return undefined;
  const heard = server.receive();
  if (heard === undefined) return undefined;
  server.send(Uint8Array.of(2), heard.from);
  return client.receive() === undefined ? undefined : heard.from.address.toString();
}

function ip(namespace: string, lines: readonly string[]): void {
  const file = Deno.makeTempFileSync({ prefix: "headcni-test-" });
  try {
    Deno.writeTextFileSync(file, lines.map((line) => `${line}\n`).join(""));
    const output = new Deno.Command("ip", { args: ["-n", namespace, "-batch", file] }).outputSync();
    if (!output.success) throw new Error(new TextDecoder().decode(output.stderr));
  } finally {
    Deno.removeSync(file);
  }
}

function podLink(name: "alpha" | "beta", namespace: string): string[] {
  const link = `hcni${name}`;
  return [
    `link add ${link} type veth peer name eth0 netns ${namespace}`,
    `link set ${link} up`,
    `address add ${ADDRESS.gateway[4]}/32 dev ${link}`,
    `address add ${ADDRESS.gateway[6]}/128 dev ${link} nodad`,
    `route add ${ADDRESS[name][4]}/32 dev ${link}`,
    `route add ${ADDRESS[name][6]}/128 dev ${link}`,
  ];
}

function podInside(name: "alpha" | "beta"): string[] {
  return [
    "link set lo up",
    "link set eth0 up",
    `address add ${ADDRESS[name][4]}/32 dev eth0`,
    `address add ${ADDRESS[name][6]}/128 dev eth0 nodad`,
    `route add ${ADDRESS.gateway[4]} dev eth0 scope link`,
    `route add default via ${ADDRESS.gateway[4]}`,
    `route add default via ${ADDRESS.gateway[6]} dev eth0`,
  ];
}

function wire(spec: { name: string; peer: string; own: readonly string[] }): string[] {
  return [
    `link add ${spec.name} type veth peer name eth0 netns ${spec.peer}`,
    `link set ${spec.name} up`,
    ...spec.own.map((own) => addressLine(own, spec.name)),
  ];
}

/** A machine that can answer pods too: whether they are masqueraded is for the test to see. */
function outside(own: readonly string[], gateway4: string, gateway6: string): string[] {
  return [
    "link set lo up",
    "link set eth0 up",
    ...own.map((one) => addressLine(one, "eth0")),
    `route add default via ${gateway4}`,
    `route add default via ${gateway6}`,
  ];
}

function addressLine(address: string, link: string): string {
  return `address add ${address} dev ${link}${address.includes(":") ? " nodad" : ""}`;
}
