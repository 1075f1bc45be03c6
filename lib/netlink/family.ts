/** Address families between `lib/ip` and the kernel. */

import type { Family } from "../ip/mod.ts";
import { AF_INET, AF_INET6, AF_UNSPEC } from "./constants/socket.ts";

/** `AF_*` of an IP version; `AF_UNSPEC` (both) for none. */
export function toAddressFamily(family: Family | undefined): number {
  return family === undefined ? AF_UNSPEC : family === 4 ? AF_INET : AF_INET6;
}

/** The IP version of an `AF_*`; `undefined` for anything else. */
export function toFamily(addressFamily: number): Family | undefined {
  return addressFamily === AF_INET ? 4 : addressFamily === AF_INET6 ? 6 : undefined;
}
