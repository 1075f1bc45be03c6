/**
 * tailscaled: its LocalAPI, and a supervisor for one of our own.
 *
 * {@linkcode LocalApi} speaks to any tailscaled, the machine's (host mode) or ours (daemon
 * mode); {@linkcode watchBus} says when to look again. {@linkcode TailscaledSupervisor} runs
 * ours; {@linkcode ensureIsolation} makes the network namespace it runs in beside another.
 * What the tailnet should look like is not decided here.
 *
 * @module
 */

export {
  LocalApiError,
  type LocalApiErrorKind,
  TailscaledError,
  type TailscaledErrorKind,
} from "./errors.ts";
export {
  type CableEnd,
  ensureIsolation,
  INSIDE,
  type Isolation,
  ISOLATION_NAME,
  type IsolationSpec,
  OUTSIDE,
  removeIsolation,
  RTPROT_HEADCNI,
  syncIsolationRoutes,
} from "./isolation.ts";
export { type CallOptions, DEFAULT_SOCKET, LocalApi, type LocalApiOptions } from "./local_api.ts";
export type { PingResult, PingType } from "./ping.ts";
export { findOtherTailscaled } from "./other_tailscaled.ts";
export { type NetfilterMode, type Prefs, prefsDifference, type PrefsEdit } from "./prefs.ts";
export { redactKeys } from "./redact_keys.ts";
export type { BackendState, TailnetName, TailnetNode, TailscaledStatus } from "./status.ts";
export {
  type SupervisorOptions,
  type SupervisorState,
  TailscaledSupervisor,
} from "./supervisor.ts";
export type { SupervisorPorts, Timing } from "./supervisor_ports.ts";
export {
  checkVersion,
  findTailscaled,
  inspectTailscaled,
  type TailscaledBinary,
} from "./tailscaled_binary.ts";
export type { TailscaledFiles, TailscaledSettings } from "./tailscaled_settings.ts";
export { type WakeReason, type WakeUp, watchBus, type WatchBusOptions } from "./watch_bus.ts";
export type { WhoIs } from "./who_is.ts";
