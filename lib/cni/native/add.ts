/**
 * ADD: a container gets its network.
 *
 * 1. Everything is read and checked: environment, configuration, namespace.
 * 2. Addresses are given, and what will be made is written down, in one durable transaction.
 * 3. The veth is made, its rules are loaded, and only then it goes up.
 * 4. The result is told.
 *
 * What fails after step 2 is undone in reverse. What is killed after it is found again by its
 * derived name: the same ADD, a DEL or a GC repairs it.
 */

import { type PodRules } from "../../firewall/pod_rules.ts";
import { parsePrefix, type Prefix } from "../../ip/prefix.ts";
import { failpoint } from "../../sys/failpoint.ts";
import { UndoStack } from "../../sys/undo.ts";
import { addressSource } from "../choose_address_source.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { ConfigError } from "../../sys/config_error.ts";
import { hardwareAddressOf } from "../hardware_address.ts";
import { type AttachmentRequest, attachmentRequest } from "../ipam_request.ts";
import { isJsonObject } from "../../sys/json_reader.ts";
import { type PluginConfig, readPluginConfig } from "../plugin_config.ts";
import { type CniResult } from "../result.ts";
import { decodeResult } from "../result_decode.ts";
import { encodeResult } from "../result_encode.ts";
import { attach, createPair, detach, routeToContainer } from "./attach.ts";
import { clearWay } from "./clear_way.ts";
import { limitBandwidth } from "./bandwidth.ts";
import { type Container, openContainer } from "./container.ts";
import { enableForwarding } from "./forwarding.ts";
import { keyOf } from "./host_interface.ts";
import { Node } from "./node.ts";
import { addToFilter, removeFromFilter, rivals, wishesOf } from "./packet_filter.ts";
import { type AttachmentPlan, planAttachment } from "./plan.ts";
import { encodeRecord } from "./record.ts";
import { removeSourceRules } from "./remove.ts";
import { storedPods, storedSiblings } from "./stored_pods.ts";
import { tunnelMtu } from "./tunnel_mtu.ts";

/** Carries out ADD and returns the result in the caller's version. */
export async function add(call: AttachmentCall): Promise<unknown> {
  const config = readPluginConfig(call.config);
  if (config.ipam === undefined) return passThrough(call);
  const previous = previousResult(call);
  using container = openContainer(call.parameters);
  using node = new Node();
  const made = await make(config, { call, container, node });
  return encodeResult(previous === undefined ? made : merge(previous, made), call.version);
}

interface Place {
  readonly call: AttachmentCall;
  readonly container: Container;
  readonly node: Node;
}

async function make(config: PluginConfig, place: Place): Promise<CniResult> {
  const { call, container, node } = place;
  const request: AttachmentRequest = {
    ...attachmentRequest(call),
    config: { ...call.config.raw, ipam: config.ipam },
  };
  const source = addressSource(config.ipam ?? { type: "" });
  const wishes = wishesOf(config);
  const mac = config.runtime.mac ?? hardwareAddressOf(request.args);
  clearWay(keyOf(request), { host: node.route, container: container.route });
  failpoint("add.cleared");
  call.notes.mark("config");
  await using undo = new UndoStack({ onFailure: (error) => report(call, error) });
  const { delegate } = source;
  const record = { ...wishes, addresses: [], delegate, networkPolicy: config.networkPolicy };
  const ipam = await source.add(request, encodeRecord(record));
  undo.defer("release addresses", () => source.release(request));
  failpoint("add.addresses");
  call.notes.mark("allocate");

  const plan = planAttachment({
    key: keyOf(request),
    ipam,
    mtu: config.mtu ?? tunnelMtu(node.route, config.mode),
    mac,
    hostPorts: wishes.hostPorts,
  });
  const pod = {
    ...wishes,
    hostInterface: plan.host.name,
    addresses: plan.hostRoutes.map(({ address }) => address),
  };
  call.notes.addresses = pod.addresses.map(String);
  const ends = { host: node.route, container: container.route, netns: container.netns };
  undo.defer("delete interface", () => detach(node.route, plan.host.name));
  createPair(plan, ends);
  failpoint("add.veth");
  call.notes.mark("link");
  undo.defer("delete packet filter rules", () => removeFromFilter(node.filter, pod));
  const clusterNetworks = [...config.podCidrs, ...config.serviceCidrs, ...subnetsOf(ipam)];
  await loadRules(pod, { clusterNetworks, request, place });
  failpoint("add.filter");
  call.notes.mark("filter");
  enableForwarding(plan, node.route);
  failpoint("add.forwarding");
  undo.defer("delete rules in the container", () => removeSourceRules(container, pod.addresses));
  const attached = attach(plan, ends);
  if (config.runtime.bandwidth !== undefined) {
    limitBandwidth(config.runtime.bandwidth, ends, attached);
    failpoint("add.bandwidth");
  }
  routeToContainer(plan, ends, attached);
  call.notes.mark("configure");
  undo.commit();
  return describe(plan, { ipam, config, netns: call.parameters.netns });
}

