/** Why a request over a unix socket got no answer. */

import { HeadcniError } from "./errors.ts";

/**
 * - `Missing`: there is no such socket.
 * - `Refused`: the file is there, but nobody listens: its owner has ended.
 * - `Denied`: this user must not connect.
 * - `Unusable`: the path cannot be a socket: too long, a directory in the way, ….
 * - `Broken`: the other side went away before its answer was complete.
 * - `Malformed`: what came is no HTTP.
 * - `TooLarge`: the answer has more than is allowed here.
 */
export type SocketErrorKind =
  | "Missing"
  | "Refused"
  | "Denied"
  | "Unusable"
  | "Broken"
  | "Malformed"
  | "TooLarge";

/** What a {@linkcode SocketError} is made of. */
export interface SocketErrorParts {
  readonly kind: SocketErrorKind;
  readonly path: string;
  readonly reason: string;
  readonly cause?: unknown;
}

/** A request over a unix socket that got no usable answer. */
export class SocketError extends HeadcniError {
  override readonly name = "SocketError";
  readonly kind: SocketErrorKind;
  readonly path: string;

  constructor(parts: SocketErrorParts) {
    const { kind, path, reason, cause } = parts;
    const operation = "talk to";
    super({ operation, subject: path, reason, ...(cause === undefined ? {} : { cause }) });
    this.kind = kind;
    this.path = path;
  }
}

/** `error`, thrown on connecting to `path`, as a {@linkcode SocketError}. */
export function connectError(path: string, error: unknown): SocketError {
  const fail = (kind: SocketErrorKind, reason: string) =>
    new SocketError({ kind, path, reason, cause: error });
  if (error instanceof Deno.errors.NotFound) return fail("Missing", "there is no such socket");
  if (error instanceof Deno.errors.ConnectionRefused) {
    return fail("Refused", "nobody listens there");
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return fail("Denied", "this user must not connect");
  }
  return fail("Unusable", error instanceof Error ? error.message : String(error));
}
