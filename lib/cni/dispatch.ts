/**
 * From `CNI_COMMAND` to a verb, and from its outcome to standard output.
 *
 * Runtimes parse the whole of standard output and discard standard error when a
 * plugin fails, so exactly one JSON value is written, or nothing.
 */

import { toCniError } from "./error_code.ts";
import { EnvironmentError } from "./errors.ts";

/** What a plugin call may touch: its environment and its streams. */
export interface PluginIo {
  env(name: string): string | undefined;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
}

/** Carries out one command; what it returns is printed as JSON, `undefined` prints nothing. */
export type Verb = (io: PluginIo) => unknown;

/** The verbs of a face by the value of `CNI_COMMAND`. */
export type VerbTable = Readonly<Record<string, Verb>>;

/** Runs the verb the environment names and returns the exit code. */
export function dispatch(verbs: VerbTable, io: PluginIo): number {
  try {
    const result = chooseVerb(verbs, io.env("CNI_COMMAND") ?? "")(io);
    if (result !== undefined) io.stdout.write(JSON.stringify(result) + "\n");
    return 0;
  } catch (error) {
    io.stdout.write(JSON.stringify(toCniError(error)) + "\n");
    return 1;
  }
}

function chooseVerb(verbs: VerbTable, command: string): Verb {
  const verb = Object.hasOwn(verbs, command) ? verbs[command] : undefined;
  if (verb !== undefined) return verb;
  const known = Object.keys(verbs).join(", ");
  throw new EnvironmentError(
    "CNI_COMMAND",
    command === ""
      ? `it is empty; this build knows ${known}`
      : `unknown CNI_COMMAND: ${command}; this build knows ${known}`,
  );
}
