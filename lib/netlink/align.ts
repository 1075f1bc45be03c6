/** Alignment macros of `linux/netlink.h`. */

/** ```#define NLMSG_ALIGN(len) (((len) + NLMSG_ALIGNTO - 1) & ~(NLMSG_ALIGNTO - 1))``` with 4 bytes. */
export function nlmsgAlign(length: number): number {
  return (length + 3) & ~3;
}

/** ```#define NLA_ALIGN(len) (((len) + NLA_ALIGNTO - 1) & ~(NLA_ALIGNTO - 1))``` with 4 bytes. */
export function nlaAlign(length: number): number {
  return (length + 3) & ~3;
}
