/**
 * Kernel settings under `/proc/sys`.
 *
 * `/proc/sys/net` shows the namespace of the thread that opens a file, so the same functions
 * serve a container: call them inside {@linkcode inNetns}, or pass `netns`.
 */

import { InvalidRequestError, NetlinkError } from "./errors.ts";
import { ERRNO } from "./errno.ts";
import { inNetns, type Netns, type Synchronous } from "./netns.ts";

/** Where to read or write. */
export interface SysctlOptions {
  /** The own namespace if absent. */
  readonly netns?: Netns;
}

/**
 * Reads a setting, without its final line end. ≈ `sysctl -n NAME`
 *
 * @param name with slashes, because link names may hold dots: `net/ipv4/ip_forward`.
 * @throws {NetlinkError} `ENOENT` if the kernel has no such setting.
 */
export function readSysctl(name: string, options: SysctlOptions = {}): string {
  const path = sysctlPath("read sysctl", name);
  return at(options, () => {
    return reporting("read sysctl", name, () => Deno.readTextFileSync(path).trimEnd());
  });
}

/**
 * Writes a setting. ≈ `sysctl -w NAME=VALUE`
 *
 * @throws {NetlinkError} `ENOENT` for an unknown name, `EINVAL` for a bad value, `EACCES` or
 * `EROFS` without permission.
 */
export function writeSysctl(
  name: string,
  value: string | number,
  options: SysctlOptions = {},
): void {
  const path = sysctlPath("write sysctl", name);
  at(options, () => {
    reporting("write sysctl", `${name}=${value}`, () => {
      Deno.writeTextFileSync(path, String(value), { create: false });
    });
  });
}

function at<T>({ netns }: SysctlOptions, fn: () => Synchronous<T>): T {
  return netns === undefined ? fn() : inNetns<T>(netns, fn);
}

function sysctlPath(operation: string, name: string): string {
  const parts = name.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..") || name.includes("\0")) {
    throw new InvalidRequestError({
      operation,
      subject: JSON.stringify(name),
      reason: 'it is not a setting written like "net/ipv4/ip_forward"',
    });
  }
  return `/proc/sys/${name}`;
}

function reporting<T>(operation: string, subject: string, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw new NetlinkError({ operation, subject, errno: errnoOf(cause), cause });
  }
}

/** Deno has a class for a few error numbers and text for the rest. */
function errnoOf(error: unknown): number {
  if (error instanceof Deno.errors.NotFound) return ERRNO.ENOENT;
  if (error instanceof Deno.errors.PermissionDenied) return ERRNO.EACCES;
  const number = error instanceof Error ? /os error (\d+)/.exec(error.message)?.[1] : undefined;
  if (number === undefined) throw error;
  return Number(number);
}
