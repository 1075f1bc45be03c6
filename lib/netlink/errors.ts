/** What can go wrong between this program and the kernel. */

import { type ErrorParts, HeadcniError } from "../sys/errors.ts";
import { describeErrno, ERRNO, type ErrnoName, errnoName } from "./errno.ts";

/** What a {@linkcode NetlinkError} is made of. */
export interface NetlinkErrorParts extends Pick<ErrorParts, "operation" | "subject" | "cause"> {
  /** Positive error number. */
  readonly errno: number;
  /** The kernel's own words (`NLMSGERR_ATTR_MSG`), when it has any. */
  readonly kernelMessage?: string;
  /** Offset of the offending attribute in the request (`NLMSGERR_ATTR_OFFS`). */
  readonly offset?: number;
}

/**
 * A system call or a netlink request failed.
 *
 * Decide by {@linkcode NetlinkError.code}, never by the text.
 *
 * @example
 * ```ts
 * import { NetlinkError } from "./errors.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new NetlinkError({
 *   operation: "add route",
 *   subject: "10.0.0.0/8 via 192.0.2.1",
 *   errno: 101,
 *   kernelMessage: "Nexthop has invalid gateway",
 * });
 * assertEquals(error.code, "ENETUNREACH");
 * assertEquals(
 *   error.message,
 *   "Cannot add route 10.0.0.0/8 via 192.0.2.1: Nexthop has invalid gateway: " +
 *     "Network is unreachable (ENETUNREACH)",
 * );
 * ```
 */
export class NetlinkError extends HeadcniError {
  override readonly name = "NetlinkError";
  readonly errno: number;
  /** The C name of {@linkcode errno}, such as `"EEXIST"`. */
  readonly code: ErrnoName | `E${number}`;
  readonly kernelMessage: string | undefined;
  readonly offset: number | undefined;

  constructor(parts: NetlinkErrorParts) {
    const { kernelMessage, errno } = parts;
    const cause = describeErrno(errno);
    const remedy = remedyFor(errno);
    super({
      operation: parts.operation,
      reason: kernelMessage === undefined ? cause : `${kernelMessage}: ${cause}`,
      ...(parts.subject === undefined ? {} : { subject: parts.subject }),
      ...(remedy === undefined ? {} : { remedy }),
      ...(parts.cause === undefined ? {} : { cause: parts.cause }),
    });
    this.errno = errno;
    this.code = errnoName(errno);
    this.kernelMessage = kernelMessage;
    this.offset = parts.offset;
  }
}

function remedyFor(errno: number): string | undefined {
  switch (errno) {
    case ERRNO.EPERM:
    case ERRNO.EACCES:
      return "Run as root, or grant CAP_NET_ADMIN (and CAP_SYS_ADMIN for namespaces)";
    case ERRNO.EMFILE:
      return "Raise the limit of open files (ulimit -n)";
    default:
      return undefined;
  }
}

/**
 * Whether `error` is a {@linkcode NetlinkError} with one of the given codes.
 *
 * @example
 * ```ts
 * import { isErrno, NetlinkError } from "./errors.ts";
 * import { assert } from "@std/assert";
 *
 * const error = new NetlinkError({ operation: "delete link", subject: "eth9", errno: 19 });
 * assert(isErrno(error, "ENODEV", "ENOENT"));
 * ```
 */
export function isErrno(error: unknown, ...codes: readonly ErrnoName[]): error is NetlinkError {
  return error instanceof NetlinkError && (codes as readonly string[]).includes(error.code);
}

/** The kernel, or something that poses as it, sent bytes that make no sense. */
export class MalformedMessageError extends HeadcniError {
  override readonly name = "MalformedMessageError";

  constructor(reason: string) {
    super({ operation: "decode netlink message", reason });
  }
}

/** The objects changed under a dump each time it was tried, so no list is consistent. */
export class DumpInterruptedError extends HeadcniError {
  override readonly name = "DumpInterruptedError";

  constructor(operation: string, attempts: number) {
    super({
      operation,
      reason: `objects changed during each of ${attempts} attempts`,
      remedy: "Try again when fewer interfaces come and go",
    });
  }
}

/** Why a namespace cannot be used: not there, not allowed, or not a network namespace. */
export type NetnsErrorKind = "missing" | "refused" | "foreign";

/** A path, process or descriptor does not lead to a usable network namespace. */
export class NetnsError extends HeadcniError {
  override readonly name = "NetnsError";
  readonly kind: NetnsErrorKind;

  constructor(parts: ErrorParts & { readonly kind: NetnsErrorKind }) {
    super(parts);
    this.kind = parts.kind;
  }
}

/** A request that the kernel could only refuse, found before it is sent. */
export class InvalidRequestError extends HeadcniError {
  override readonly name = "InvalidRequestError";
}
