/**
 * The CNI contract: versions, verbs, results and errors, as in the CNI specification
 * (https://www.cni.dev/docs/spec/), and the plugin that carries them out.
 *
 * Nothing here imports the daemon, Headscale, Tailscale or Kubernetes: a pod must
 * start while all of them are away.
 *
 * @module
 */

export { SPEC_VERSION, SUPPORTED_VERSIONS } from "./version.ts";
export { EnvironmentError } from "./errors.ts";
export { type CniErrorObject, toCniError } from "./error_code.ts";
export { dispatch, type PluginIo, type Verb, type VerbTable } from "./dispatch.ts";
export { type PluginFace, runPlugin } from "./plugin_face.ts";
