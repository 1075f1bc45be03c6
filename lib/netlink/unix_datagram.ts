/** One datagram to a unix socket, without waiting. Deno's own are unstable, and asynchronous. */

import {
  AF_UNIX,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
} from "./constants/socket.ts";
import { ERRNO } from "./errno.ts";
import { closeDescriptor, errnoCell, INT, intBytes } from "../sys/libc.ts";

/** `sun_path` of `linux/un.h` has 108 bytes, the final zero included. */
const MAX_PATH_BYTES = 107;

/** Opened on its own: hardly any call needs it. Why structs: `libc.ts`. */
const SYMBOLS = {
  // int socket(int domain, int type, int protocol)
  socket: { parameters: ["i32", "i32", INT], result: "i32" },
  // ssize_t sendto(int fd, const void *buf, size_t len, int flags,
  //                const struct sockaddr *addr, socklen_t addrlen)
  sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", INT], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

let opened: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] | undefined;

/**
 * Sends `bytes` to the datagram socket at `path`: zero or an error number, at once in any case.
 *
 * `EAGAIN` if the reader's queue is full, `ECONNREFUSED` if nobody reads, `EPROTOTYPE` for a
 * stream socket, `ENOENT`, `EACCES`, `EMSGSIZE`, ….
 */
export function sendUnixDatagram(path: string, bytes: Uint8Array<ArrayBuffer>): number {
  const name = new TextEncoder().encode(path);
  if (name.length > MAX_PATH_BYTES) return ERRNO.ENAMETOOLONG;
  // struct sockaddr_un: sa_family_t, then the path with its final zero.
  const address = new Uint8Array(2 + name.length + 1);
  new Uint16Array(address.buffer, 0, 1)[0] = AF_UNIX;
  address.set(name, 2);
  const symbols = opened ??= Deno.dlopen("libc.so.6", SYMBOLS).symbols;
  const errno = errnoCell();
  const fd = symbols.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, intBytes(0));
  const refusal = errno[0];
  if (fd < 0) return refusal ?? 0;
  const size = intBytes(address.length);
  const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  const sent = symbols.sendto(fd, bytes, BigInt(bytes.length), flags, address, size);
  const code = errno[0];
  closeDescriptor(fd);
  return sent < 0 ? code ?? 0 : 0;
}
