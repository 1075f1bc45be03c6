/** What the address management is asked, by a runtime's call or by the network plugin. */

import { type CniArgs, parseCniArgs, podOf } from "./cni_args.ts";
import { type AttachmentCall, type PluginCall, type PluginIo } from "./dispatch.ts";
import { type JsonObject } from "../sys/json_reader.ts";
import { type CniVersion } from "./version.ts";

/** A question about the addresses of a network. */
export interface IpamRequest {
  readonly network: string;
  readonly version: CniVersion;
  /** The configuration whose `ipam` is to be used. */
  readonly config: JsonObject;
  readonly io: Pick<PluginIo, "env" | "stderr">;
  /** Milliseconds until there has to be an answer. */
  readonly leftMs: () => number;
}

/** A question about one attachment. */
export interface AttachmentRequest extends IpamRequest {
  readonly containerId: string;
  readonly ifname: string;
  readonly netns: string;
  readonly args: CniArgs;
}

/** The request a call of the IPAM plugin makes. */
export function ipamRequest({ config, version, io, leftMs }: PluginCall): IpamRequest {
  return { network: config.name, version, config: config.raw, io, leftMs };
}

/** The same for the attachment the call is about. */
export function attachmentRequest(call: AttachmentCall): AttachmentRequest {
  const { containerId, ifname, netns, args } = call.parameters;
  return { ...ipamRequest(call), containerId, ifname, netns, args: parseCniArgs(args) };
}

/** What is recorded about an attachment for people to see. */
export function factsOf({ netns, args }: AttachmentRequest): Record<string, string | undefined> {
  const pod = podOf(args);
  return {
    netns: netns || undefined,
    podNamespace: pod?.namespace,
    podName: pod?.name,
    podUid: pod?.uid,
  };
}
