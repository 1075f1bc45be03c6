/** The few libc calls that netlink needs. */

import { cString, intBytes, libc, wordBytes } from "../sys/libc.ts";
import { CLONE_NEWNET, NS_GET_NSTYPE, O_CLOEXEC, O_NONBLOCK } from "./constants/namespace.ts";
import { NetlinkError } from "./errors.ts";

/**
 * open(2) for reading, close-on-exec.
 *
 * Never blocks: a path that turns out to be a FIFO would otherwise wait for a writer.
 */
export function openReadOnly(path: string): number {
  const { symbols, errno } = libc();
  const fd = symbols.open(cString(path), O_CLOEXEC | O_NONBLOCK, intBytes(0));
  const code = errno[0];
  if (fd < 0) throw new NetlinkError({ operation: "open", subject: path, errno: code ?? 0 });
  return fd;
}

/** setns(2) of this thread into a network namespace: zero or an error number. */
export function enterNetns(fd: number): number {
  const { symbols, errno } = libc();
  const result = symbols.setns(fd, intBytes(CLONE_NEWNET));
  const code = errno[0];
  return result === 0 ? 0 : code ?? 0;
}

/** `ioctl(fd, NS_GET_NSTYPE)`: the kind of namespace, or -1 if `fd` is none. */
export function namespaceType(fd: number): number {
  return libc().symbols.ioctl(fd, wordBytes(NS_GET_NSTYPE));
}

/** abort(3) with `message` on stderr. For when going on would do harm. */
export function abort(message: string): never {
  Deno.stderr.writeSync(new TextEncoder().encode(`headcni: ${message}\n`));
  const library = Deno.dlopen("libc.so.6", { abort: { parameters: [], result: "void" } });
  library.symbols.abort();
  throw new Error("Cannot abort the process: abort(3) returned");
}
