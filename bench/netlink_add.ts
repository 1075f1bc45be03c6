/**
 * What a CNI ADD does to the network: by netlink, and as commands for `ip -batch`.
 *
 * As a program it does so once, the first thing in its process, and prints the milliseconds.
 */

import { parseAddress, parsePrefix } from "../lib/ip/mod.ts";
import {
  addAddress,
  addRoute,
  createVeth,
  decodeLink,
  getLink,
  linkRequest,
  openConnection,
  openNetns,
  setLinkUp,
} from "../lib/netlink/mod.ts";
import { print } from "./report.ts";

/** The host's part. */
export const HOST_COMMANDS: readonly string[] = [
  "link add hcni0 mtu 1280 address 0a:58:00:00:00:01 type veth peer name eth0 mtu 1280 netns hcnt-bench-pod",
  "link set hcni0 up",
  "route add 10.1.0.2/32 dev hcni0",
];

/** The container's part. */
export const POD_COMMANDS: readonly string[] = [
  "link set eth0 up",
  "addr add 10.1.0.2/24 dev eth0 noprefixroute",
  "addr add fd00::2/64 dev eth0 noprefixroute nodad",
  "route add 10.1.0.1/32 dev eth0",
  "route add default via 10.1.0.1 dev eth0",
];

/** Two sockets, a veth into the namespace, both ends up, two addresses, three routes. */
export function addPod(hostPath: string, podPath: string): void {
  using hostNetns = openNetns(hostPath);
  using netns = openNetns(podPath);
  using host = openConnection({ netns: hostNetns });
  using pod = openConnection({ netns });
  const [created, found] = host.exchange([
    createVeth({
      name: "hcni0",
      mtu: 1280,
      mac: "0a:58:00:00:00:01",
      peer: { name: "eth0", mtu: 1280, netns },
    }),
    linkRequest({ name: "hcni0" }),
  ]);
  if (created?.error !== undefined) throw created.error;
  const [reply] = found?.replies ?? [];
  if (reply === undefined) throw new Error("Cannot add pod: the new link is not found");
  const near = decodeLink(reply).index;
  const { index } = getLink(pod, { name: "eth0" });
  const gateway = parseAddress("10.1.0.1");
  pod.batch([
    setLinkUp({ index }),
    addAddress({ index, address: parsePrefix("10.1.0.2/24"), noPrefixRoute: true }),
    addAddress({ index, address: parsePrefix("fd00::2/64"), noPrefixRoute: true, noDad: true }),
    addRoute({ destination: parsePrefix("10.1.0.1/32"), index }),
    addRoute({ destination: parsePrefix("0.0.0.0/0"), gateway, index }),
  ]);
  host.batch([
    setLinkUp({ index: near }),
    addRoute({ destination: parsePrefix("10.1.0.2/32"), index: near }),
  ]);
}

if (import.meta.main) {
  const [hostPath = "", podPath = ""] = Deno.args;
  const start = performance.now();
  addPod(hostPath, podPath);
  print([String(performance.now() - start)]);
}
