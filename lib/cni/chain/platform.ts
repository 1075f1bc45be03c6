/**
 * What differs between systems for a chain of plugins; everything else here is portable.
 *
 * Linux is what runs in the tests. Windows and macOS are unit-tested through this interface on
 * Linux and have not been tried on such machines.
 */

import { endOrphans } from "../../sys/orphans.ts";
import { isSameFile } from "../../sys/same_file.ts";
import { type SystemName, systemName } from "../../sys/system_name.ts";
import { type JsonObject } from "../../sys/json_reader.ts";
import { type ProgramNaming, UNIX_NAMING } from "../plugin_exec.ts";
import { type Subnet } from "./subnet_file.ts";

/** A container as plugins are told of it. */
export interface NamedContainer {
  readonly containerId: string;
  readonly netns: string;
}

/** A system as a chain sees it. */
export interface Platform {
  readonly name: SystemName;
  readonly naming: ProgramNaming;
  /** Between the directories of `CNI_PATH`. */
  readonly listSeparator: string;
  isAbsolute(path: string): boolean;
  /** Whether plugins of type `headcni` can run here: the native data path. */
  readonly hasNative: boolean;
  /** `delegate.type` if the configuration has none; `undefined` if it must have one. */
  readonly defaultDelegate: string | undefined;
  /** Keys of a delegate that follow from the subnet file, for those it does not have itself. */
  delegateDefaults(type: string, subnet: Subnet): JsonObject;
  /** Keys of its `ipam` that follow from the subnet file, whatever it has itself. */
  ipamPools(subnet: Subnet): JsonObject;
  /** Under what name flannel's plugin saved an attachment: the container's, or its sandbox's. */
  flannelName(attachment: NamedContainer): string;
  /** What a failing DEL may have left, where the system has a name for it. */
  leftOver(attachment: NamedContainer, network: string): string | undefined;
  /** Ends plugins that still run with these variables although who called them is dead. */
  endOrphans(variables: Readonly<Record<string, string>>): Promise<unknown>;
  /** Whether `netns` is the namespace this program runs in. */
  isOwnNetns(netns: string): boolean;
  /** `netns` of a record, if a path like that can still mean the same namespace later. */
  lastingNetns(netns: string): string;
}

/** Flannel's plugin does the same: whoever has the masquerade, only one of both may. */
function unixDefaults(type: string, { ipMasq, mtu }: Subnet): JsonObject {
  return { ipMasq: !ipMasq, mtu, ...(type === "bridge" ? { isGateway: true } : {}) };
}

const UNIX = {
  naming: UNIX_NAMING,
  listSeparator: ":",
  isAbsolute: (path: string) => path.startsWith("/"),
  delegateDefaults: unixDefaults,
  ipamPools: ({ subnets }: Subnet) => ({
    ranges: subnets.map((subnet) => [{ subnet: subnet.toString() }]),
  }),
  flannelName: ({ containerId }: NamedContainer) => containerId,
  leftOver: () => undefined,
};

/** Linux. */
export const LINUX: Platform = {
  ...UNIX,
  name: "linux",
  hasNative: true,
  defaultDelegate: "bridge",
  endOrphans: (variables) => endOrphans(variables),
  isOwnNetns: (netns) => isSameFile(netns, "/proc/self/ns/net"),
  // The number of a process is given out again, and its namespace may be the node's then.
  lastingNetns: (netns) => /^\/proc\//.test(netns) ? "" : netns,
};

/** macOS: no namespaces and no plugin that would be the obvious one. */
export const DARWIN: Platform = {
  ...UNIX,
  name: "darwin",
  hasNative: false,
  defaultDelegate: undefined,
  endOrphans: () => Promise.resolve(),
  isOwnNetns: () => false,
  lastingNetns: (netns) => netns,
};

/** What kubelet passes for the namespace of a sandbox itself. */
const NO_NETNS = "none";

/** Windows: HNS endpoints instead of namespaces. */
export const WINDOWS: Platform = {
  name: "windows",
  naming: {
    names: (type) => /\.exe$/i.test(type) ? [type] : [`${type}.exe`, type],
    isPath: (type) => /[/\\:]/.test(type),
    isExecutable: () => true, // by name, not by mode
  },
  listSeparator: ";",
  isAbsolute: (path) => /^([A-Za-z]:)?[/\\]/.test(path),
  hasNative: false,
  defaultDelegate: "win-bridge",
  // The opposite of Linux: here it is the plugin that masquerades, with HNS policies.
  delegateDefaults: (_type, { ipMasq, networks }) => ({
    ipMasq,
    ...(networks[0] === undefined ? {} : { ipMasqNetwork: networks[0].toString() }),
  }),
  // win-bridge and win-overlay take one subnet.
  ipamPools: ({ subnets }) => subnets[0] === undefined ? {} : { subnet: subnets[0].toString() },
  flannelName: sandboxOf,
  leftOver: (attachment, network) => `HNS endpoint ${sandboxOf(attachment)}_${network}`,
  endOrphans: () => Promise.resolve(),
  isOwnNetns: () => false,
  lastingNetns: (netns) => netns,
};

/** Containers that join a sandbox are called with `container:<id of the sandbox>`. */
function sandboxOf({ containerId, netns }: NamedContainer): string {
  if (netns === "" || netns === NO_NETNS) return containerId;
  const at = netns.indexOf(":");
  return at < 0 ? containerId : netns.slice(at + 1);
}

/** The system called `name`. */
export function platformOf(name: SystemName = systemName()): Platform {
  return { linux: LINUX, darwin: DARWIN, windows: WINDOWS }[name];
}
