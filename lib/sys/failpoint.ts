/**
 * Places where a test makes the program fail or die: `HEADCNI_FAILPOINT=name[:error|:kill]`.
 *
 * Crash safety is only as good as the crashes it was tried with, and a kill at random hits
 * the interesting instants too rarely. The names are listed in `docs/testing.md`. Without the
 * variable a fail point is one comparison. Whoever can set our environment can also kill us,
 * so this opens no door.
 */

import { HeadcniError } from "./errors.ts";

/** The environment variable that arms a fail point. */
export const FAILPOINT_VARIABLE = "HEADCNI_FAILPOINT";

/** A fail point that was told to fail did. */
export class FailpointError extends HeadcniError {
  override readonly name = "FailpointError";
}

/** Read once: `null` until the first fail point is reached. */
let armed: string | undefined | null = null;

/**
 * Fails or dies here if the environment names this point.
 *
 * @throws {FailpointError} if `HEADCNI_FAILPOINT` is `name:error`.
 */
export function failpoint(name: string): void {
  if (armed === null) armed = Deno.env.get(FAILPOINT_VARIABLE);
  if (armed === undefined) return;
  const [wanted, action = "kill"] = armed.split(":");
  if (wanted !== name) return;
  if (action === "kill") Deno.kill(Deno.pid, "SIGKILL");
  throw new FailpointError({
    operation: "go on",
    reason: `${FAILPOINT_VARIABLE} asks for a failure at ${name}`,
  });
}