/** Adds the rules of `pod`; what could not be restored of other pods is for the log. */
async function loadRules(
  pod: PodRules,
  { clusterNetworks, request, place: { call, node } }: {
    clusterNetworks: readonly Prefix[];
    request: AttachmentRequest;
    place: Place;
  },
): Promise<void> {
  const failures = await addToFilter(node.filter, pod, {
    clusterNetworks,
    allPods: () => storedPods(request),
    rivalOf: rivals(node.route, () => storedSiblings(request, keyOf(request))),
  });
  for (const failure of failures) report(call, failure);
}

/** `interfaces` as ptp orders them: the host's, then the container's. */
function describe(
  plan: AttachmentPlan,
  facts: { ipam: CniResult; config: PluginConfig; netns: string },
): CniResult {
  const { ipam, config, netns } = facts;
  const { mtu, host, container } = plan;
  return {
    interfaces: [
      { name: host.name, mac: host.mac, mtu },
      { name: container.name, mac: container.mac, mtu, sandbox: netns },
    ],
    ips: ipam.ips.map((ip) => ({ ...ip, interface: 1 })),
    routes: ipam.routes,
    // What the runtime asks for is stronger than what the file says, and that than IPAM.
    dns: config.runtime.dns ?? config.dns ?? ipam.dns,
  };
}

/**
 * Nothing of ours is configured: what was there stays as it is, keys we do not know included
 * (SPEC, "Section 3"). Only a result of another version is said in the caller's.
 */
function passThrough(call: AttachmentCall): unknown {
  const previous = previousResult(call);
  if (previous === undefined) {
    throw new ConfigError([{ key: "pod_cidr", problem: "is missing, and so is ipam" }]);
  }
  const { prevResult } = call.config.raw;
  const version = isJsonObject(prevResult) ? prevResult.cniVersion ?? call.version : undefined;
  return version === call.version ? prevResult : encodeResult(previous, call.version);
}

function previousResult({ config, version }: AttachmentCall): CniResult | undefined {
  const { prevResult } = config.raw;
  if (prevResult === undefined || prevResult === null) return undefined;
  return decodeResult(prevResult, { version, where: "prevResult" });
}

/** What an earlier plugin of the chain made, then what we made; indexes move along. */
function merge(previous: CniResult, made: CniResult): CniResult {
  const offset = previous.interfaces.length;
  return {
    interfaces: [...previous.interfaces, ...made.interfaces],
    ips: [
      ...previous.ips,
      ...made.ips.map((ip) =>
        ip.interface === undefined ? ip : { ...ip, interface: ip.interface + offset }
      ),
    ],
    routes: [...previous.routes, ...made.routes],
    dns: Object.keys(made.dns).length > 0 ? made.dns : previous.dns,
  };
}

function subnetsOf({ ips }: CniResult) {
  return ips.map(({ address }) => parsePrefix(address).masked());
}

/** The error that started the rollback is the one to tell; this one is for the log. */
function report({ io }: AttachmentCall, error: Error): void {
  io.stderr.write(`headcni: ${error.message}\n`);
}
