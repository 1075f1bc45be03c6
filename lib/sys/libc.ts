/**
 * libc by FFI: what the kernel offers and Deno does not.
 *
 * Two facts about Deno's FFI shape this file and those that build on it (`lib/netlink`), both
 * measured on 2.5:
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
 * million failing calls gave three million right numbers (`lib/netlink/libc_test.ts` repeats
 * that).
 */

/** A C `int` by value; see above. */
export const INT = { struct: ["i32"] } as const;
/** A C pointer or `long` by value; see above. */
export const WORD = { struct: ["u64"] } as const;

const SYMBOLS = {
  // int *__errno_location(void)
  __errno_location: { parameters: [], result: WORD },
  // int access(const char *path, int mode)
  access: { parameters: ["buffer", INT], result: "i32" },
  // int open(const char *path, int flags, mode_t mode)
  open: { parameters: ["buffer", "i32", INT], result: "i32" },
  // int close(int fd)
  close: { parameters: [INT], result: "i32" },
  // int flock(int fd, int operation)
  flock: { parameters: ["i32", INT], result: "i32" },
  // int setns(int fd, int nstype)
  setns: { parameters: ["i32", INT], result: "i32" },
  // int ioctl(int fd, unsigned long request)
  ioctl: { parameters: ["i32", WORD], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The opened library. */
export interface Libc {
  readonly symbols: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];
  /** One element: errno of this thread. */
  readonly errno: Int32Array;
}

let opened: Libc | undefined;

/** The library, opened when first needed: every caller shares it. */
export function libc(): Libc {
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

/** close(2). Linux frees the descriptor whatever it returns, so the result tells nothing. */
export function closeDescriptor(fd: number): void {
  libc().symbols.close(intBytes(fd));
}

/**
 * Whether there is something at `path`, by access(2). Deno says no by an exception, and the
 * first one of a process costs a third of a millisecond.
 */
export function pathExists(path: string): boolean {
  return libc().symbols.access(cString(path), intBytes(0)) === 0;
}
