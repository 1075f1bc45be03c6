/**
 * From `CNI_COMMAND` to a verb, and from its outcome to standard output.
 *
 * Runtimes parse the whole of standard output and discard standard error when a
 * plugin fails, so exactly one JSON value is written, or nothing.
 */

import { type Clock, systemClock, withDeadline } from "../sys/clock.ts";
import { toCniError } from "./error_code.ts";
import { type AttachmentCommand, type CallParameters, readParameters } from "./environment.ts";
import { EnvironmentError, InputError } from "./errors.ts";
import { decodeNetworkConfig, type NetworkConfig } from "./network_config.ts";
import {
  checkVersion,
  type CniVersion,
  findVersion,
  SPEC_VERSION,
  SUPPORTED_VERSIONS,
} from "./version.ts";

/** What a plugin call may touch: its environment and its streams. */
export interface PluginIo {
  env(name: string): string | undefined;
  /** All of standard input, as text. */
  readStdin(): string;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
}

/** One call, with its configuration decoded and its version checked. */
export interface PluginCall {
  readonly io: PluginIo;
  readonly config: NetworkConfig;
  readonly version: CniVersion;
}

/** A call about one interface of one container. */
export interface AttachmentCall extends PluginCall {
  readonly parameters: CallParameters;
}

/** Carries out one command; what it returns is printed as JSON, `undefined` prints nothing. */
export type Verb<C extends PluginCall = PluginCall> = (call: C) => unknown;

/**
 * A verb of a face. A call pays only for its own: `load` brings what carries it out, which may
 * depend on what the configuration asks for.
 */
export type VerbEntry =
  | {
    /** The first version of the specification that has it. */
    readonly since: CniVersion;
    readonly load: (config: NetworkConfig) => Promise<Verb>;
  }
  | {
    readonly since: CniVersion;
    /** Reads the variables such a verb needs (`environment.ts`). */
    readonly about: AttachmentCommand;
    readonly load: (config: NetworkConfig) => Promise<Verb<AttachmentCall>>;
  };

/** The verbs of a face by the value of `CNI_COMMAND`, `VERSION` apart. */
export type VerbTable = Readonly<Record<string, VerbEntry>>;

/**
 * Standard input is not read for it: the answer does not depend on it, and a caller that
 * keeps the pipe open must not hang (the Go library does the same).
 */
const VERSION_ANSWER = { cniVersion: SPEC_VERSION, supportedVersions: SUPPORTED_VERSIONS };

/**
 * How long each verb may take. Runtimes kill without a word, and then nobody learns why: an error
 * of ours has to come first. containerd asks for STATUS every few seconds and waits for it; the
 * shortest patience with a DEL is a minute, and its retries queue up behind it. What is left when
 * the time is up is what is left after a kill, and is cleared up the same way.
 */
const LIMITS_MS: Readonly<Record<string, number>> = { DEL: 9_000, CHECK: 9_000, STATUS: 900 };
const OTHER_LIMIT_MS = 28_000;

/** How long `command` may take. */
export function limitMs(command: string): number {
  return LIMITS_MS[command] ?? OTHER_LIMIT_MS;
}

/** Runs the verb the environment names and returns the exit code. */
export async function dispatch(
  verbs: VerbTable,
  io: PluginIo,
  clock: Pick<Clock, "sleep"> = systemClock,
): Promise<number> {
  // Errors are told in the caller's version as soon as it is known.
  let told: string = SPEC_VERSION;
  try {
    const command = io.env("CNI_COMMAND") ?? "";
    const onVersion = (version: string) => {
      told = version;
    };
    const result = command === "VERSION" ? VERSION_ANSWER : await withDeadline(
      limitMs(command),
      () => carryOut(chooseVerb(verbs, command), { command, io, onVersion }),
      { operation: "carry out", subject: command, clock },
    );
    if (result !== undefined) io.stdout.write(JSON.stringify(result) + "\n");
    return 0;
  } catch (error) {
    io.stdout.write(JSON.stringify(toCniError(error, told)) + "\n");
    return 1;
  }
}

/**
 * The order decides which error a caller sees, and is that of the Go library: the environment,
 * standard input, its JSON, the name, the version.
 */
async function carryOut(
  verb: VerbEntry,
  call: { command: string; io: PluginIo; onVersion: (version: string) => void },
): Promise<unknown> {
  const { command, io, onVersion } = call;
  const parameters = "about" in verb ? readParameters(verb.about, io.env) : undefined;
  const config = decodeNetworkConfig(readInput(io));
  onVersion(findVersion(config.cniVersion) ?? SPEC_VERSION);
  const version = checkVersion(config.cniVersion, command, verb.since);
  if (!("about" in verb)) return await (await verb.load(config))({ io, config, version });
  if (parameters === undefined) throw new TypeError(`Cannot happen: ${command} has no parameters`);
  return await (await verb.load(config))({ io, config, version, parameters });
}

function chooseVerb(verbs: VerbTable, command: string): VerbEntry {
  const verb = Object.hasOwn(verbs, command) ? verbs[command] : undefined;
  if (verb !== undefined) return verb;
  const known = [...Object.keys(verbs), "VERSION"].join(", ");
  throw new EnvironmentError(
    ["CNI_COMMAND"],
    command === ""
      ? `it is empty; this build knows ${known}`
      : `unknown CNI_COMMAND: ${command}; this build knows ${known}`,
  );
}

function readInput(io: PluginIo): string {
  try {
    return io.readStdin();
  } catch (cause) {
    throw new InputError({ operation: "read standard input", reason: "it failed", cause });
  }
}
