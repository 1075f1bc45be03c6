/** A call of the meta-plugin: what all its verbs begin with. */

import { type AttachmentCall, type PluginCall } from "../dispatch.ts";
import { OwnNetnsError } from "../errors.ts";
import { type ExecPorts } from "../plugin_exec.ts";
import { readChainConfig } from "./chain_config.ts";
import { type ChainElement } from "./element.ts";
import { type Platform, platformOf } from "./platform.ts";
import { renderElements } from "./render.ts";
import { type ChainContext, type Target } from "./run_element.ts";
import { readSubnet } from "./subnet_file.ts";

/** What the verbs touch. */
export interface ChainPorts {
  /** @default {platformOf()} */
  readonly platform?: Platform;
  readonly exec?: ExecPorts;
}

/** What the plugins of this call are called with. */
export function contextOf({ io }: PluginCall, ports: ChainPorts): ChainContext {
  return { io, platform: ports.platform ?? platformOf(), exec: ports.exec ?? {} };
}

/**
 * The plugins the configuration asks for, in the order of ADD.
 *
 * @throws {ConfigError} naming every key that is wrong.
 * @throws {SubnetFileError} if a delegate cannot be completed.
 */
export function elementsOf(call: PluginCall, { platform, io }: ChainContext): ChainElement[] {
  const config = readChainConfig(call.config, platform);
  const subnet = () => readSubnet(config.subnetFile, { env: io.env });
  return renderElements(config, {
    network: call.config,
    version: call.version,
    platform,
    subnet,
  });
}

/**
 * The attachment of this call.
 *
 * @throws {OwnNetnsError} if its namespace is the node's: plugins written with the Go library
 * notice that only after they have deleted the node's interface.
 */
export function targetOf({ parameters }: AttachmentCall, { platform }: ChainContext): Target {
  const { containerId, netns, ifname, args, allowOwnNetns } = parameters;
  if (netns !== "" && !allowOwnNetns && platform.isOwnNetns(netns)) {
    throw new OwnNetnsError({
      operation: "use network namespace",
      subject: netns,
      reason: "it is the one this program runs in",
    });
  }
  return { containerId, netns, ifname, args };
}
