/**
 * The node agent. So far: its configuration, and the part that keeps the node in the tailnet
 * (`tailnet/`), which `headcni tailnet` runs on its own.
 *
 * Decide, then do: `tailnet/reconcile.ts` is pure and makes steps of what should be and what is;
 * `tailnet/apply.ts` carries them out; `tailnet/loop.ts` does both again whenever something
 * changed.
 *
 * @module
 */

export { DEFAULT_CONFIG_PATH, type NodeConfig, NodeConfigError, parseConfig } from "./config.ts";
export { type Condition, type ConditionCode, CONDITIONS } from "./tailnet/condition.ts";
export { type LoopContext, type Report, TailnetLoop } from "./tailnet/loop.ts";
export { type OpenTailnet, openTailnet } from "./tailnet/open.ts";
export type { Plan } from "./tailnet/reconcile.ts";
export { reconcile } from "./tailnet/reconcile.ts";
export {
  type FaceOptions,
  leaveTailnet,
  runTailnet,
  TailnetBusyError,
  tailnetStatus,
} from "./tailnet_face.ts";
