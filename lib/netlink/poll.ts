/**
 * Waiting for a socket without holding up the event loop.
 *
 * Deno gives no readiness notification for foreign descriptors. Of the two ways left, asking
 * a non-blocking socket on a timer costs wake-ups when nothing happens and latency when
 * something does. So poll(2) is declared `nonblocking`: Deno runs it on a thread of its pool
 * and resolves a promise. Only poll runs there; the socket is read on the main thread. An
 * eventfd in the same poll ends the wait when the reader has enough.
 */

import { ERRNO } from "./errno.ts";
import { NetlinkError } from "./errors.ts";
import { closeDescriptor, errnoCell, INT, intBytes, wordBytes } from "../sys/libc.ts";

const SYMBOLS = {
  // int poll(struct pollfd *fds, nfds_t nfds, int timeout)
  poll: { parameters: ["buffer", "u64", "i32"], result: "i32", nonblocking: true },
  // int eventfd(unsigned int initval, int flags)
  eventfd: { parameters: ["u32", INT], result: "i32" },
  // ssize_t write(int fd, const void *buf, size_t count)
  write: { parameters: [INT, "buffer", "usize"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

let opened: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] | undefined;

function libc(): Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] {
  return opened ??= Deno.dlopen("libc.so.6", SYMBOLS).symbols;
}

/** `EFD_CLOEXEC | EFD_NONBLOCK` of `sys/eventfd.h`. */
const EVENTFD_FLAGS = 0o2004000;
/** `POLLIN` of `asm-generic/poll.h`. */
const POLLIN = 1;
/** `sizeof(struct pollfd)`: fd, events, revents. */
const POLLFD_BYTES = 8;
const FOREVER = -1;

/** Waits for one descriptor to become readable. */
export class ReadinessPoll implements Disposable {
  readonly #wakeFd: number;
  readonly #fds = new Uint8Array(2 * POLLFD_BYTES);
  #waiting = false;
  #closed = false;

  constructor(fd: number) {
    const errno = errnoCell();
    const wakeFd = libc().eventfd(0, intBytes(EVENTFD_FLAGS));
    const code = errno[0] ?? 0;
    if (wakeFd < 0) throw new NetlinkError({ operation: "create event descriptor", errno: code });
    this.#wakeFd = wakeFd;
    const view = new DataView(this.#fds.buffer);
    view.setInt32(0, fd, true);
    view.setUint16(4, POLLIN, true);
    view.setInt32(POLLFD_BYTES, wakeFd, true);
    view.setUint16(POLLFD_BYTES + 4, POLLIN, true);
  }

  /** Resolves when the descriptor is readable, or after {@linkcode wake}. */
  async readable(): Promise<void> {
    if (this.#closed) return;
    this.#waiting = true;
    // The wait has no deadline: wake() ends it, and disposing calls that. The result does not
    // matter, whoever reads finds out; EINTR is one more reason to look.
    await libc().poll(this.#fds, 2n, FOREVER);
    this.#waiting = false;
    if (this.#closed) closeDescriptor(this.#wakeFd);
  }

  /** Ends the current and every later wait. */
  wake(): void {
    const errno = errnoCell();
    const written = libc().write(intBytes(this.#wakeFd), wordBytes(1), 8n);
    const code = errno[0] ?? 0;
    if (written < 0 && code !== ERRNO.EAGAIN) {
      throw new NetlinkError({ operation: "wake monitor", errno: code });
    }
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    // A thread still polls the descriptor: readable() closes it when that is over.
    if (this.#waiting) this.wake();
    else closeDescriptor(this.#wakeFd);
  }
}
