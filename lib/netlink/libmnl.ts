/**
 * libmnl by FFI: netlink sockets.
 *
 * The system's `libmnl.so.0` comes first: the distribution patches it. Where it is missing,
 * the copy inside the compiled program serves; it is loaded from memory (`memfd_create`),
 * because letting Deno unpack it would use a predictable name in `/tmp`, which any local
 * user could have put there before.
 *
 * `HEADCNI_LIBMNL=system|embedded` forces the choice. Why handles are structs: `libc.ts`.
 */

import { MFD_CLOEXEC } from "./constants/namespace.ts";
import { embeddedFile } from "../sys/embedded_file.ts";
import { HeadcniError } from "../sys/errors.ts";
import { NetlinkError } from "./errors.ts";
import { cString, errnoCell, INT, intBytes, WORD, wordBytes } from "../sys/libc.ts";

/** ssize_t results are declared i32: no message is that large, and bigint costs. */
const SYMBOLS = {
  // struct mnl_socket *mnl_socket_open2(int bus, int flags)
  mnl_socket_open2: { parameters: ["i32", INT], result: "pointer" },
  // int mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
  mnl_socket_bind: { parameters: [WORD, "u32", "i32"], result: "i32" },
  // ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *req, size_t size)
  mnl_socket_sendto: { parameters: [WORD, "buffer", "usize"], result: "i32" },
  // ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
  mnl_socket_recvfrom: { parameters: [WORD, "buffer", "usize"], result: "i32" },
  // int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
  mnl_socket_setsockopt: { parameters: [WORD, "i32", "buffer", "u32"], result: "i32" },
  // unsigned int mnl_socket_get_portid(const struct mnl_socket *nl)
  mnl_socket_get_portid: { parameters: [WORD], result: "u32" },
  // int mnl_socket_get_fd(const struct mnl_socket *nl)
  mnl_socket_get_fd: { parameters: [WORD], result: "i32" },
  // int mnl_socket_close(struct mnl_socket *nl)
  mnl_socket_close: { parameters: [WORD], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

type Symbols = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** Where libmnl was loaded from. */
export type LibmnlSource = "system" | "embedded";

/** The loaded library could not be found, neither on the system nor in this program. */
export class LibmnlError extends HeadcniError {
  override readonly name = "LibmnlError";
}

interface Library {
  readonly source: LibmnlSource;
  /** As dlopen(3) knows it. */
  readonly path: string;
  readonly symbols: Symbols;
}

const SONAME = "libmnl.so.0";
let loaded: Library | undefined;

function libmnl(): Library {
  return loaded ??= load(Deno.env.get("HEADCNI_LIBMNL"));
}

function load(choice: string | undefined): Library {
  if (choice === "system") return loadSystem();
  if (choice === "embedded") return loadEmbedded();
  if (choice !== undefined && choice !== "") {
    throw new LibmnlError({
      operation: "load",
      subject: SONAME,
      reason: `HEADCNI_LIBMNL is ${JSON.stringify(choice)} instead of "system" or "embedded"`,
    });
  }
  try {
    return loadSystem();
  } catch (systemError) {
    if (!(systemError instanceof LibmnlError)) throw systemError;
    try {
      return loadEmbedded();
    } catch (embeddedError) {
      throw new LibmnlError({
        operation: "load",
        subject: SONAME,
        reason: "it is neither installed nor part of this program",
        remedy: "Install it: apt-get install libmnl0",
        cause: new AggregateError([systemError, embeddedError]),
      });
    }
  }
}

function loadSystem(): Library {
  return { source: "system", path: SONAME, symbols: dlopen(SONAME, "system") };
}

/**
 * The build puts the library beside the bundled code, all in one directory of the
 * program's virtual file system.
 */
function loadEmbedded(): Library {
  let bytes: Uint8Array;
  try {
    bytes = Deno.readFileSync(embeddedFile(SONAME));
  } catch (cause) {
    throw new LibmnlError({
      operation: "load",
      subject: `embedded ${SONAME}`,
      reason: "this program carries no copy",
      cause,
    });
  }
  // The descriptor stays open: dlopen knows libraries by path, and a later file with the
  // same number would be mistaken for this one.
  const path = `/proc/self/fd/${createMemoryFile(SONAME)}`;
  Deno.writeFileSync(path, bytes);
  return { source: "embedded", path, symbols: dlopen(path, "embedded") };
}

function dlopen(path: string, source: LibmnlSource): Symbols {
  try {
    return Deno.dlopen(path, SYMBOLS).symbols;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LibmnlError({ operation: "load", subject: `${source} ${SONAME}`, reason, cause });
  }
}

function createMemoryFile(name: string): number {
  const { symbols } = Deno.dlopen("libc.so.6", {
    // int memfd_create(const char *name, unsigned int flags)
    memfd_create: { parameters: ["buffer", INT], result: "i32" },
  });
  const errno = errnoCell();
  const fd = symbols.memfd_create(cString(name), intBytes(MFD_CLOEXEC));
  const code = errno[0];
  if (fd < 0) throw new NetlinkError({ operation: "create memory file", errno: code ?? 0 });
  return fd;
}

/** Where libmnl was loaded from, loading it if that has not happened. */
export function libmnlSource(): { readonly source: LibmnlSource; readonly path: string } {
  const { source } = libmnl();
  // The loader knows the file; /proc/self/maps is where it says so.
  const line = Deno.readTextFileSync("/proc/self/maps").split("\n").find((line) =>
    line.includes("libmnl")
  );
  const path = line?.slice(line.indexOf("/")) ?? SONAME;
  return { source, path: path.replace(/ \(deleted\)$/, "") };
}

/** `struct mnl_socket *` as the bytes of a {@linkcode WORD}. */
export type SocketHandle = Uint8Array<ArrayBuffer>;

/** mnl_socket_open2(3): a netlink socket of `protocol` with `SOCK_*` flags. */
export function openHandle(protocol: number, flags: number): SocketHandle {
  const { symbols } = libmnl();
  const errno = errnoCell();
  const pointer = symbols.mnl_socket_open2(protocol, intBytes(flags));
  const code = errno[0];
  if (pointer === null) throw new NetlinkError({ operation: "open socket", errno: code ?? 0 });
  return wordBytes(Deno.UnsafePointer.value(pointer));
}

/** mnl_socket_bind(3): joins `groups`; the kernel chooses the port id. */
export function bindHandle(handle: SocketHandle, groups: number): void {
  const { symbols } = libmnl();
  const errno = errnoCell();
  const result = symbols.mnl_socket_bind(handle, groups, 0);
  const code = errno[0];
  if (result !== 0) throw new NetlinkError({ operation: "bind socket", errno: code ?? 0 });
}

/** mnl_socket_setsockopt(3): sets a boolean option of level `SOL_NETLINK`; `false` on failure. */
export function enableOption(handle: SocketHandle, option: number): boolean {
  return libmnl().symbols.mnl_socket_setsockopt(handle, option, intBytes(1), 4) === 0;
}

/** mnl_socket_sendto(3) to the kernel: zero or an error number. */
export function sendBytes(handle: SocketHandle, bytes: Uint8Array<ArrayBuffer>): number {
  const { symbols } = libmnl();
  const errno = errnoCell();
  const sent = symbols.mnl_socket_sendto(handle, bytes, BigInt(bytes.length));
  const code = errno[0];
  return sent < 0 ? code ?? 0 : 0;
}

const ASIDE = {
  // ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *req, size_t size)
  mnl_socket_sendto: {
    parameters: [WORD, "buffer", "usize"],
    result: "i32",
    nonblocking: true,
  },
} as const satisfies Deno.ForeignLibraryInterface;

let aside: Deno.DynamicLibrary<typeof ASIDE>["symbols"] | undefined;

/** mnl_socket_sendto(3) on another thread: whether it succeeded. */
export async function sendBytesAside(
  handle: SocketHandle,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  aside ??= Deno.dlopen(libmnl().path, ASIDE).symbols;
  return await aside.mnl_socket_sendto(handle, bytes, BigInt(bytes.length)) >= 0;
}

/** mnl_socket_recvfrom(3): bytes received, or a negative error number. */
export function receiveBytes(handle: SocketHandle, buffer: Uint8Array<ArrayBuffer>): number {
  const { symbols } = libmnl();
  const errno = errnoCell();
  const received = symbols.mnl_socket_recvfrom(handle, buffer, BigInt(buffer.length));
  const code = errno[0];
  return received < 0 ? -(code ?? 0) : received;
}

/** mnl_socket_get_portid(3). */
export function portIdOf(handle: SocketHandle): number {
  return libmnl().symbols.mnl_socket_get_portid(handle);
}

/** mnl_socket_get_fd(3), for poll(2). */
export function descriptorOf(handle: SocketHandle): number {
  return libmnl().symbols.mnl_socket_get_fd(handle);
}

/** mnl_socket_close(3): closes the socket and frees the handle. */
export function closeHandle(handle: SocketHandle): void {
  libmnl().symbols.mnl_socket_close(handle);
}
