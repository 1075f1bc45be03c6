/**
 * The few libc calls that netlink needs, and errno.
 *
 * Two facts about Deno's FFI shape this file and `libmnl.ts`, both measured on 2.5:
 *
 * **Structs instead of integers.** `Deno.dlopen` compiles a machine code trampoline per
 * symbol, 0.1 to 0.9 ms each: more than everything a CNI ADD does in the kernel. Symbols
 * with a struct by value get none and are called through libffi, which costs the same
 * half microsecond per call. A struct of one word travels in the same register as the word
 * (System V x86-64 ABI §3.2.3, AAPCS64 §6.8.2), so one parameter of each symbol is
 * declared as {@linkcode INT} or {@linkcode WORD}. Opening both libraries falls from
 * 3.8 ms to 1.1 ms.
 *
 * **errno is read as an array element.** Between the C call and the reading of errno the
 * engine must not run anything that makes a system call. A function call is a place where
 * V8 may compile, and compiling overwrites errno: with `DataView.getInt32` one process in
 * seven saw a wrong number. An element of a typed array is read without a call; three
 * million failing calls gave three million right numbers (`libc_test.ts` repeats that).
 */

import { CLONE_NEWNET, NS_GET_NSTYPE, O_CLOEXEC, O_NONBLOCK } from "./constants/namespace.ts";
import { NetlinkError } from "./errors.ts";

/** A C `int` by value; see above. */
export const INT = { struct: ["i32"] } as const;
/** A C pointer or `long` by value; see above. */
export const WORD = { struct: ["u64"] } as const;

const SYMBOLS = {
  // int *__errno_location(void)
  __errno_location: { parameters: [], result: WORD },
  // int open(const char *path, int flags, mode_t mode)
  open: { parameters: ["buffer", "i32", INT], result: "i32" },
  // int close(int fd)
  close: { parameters: [INT], result: "i32" },
  // int setns(int fd, int nstype)
  setns: { parameters: ["i32", INT], result: "i32" },
  // int ioctl(int fd, unsigned long request)
  ioctl: { parameters: ["i32", WORD], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

interface Libc {
  readonly symbols: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];
  /** One element: errno of this thread. */
  readonly errno: Int32Array;
}

let opened: Libc | undefined;

function libc(): Libc {
  return opened ??= openLibc();
}

function openLibc(): Libc {
  const { symbols } = Deno.dlopen("libc.so.6", SYMBOLS);
  const [address = 0n] = new BigUint64Array(symbols.__errno_location().buffer);
  const location = Deno.UnsafePointer.create(address);
  if (location === null) throw new Error("Cannot read errno: libc gave no location");
  return { symbols, errno: new Int32Array(Deno.UnsafePointerView.getArrayBuffer(location, 4)) };
}

/**
 * The element that holds errno of this thread. Read it in the statement after the call,
 * with no function call in between.
 */
export function errnoCell(): Int32Array {
  return libc().errno;
}

/** `value` as the bytes of an {@linkcode INT}. */
export function intBytes(value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Int32Array.of(value).buffer);
}

/** `value` as the bytes of a {@linkcode WORD}. */
export function wordBytes(value: number | bigint): Uint8Array<ArrayBuffer> {
  return new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);
}

/** `text` as a C string. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}

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

/** close(2). Linux frees the descriptor whatever it returns, so the result tells nothing. */
export function closeDescriptor(fd: number): void {
  libc().symbols.close(intBytes(fd));
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
