/**
 * The CNI contract: versions, verbs, results and errors, as in the CNI specification
 * (https://www.cni.dev/docs/spec/), and the plugin that carries them out.
 *
 * Nothing here imports the daemon, Headscale, Tailscale or Kubernetes: a pod must
 * start while all of them are away.
 *
 * @module
 */

export { type CniArgs, parseCniArgs, type PodIdentity, podOf } from "./cni_args.ts";
export {
  dispatch,
  type PluginCall,
  type PluginIo,
  type Verb,
  type VerbEntry,
  type VerbTable,
} from "./dispatch.ts";
export { type CallParameters, pluginDirectories, readParameters } from "./environment.ts";
export { type CniErrorObject, toCniError } from "./error_code.ts";
export {
  AttachmentExistsError,
  DecodeError,
  DelegateError,
  EnvironmentError,
  InputError,
  NotReadyError,
  ResultError,
  SubnetFileError,
  VersionError,
} from "./errors.ts";
export { delegate, delegateAdd, type Delegation, type QuietCommand } from "./ipam_delegate.ts";
export { decodeNetworkConfig, type NetworkConfig } from "./network_config.ts";
export {
  type Command,
  type ExecPorts,
  executePlugin,
  findPlugin,
  type PluginExecution,
} from "./plugin_exec.ts";
export { type PluginFace, runPlugin } from "./plugin_face.ts";
export type { CniResult, ResultDns, ResultInterface, ResultIp, ResultRoute } from "./result.ts";
export { decodeResult } from "./result_decode.ts";
export { encodeResult } from "./result_encode.ts";
export { type CniVersion, SPEC_VERSION, SUPPORTED_VERSIONS } from "./version.ts";
