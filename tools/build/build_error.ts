/** The one error a build step throws on purpose: printed as a sentence, without a stack. */

/** A build step that cannot go on; `remedy` tells the reader what to do. */
export class BuildError extends Error {
  override readonly name = "BuildError";

  constructor(message: string, readonly remedy: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Says on the terminal what the build does. Standard error: a build has no result to pipe. */
export function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`build: ${text}\n`));
}
