/**
 * Network namespaces: open them, and run code inside.
 *
 * setns(2) moves one thread. JavaScript runs on one thread, so a synchronous function runs
 * wholly inside; anything after an `await` would run wherever the thread is by then. That is
 * why {@linkcode inNetns} takes no asynchronous function. A socket stays in the namespace it
 * was made in, so the usual way is to enter, open a socket, and leave.
 */

import { CLONE_NEWNET } from "./constants/namespace.ts";
import { describeErrno, ERRNO } from "./errno.ts";
import { NetlinkError, NetnsError } from "./errors.ts";
import { abort, enterNetns, namespaceType, openReadOnly } from "./libc.ts";
import { closeDescriptor } from "../sys/libc.ts";

/** An open network namespace. Holding it keeps the namespace alive. */
export class Netns implements Disposable {
  /** Descriptor, for `IFLA_NET_NS_FD`. */
  readonly fd: number;
  /** How it was opened, for messages: usually a path. */
  readonly subject: string;
  #closed = false;

  /** Takes over `fd`, which must be a network namespace. */
  constructor(fd: number, subject: string) {
    this.fd = fd;
    this.subject = subject;
  }

  /** Device and inode: equal for two handles of one namespace, whatever their paths. */
  get id(): string {
    const { dev, ino } = Deno.statSync(`/proc/self/fd/${this.fd}`);
    return `${dev}:${ino}`;
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    closeDescriptor(this.fd);
  }
}

/**
 * Opens the network namespace at `path`, such as `/run/netns/blue`.
 *
 * @throws {NetnsError} if there is none, or something else.
 */
export function openNetns(path: string): Netns {
  let fd: number;
  try {
    fd = openReadOnly(path);
  } catch (cause) {
    if (!(cause instanceof NetlinkError)) throw cause;
    const missing = cause.code === "ENOENT" || cause.code === "ENOTDIR" || cause.code === "ESRCH";
    throw new NetnsError({
      operation: "open network namespace",
      subject: path,
      reason: cause.reason,
      kind: missing ? "missing" : "refused",
      cause,
    });
  }
  if (namespaceType(fd) === CLONE_NEWNET) return new Netns(fd, path);
  closeDescriptor(fd);
  throw new NetnsError({
    operation: "open network namespace",
    subject: path,
    reason: "it exists but is no network namespace",
    kind: "foreign",
  });
}

/** Opens the network namespace of process `pid`. */
export function openNetnsOfPid(pid: number): Netns {
  return openNetns(`/proc/${pid}/ns/net`);
}

/** Opens again the network namespace that descriptor `fd` refers to; `fd` stays the caller's. */
export function openNetnsOfFd(fd: number): Netns {
  return openNetns(`/proc/self/fd/${fd}`);
}

/** The network namespace this program runs in. */
export function openOwnNetns(): Netns {
  return openNetns("/proc/thread-self/ns/net");
}

/** `never` for promises: makes the type checker refuse an asynchronous function. */
export type Synchronous<T> = T extends PromiseLike<unknown> ? never : T;

/**
 * Runs `fn` with this thread inside `netns`, and returns what it returns.
 *
 * The thread is back in its own namespace afterwards, also when `fn` throws. If the way back
 * fails the process aborts: code that believes it works on the host would otherwise work on a
 * container, or the other way round.
 *
 * @throws {NetnsError} if the namespace cannot be entered; then `fn` has not run.
 */
export function inNetns<T>(netns: Netns, fn: () => Synchronous<T>): T {
  return detour(() => enter(netns), fn as () => T);
}

/**
 * Lets `leaveHome` move this thread to another network namespace, runs `fn` there, and brings
 * the thread home.
 */
export function detour<T>(leaveHome: () => void, fn: () => T): T {
  using home = openOwnNetns();
  leaveHome();
  // Beyond this line the thread is in a foreign namespace until `finally`.
  let result: T;
  try {
    result = fn();
  } finally {
    const errno = enterNetns(home.fd);
    if (errno !== 0) {
      abort(`Cannot return to the own network namespace: ${describeErrno(errno)}; giving up`);
    }
  }
  if (isPromise(result)) {
    throw new TypeError("Cannot await inside a network namespace: pass a synchronous function");
  }
  return result;
}

function enter(netns: Netns): void {
  const errno = enterNetns(netns.fd);
  if (errno === 0) return;
  throw new NetnsError({
    operation: "enter network namespace",
    subject: netns.subject,
    reason: describeErrno(errno),
    kind: errno === ERRNO.EPERM ? "refused" : "foreign",
    ...(errno === ERRNO.EPERM ? { remedy: "Run as root, or grant CAP_SYS_ADMIN" } : {}),
  });
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}
