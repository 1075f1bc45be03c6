/** Runs other programs for the build: output captured, absence turned into a sentence. */

import { BuildError } from "./build_error.ts";

/**
 * Every deno that loads packages needs this flag.
 *
 * `deno.json` says "manual" instead, because `deno task` would otherwise download all
 * packages itself, before a task can tell it which certificates to trust.
 */
export const PACKAGES_FROM_CACHE = "--node-modules-dir=none";

/** How a program ended. */
export interface Outcome {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** What {@linkcode capture} may be told. */
export interface CaptureOptions {
  /** Added to the environment of the build. */
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

/** Runs `command` to its end and returns what it printed; never throws for a failing program. */
export async function capture(
  command: string,
  args: readonly string[],
  options: CaptureOptions = {},
): Promise<Outcome> {
  try {
    const { success, stdout, stderr } = await new Deno.Command(command, {
      args: [...args],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      ...options,
    }).output();
    const decoder = new TextDecoder();
    return { ok: success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new BuildError(
      `Cannot run ${command}: it is not installed`,
      `Install ${command} and build again`,
      { cause: error },
    );
  }
}

/** The last line that says something: most programs put the reason there. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)?.trim() ?? "";
}
