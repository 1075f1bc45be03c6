/**
 * access(2): whether a path may be written, without writing. It knows what no mode tells: a
 * file system that is mounted read-only, an immutable directory. Deno has no such question.
 */

import { describeErrno } from "./errno.ts";
import { cString, errnoCell, INT, intBytes } from "./libc.ts";

/** `unistd.h`. */
const W_OK = 2;

/** Opened on its own: only STATUS asks. Why structs: `libc.ts`. */
const SYMBOLS = {
  // int access(const char *path, int mode)
  access: { parameters: ["buffer", INT], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Why `path` may not be written, in the kernel's words; `undefined` if it may. */
export function writeObstacle(path: string): string | undefined {
  const { symbols } = Deno.dlopen("libc.so.6", SYMBOLS);
  const errno = errnoCell();
  const result = symbols.access(cString(path), intBytes(W_OK));
  const code = errno[0];
  return result === 0 ? undefined : describeErrno(code ?? 0);
}
