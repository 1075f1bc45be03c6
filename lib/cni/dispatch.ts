/**
 * From `CNI_COMMAND` to a verb, and from its outcome to standard output.
 *
 * Runtimes parse the whole of standard output and discard standard error when a
 * plugin fails, so exactly one JSON value is written, or nothing.
 */

import { type Clock, systemClock, withTimeLimit } from "../sys/clock.ts";
import { type CallEnd, CallNotes } from "./call_notes.ts";
import { toCniError } from "./error_code.ts";
import { type AttachmentCommand, type CallParameters, readParameters } from "./environment.ts";
import { EnvironmentError, InputError } from "./errors.ts";
import { decodeNetworkConfig, type NetworkConfig } from "./network_config.ts";
import { checkVersion, type CniVersion, findVersion, SPEC_VERSION } from "./version.ts";

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
  /** For what is told about the call afterwards. */
  readonly notes: CallNotes;
  /** Milliseconds until the verb has to answer. */
  readonly leftMs: () => number;
}

/** A call about one interface of one container. */
export interface AttachmentCall extends PluginCall {
  readonly parameters: CallParameters;
}

/** Carries out one command; what it returns is printed as JSON, `undefined` prints nothing. */
export type Verb<C extends PluginCall = PluginCall> = (call: C) => unknown;

/** A verb of a face. */
export type VerbEntry =
  | {
    /** The first version of the specification that has it. */
    readonly since: CniVersion;
    readonly run: Verb;
  }
  | {
    readonly since: CniVersion;
    /** Reads the variables such a verb needs (`environment.ts`). */
    readonly about: AttachmentCommand;
    readonly run: Verb<AttachmentCall>;
  };

/** The verbs of a face by the value of `CNI_COMMAND`; the program's entry answers `VERSION`. */
export type VerbTable = Readonly<Record<string, VerbEntry>>;

/**
 * How long each verb may take. Runtimes kill without a word, and then nobody learns why: an error
 * of ours has to come first. containerd asks for STATUS every few seconds and waits for it; the
 * shortest patience with a DEL is a minute, and its retries queue up behind it. What is left when
 * the time is up is what is left after a kill, and is cleared up the same way.
 */
const LIMITS_MS: Readonly<Record<string, number>> = { DEL: 9_000, CHECK: 9_000, STATUS: 900 };
const OTHER_LIMIT_MS = 28_000;

/** Options of {@linkcode dispatch}. */
export interface DispatchOptions {
  /** Called when the answer has been written, whatever it was; must not throw. */
  readonly onEnd?: (end: CallEnd) => void | Promise<void>;
  /** @default {systemClock} */
  readonly clock?: Pick<Clock, "after" | "monotonicMs">;
}

/** Runs the verb the environment names and returns the exit code. */
export async function dispatch(
  verbs: VerbTable,
  io: PluginIo,
  options: DispatchOptions = {},
): Promise<number> {
  const { clock = systemClock } = options;
  const notes = new CallNotes(io.env("CNI_COMMAND") ?? "", clock);
  let failure: CallEnd["failure"];
  try {
    const { command } = notes;
    const limitMs = LIMITS_MS[command] ?? OTHER_LIMIT_MS;
    const endMs = clock.monotonicMs() + limitMs;
    const leftMs = () => endMs - clock.monotonicMs();
    const result = await withTimeLimit(
      limitMs,
      () => carryOut(chooseVerb(verbs, command), { io: noting(io, notes), notes, leftMs }),
      { operation: "carry out", subject: command, clock },
    );
    if (result !== undefined) io.stdout.write(JSON.stringify(result) + "\n");
  } catch (error) {
    // Told in the caller's version as soon as it is known.
    const told = toCniError(error, findVersion(notes.config?.cniVersion ?? "") ?? SPEC_VERSION);
    io.stdout.write(JSON.stringify(told) + "\n");
    failure = { error, told };
  }
  notes.mark("end");
  await options.onEnd?.({ notes, failure });
  return failure === undefined ? 0 : 1;
}

/** What a call says on standard error is noted, too: a runtime may throw it away. */
function noting(io: PluginIo, notes: CallNotes): PluginIo {
  const write = (text: string) => {
    notes.said.push(text);
    io.stderr.write(text);
  };
  return { ...io, stderr: { write } };
}

/**
 * The order decides which error a caller sees, and is that of the Go library: the environment,
 * standard input, its JSON, the name, the version.
 */
async function carryOut(
  verb: VerbEntry,
  { io, notes, leftMs }: Pick<PluginCall, "io" | "notes" | "leftMs">,
): Promise<unknown> {
  const { command } = notes;
  const parameters = "about" in verb ? readParameters(verb.about, io.env) : undefined;
  notes.parameters = parameters;
  const config = decodeNetworkConfig(readInput(io));
  notes.config = config;
  const version = checkVersion(config.cniVersion, command, verb.since);
  const call = { io, config, version, notes, leftMs };
  if (!("about" in verb)) return await verb.run(call);
  if (parameters === undefined) throw new TypeError(`Cannot happen: ${command} has no parameters`);
  return await verb.run({ ...call, parameters });
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
