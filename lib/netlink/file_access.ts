/**
 * access(2): whether a path may be written, without writing. It knows what no mode tells: a
 * file system that is mounted read-only, an immutable directory. Deno has no such question.
 */

import { describeErrno } from "./errno.ts";
import { cString, intBytes, libc } from "../sys/libc.ts";

/** `unistd.h`. */
const W_OK = 2;

/** Why `path` may not be written, in the kernel's words; `undefined` if it may. */
export function writeObstacle(path: string): string | undefined {
  const { symbols, errno } = libc();
  const result = symbols.access(cString(path), intBytes(W_OK));
  const code = errno[0];
  return result === 0 ? undefined : describeErrno(code ?? 0);
}
