/** Why the demo cannot go on, in words for the person who started it. */

/** An expected failure: printed without a stack. */
export class DemoError extends Error {
  override readonly name = "DemoError";
}
