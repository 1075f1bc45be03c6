/**
 * Running another program as IPAM plugin (SPEC, section "Execution of delegated plugins").
 *
 * The configuration goes on unchanged on standard input, the environment with it; only the
 * verb may differ, for an ADD that failed is followed by a DEL. Our own IPAM is not run: the
 * network plugin calls `ipam_verbs.ts` instead.
 */

import { type JsonObject } from "../sys/json_reader.ts";
import { type Command, type ExecPorts, executePlugin, parsePrinted } from "./plugin_exec.ts";
import { type CniResult } from "./result.ts";
import { decodeResult } from "./result_decode.ts";
import { type CniVersion } from "./version.ts";

/** Which plugin to run, and what it is told. */
export interface Delegation {
  /** `ipam.type`. */
  readonly type: string;
  /** `CNI_PATH` as a list. */
  readonly path: readonly string[];
  /** The variables of the specification our own call has, the verb apart. */
  readonly env: Readonly<Record<string, string>>;
  /** The configuration as it came, goes on as it is. */
  readonly config: JsonObject;
  /** The version results are read in when they name none. */
  readonly version: CniVersion;
  /** The verb's own time; runtimes kill after minutes. @default {20_000} */
  readonly timeoutMs?: number;
}

/** Verbs that return nothing. */
export type QuietCommand = "DEL" | "CHECK" | "GC" | "STATUS";

/**
 * ADD by another plugin. If it fails, its DEL is called, since it may have done a part.
 *
 * @throws {DelegateError} with the other plugin's own number and words.
 */
export async function delegateAdd(
  delegation: Delegation,
  ports: ExecPorts = {},
): Promise<CniResult> {
  const { type, version } = delegation;
  try {
    const stdout = await execute("ADD", delegation, ports);
    return decodeResult(parsePrinted(type, stdout), { version, where: `result of ${type}` });
  } catch (error) {
    // What matters is why ADD failed; a DEL that fails too is tried again by the runtime.
    await execute("DEL", delegation, ports).catch(() => {});
    throw error;
  }
}

/** DEL, CHECK, GC or STATUS by another plugin. @throws {DelegateError} */
export async function delegate(
  command: QuietCommand,
  delegation: Delegation,
  ports: ExecPorts = {},
): Promise<void> {
  await execute(command, delegation, ports);
}

async function execute(
  command: Command,
  delegation: Delegation,
  ports: ExecPorts,
): Promise<string> {
  const { type, path, env, config, timeoutMs = 20_000 } = delegation;
  return await executePlugin({ command, type, path, env, config, timeoutMs }, ports);
}
