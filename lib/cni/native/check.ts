/** CHECK: whether an attachment is what ADD said it made. */

import { addressSource } from "../choose_address_source.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { ConfigError } from "../../sys/config_error.ts";
import { CheckError } from "../errors.ts";
import { attachmentRequest } from "../ipam_request.ts";
import { readPluginConfig } from "../plugin_config.ts";
import { type CniResult } from "../result.ts";
import { decodeResult } from "../result_decode.ts";
import { bandwidthDifferences } from "./bandwidth.ts";
import { filterDifferences, findEnds, kernelDifferences } from "./compare.ts";
import { openContainer } from "./container.ts";
import { keyOf } from "./host_interface.ts";
import { Node } from "./node.ts";
import { rivals, wishesOf } from "./packet_filter.ts";
import { planAttachment } from "./plan.ts";
import { storedSiblings } from "./stored_pods.ts";
import { tunnelMtu } from "./tunnel_mtu.ts";

/** Carries out CHECK. @throws {CheckError} naming everything that differs. */
export async function check(call: AttachmentCall): Promise<void> {
  const config = readPluginConfig(call.config);
  const previous = requirePrevious(call);
  if (config.ipam === undefined) return; // nothing of ours in this chain
  const { ifname } = call.parameters;
  const request = {
    ...attachmentRequest(call),
    config: { ...call.config.raw, ipam: config.ipam },
  };
  await addressSource(config.ipam).check(request);
  const own = ownPart(previous, ifname);
  if (own.ips.length === 0) {
    throw new CheckError(ifname, [`prevResult has no address for ${ifname}`]);
  }
  using container = openContainer(call.parameters);
  using node = new Node();
  const mtu = own.interfaces.find(({ sandbox }) => sandbox !== undefined)?.mtu ??
    config.mtu ?? tunnelMtu(node.route, config.mode);
  const plan = planAttachment({ key: keyOf(request), ipam: own, mtu, mac: macOf(own, ifname) });
  const ends = { host: node.route, container: container.route, netns: container.netns };
  const found = findEnds(plan, ends);
  const differences = kernelDifferences(plan, ends, found);
  const rules = {
    ...wishesOf(config),
    hostInterface: plan.host.name,
    addresses: plan.hostRoutes.map(({ address }) => address),
  };
  const rivalOf = rivals(node.route, () => storedSiblings(request, keyOf(request)));
  differences.push(...filterDifferences(node.filter, rules, { rivalOf }));
  const { bandwidth } = config.runtime;
  if (bandwidth !== undefined && found.host !== undefined && found.container !== undefined) {
    differences.push(...bandwidthDifferences(bandwidth, ends, {
      hostIndex: found.host.index,
      containerIndex: found.container.index,
    }));
  }
  if (differences.length > 0) {
    throw new CheckError(`${ifname} of ${request.containerId}`, differences);
  }
}

function requirePrevious({ config, version }: AttachmentCall): CniResult {
  const { prevResult } = config.raw;
  if (prevResult === undefined || prevResult === null) {
    throw new ConfigError([{ key: "prevResult", problem: "is missing, CHECK needs it" }]);
  }
  return decodeResult(prevResult, { version, where: "prevResult" });
}

/** The addresses of our interface: other plugins of the chain have their own. */
function ownPart(result: CniResult, ifname: string): CniResult {
  const isOwn = (index: number | undefined) =>
    index === undefined || result.interfaces[index]?.name === ifname;
  return {
    ...result,
    interfaces: result.interfaces.filter(({ name }) => name === ifname),
    ips: result.ips.filter((ip) => isOwn(ip.interface)),
  };
}

function macOf({ interfaces }: CniResult, ifname: string): string | undefined {
  return interfaces.find(({ name, sandbox }) => name === ifname && sandbox !== undefined)?.mac;
}
