/** The hardware address a runtime wants for a container's interface. */

import { formatMac, parseMac } from "../netlink/mac.ts";
import { type CniArgs } from "./cni_args.ts";
import { EnvironmentError } from "./errors.ts";

/**
 * Reads a hardware address an interface can have; empty text means none in particular.
 *
 * @throws {TypeError} if it is one of a group, or all zeros: the kernel takes neither.
 *
 * @example
 * ```ts
 * import { readHardwareAddress } from "./hardware_address.ts";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(readHardwareAddress("0A:58:0a:00:00:02"), "0a:58:0a:00:00:02");
 * assertThrows(() => readHardwareAddress("01:00:5e:00:00:01"), TypeError, "of a group");
 * ```
 */
export function readHardwareAddress(text: string): string | undefined {
  if (text === "") return undefined;
  const bytes = parseMac(text);
  if ((bytes[0] ?? 0) & 1) throw new TypeError(`Cannot use ${text}: it is the address of a group`);
  if (bytes.every((byte) => byte === 0)) throw new TypeError(`Cannot use ${text}: it is all zeros`);
  return formatMac(bytes);
}

/**
 * `MAC` of `CNI_ARGS`, as podman and CRI-O ask for one.
 *
 * @throws {EnvironmentError} if it is none.
 */
export function hardwareAddressOf(args: CniArgs): string | undefined {
  try {
    return readHardwareAddress(args.get("MAC") ?? "");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new EnvironmentError(["CNI_ARGS"], `MAC is wrong: ${error.message}`);
  }
}
