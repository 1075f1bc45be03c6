/** Named network namespaces, as `ip netns` keeps them: bind mounts in `/run/netns`. */

import { CLONE_NEWNET, MNT_DETACH, MS_BIND, MS_REC, MS_SHARED } from "./constants/namespace.ts";
import { ERRNO } from "./errno.ts";
import { InvalidRequestError, NetlinkError } from "./errors.ts";
import { cString, errnoCell, INT, intBytes, WORD, wordBytes } from "../sys/libc.ts";
import { detour, type Netns, openNetns } from "./netns.ts";

const SYMBOLS = {
  // int unshare(int flags)
  unshare: { parameters: [INT], result: "i32" },
  // int mount(const char *source, const char *target, const char *type, unsigned long flags,
  //           const void *data)
  mount: { parameters: ["buffer", "buffer", "buffer", WORD, "pointer"], result: "i32" },
  // int umount2(const char *target, int flags)
  umount2: { parameters: ["buffer", INT], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

let opened: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] | undefined;

function libc(): Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] {
  return opened ??= Deno.dlopen("libc.so.6", SYMBOLS).symbols;
}

const DIRECTORY = "/run/netns";

/** The path of the namespace called `name`. */
export function netnsPath(name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/")) {
    throw new InvalidRequestError({
      operation: "name network namespace",
      subject: JSON.stringify(name),
      reason: "it must be a file name",
    });
  }
  return `${DIRECTORY}/${name}`;
}

/**
 * Creates a namespace with a name. ≈ `ip netns add NAME`
 *
 * @throws {NetlinkError} `EEXIST` if the name is taken.
 */
export function createNetns(name: string): Netns {
  const path = netnsPath(name);
  Deno.mkdirSync(DIRECTORY, { recursive: true, mode: 0o755 });
  shareDirectory();
  try {
    Deno.writeTextFileSync(path, "", { createNew: true, mode: 0o444 });
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AlreadyExists)) throw cause;
    const errno = ERRNO.EEXIST;
    throw new NetlinkError({ operation: "create network namespace", subject: name, errno });
  }
  try {
    detour(() => unshare(name), () => mount("/proc/thread-self/ns/net", path, MS_BIND));
    return openNetns(path);
  } catch (error) {
    Deno.removeSync(path);
    throw error;
  }
}

/**
 * Removes the name. The namespace itself ends with its last user. ≈ `ip netns del NAME`
 *
 * @returns `false` if there was none.
 */
export function deleteNetns(name: string): boolean {
  const path = netnsPath(name);
  const errno = errnoCell();
  const result = libc().umount2(cString(path), intBytes(MNT_DETACH));
  const code = errno[0] ?? 0;
  // EINVAL: a plain file, left by a creation that was cut off.
  if (result !== 0 && code !== ERRNO.EINVAL && code !== ERRNO.ENOENT) {
    throw new NetlinkError({ operation: "delete network namespace", subject: name, errno: code });
  }
  try {
    Deno.removeSync(path);
    return true;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return false;
    throw cause;
  }
}

function unshare(name: string): void {
  const errno = errnoCell();
  const result = libc().unshare(intBytes(CLONE_NEWNET));
  const code = errno[0] ?? 0;
  if (result === 0) return;
  throw new NetlinkError({ operation: "create network namespace", subject: name, errno: code });
}

/** Mounts made here must show up in containers that share the directory, as `ip netns` does it. */
function shareDirectory(): void {
  try {
    mount("none", DIRECTORY, MS_SHARED | MS_REC);
  } catch (error) {
    // EINVAL: not a mount point yet.
    if (!(error instanceof NetlinkError) || error.code !== "EINVAL") throw error;
    mount(DIRECTORY, DIRECTORY, MS_BIND | MS_REC);
    mount("none", DIRECTORY, MS_SHARED | MS_REC);
  }
}

function mount(source: string, target: string, flags: number): void {
  const errno = errnoCell();
  const none = cString("none");
  const result = libc().mount(cString(source), cString(target), none, wordBytes(flags), null);
  const code = errno[0] ?? 0;
  if (result !== 0) throw new NetlinkError({ operation: "mount", subject: target, errno: code });
}
