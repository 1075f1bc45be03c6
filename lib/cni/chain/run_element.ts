/** Calls one plugin of a chain: a program, or a part of this one. */

import { systemClock, withTimeLimit } from "../../sys/clock.ts";
import { HeadcniError } from "../../sys/errors.ts";
import { type PluginIo, type Verb } from "../dispatch.ts";
import { type AttachmentCommand, pluginDirectories, readParameters } from "../environment.ts";
import { toCniError } from "../error_code.ts";
import { DelegateError } from "../errors.ts";
import { type JsonObject } from "../../sys/json_reader.ts";
import { CallNotes } from "../call_notes.ts";
import * as ipam from "../ipam_verbs.ts";
import { add } from "../native/add.ts";
import { check } from "../native/check.ts";
import { del } from "../native/del.ts";
import { gc } from "../native/gc.ts";
import { status } from "../native/status.ts";
import { type Command, type ExecPorts, executePlugin, findPlugin } from "../plugin_exec.ts";
import { type ChainElement, ownPart } from "./element.ts";
import { type Platform } from "./platform.ts";

/** What the plugins of a chain are called with. */
export interface ChainContext {
  readonly io: PluginIo;
  readonly platform: Platform;
  readonly exec: ExecPorts;
}

/** The attachment a call is about. */
export interface Target {
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  readonly args: string;
}

/** One call of one plugin. */
export interface ElementCall {
  readonly command: Command;
  /** For verbs about an attachment. */
  readonly target?: Target | undefined;
  /** Keys beside those of the element: the previous result, the list of GC. */
  readonly more?: JsonObject;
  readonly timeoutMs: number;
}

/**
 * Calls a plugin: what it printed.
 *
 * @throws {DelegateError} with the plugin's own number and words.
 */
export async function callElement(
  element: ChainElement,
  call: ElementCall,
  context: ChainContext,
): Promise<string> {
  const { type, label } = element;
  const config = { ...element.config, ...call.more };
  const env = variablesOf(call, context);
  if (ownPart(type) !== undefined) return await callOwn(element, { ...call, config, env }, context);
  const { platform, io, exec } = context;
  return await executePlugin({
    command: call.command,
    type,
    label,
    path: pluginDirectories(io.env, platform.listSeparator),
    env,
    config,
    timeoutMs: call.timeoutMs,
  }, { naming: platform.naming, ...exec });
}

/** Finds the program of a plugin that is one. @throws {DelegateError} */
export function checkProgram({ type, label }: ChainElement, context: ChainContext): void {
  if (ownPart(type) !== undefined) return;
  const { platform, io, exec } = context;
  const path = pluginDirectories(io.env, platform.listSeparator);
  findPlugin(type, path, { naming: platform.naming, ...exec, label });
}

/** The variables the specification names for the verb (SPEC, "Parameters"). */
function variablesOf({ target }: ElementCall, { io }: ChainContext): Record<string, string> {
  const override = io.env("CNI_NETNS_OVERRIDE");
  return {
    CNI_PATH: io.env("CNI_PATH") ?? "",
    ...(target === undefined ? {} : {
      CNI_CONTAINERID: target.containerId,
      CNI_NETNS: target.netns,
      CNI_IFNAME: target.ifname,
      CNI_ARGS: target.args,
      ...(override === undefined ? {} : { CNI_NETNS_OVERRIDE: override }),
    }),
  };
}

const OWN: Readonly<Record<"network" | "ipam", Readonly<Record<Command, unknown>>>> = {
  network: { ADD: add, DEL: del, CHECK: check, GC: gc, STATUS: status, VERSION: () => undefined },
  ipam: {
    ADD: ipam.add,
    DEL: ipam.del,
    CHECK: ipam.check,
    GC: ipam.gc,
    STATUS: ipam.status,
    VERSION: () => undefined,
  },
};

async function callOwn(
  element: ChainElement,
  call: ElementCall & { config: JsonObject; env: Readonly<Record<string, string>> },
  { io }: ChainContext,
): Promise<string> {
  const { command, config, env, timeoutMs } = call;
  const part = ownPart(element.type) ?? "network";
  const own: PluginIo = {
    ...io,
    env: (name) => name === "CNI_COMMAND" ? command : /^CNI_/.test(name) ? env[name] : io.env(name),
  };
  const endMs = systemClock.monotonicMs() + timeoutMs;
  const given = {
    io: own,
    // What is told afterwards is told of the chain.
    notes: new CallNotes(command),
    leftMs: () => endMs - systemClock.monotonicMs(),
    version: element.version,
    config: { cniVersion: element.version, name: String(config.name), raw: config },
  };
  const about = call.target === undefined
    ? {}
    : { parameters: readParameters(command as AttachmentCommand, own.env) };
  try {
    const value = await withTimeLimit(
      timeoutMs,
      async () => await (OWN[part][command] as Verb)({ ...given, ...about }),
      { operation: "carry out", subject: command },
    );
    return value === undefined ? "" : JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof HeadcniError)) throw error;
    const { code, msg, details } = toCniError(error, element.version);
    throw new DelegateError({ plugin: element.label, reason: msg, code, details, cause: error });
  }
}
