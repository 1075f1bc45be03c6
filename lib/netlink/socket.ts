/**
 * A netlink socket, cut at the level of datagrams: what a test has to fake is three methods.
 */

import {
  NETLINK_CAP_ACK,
  NETLINK_EXT_ACK,
  NETLINK_GET_STRICT_CHK,
  NETLINK_ROUTE,
} from "./constants/netlink.ts";
import { SOCK_CLOEXEC, SOCK_NONBLOCK } from "./constants/socket.ts";
import { ERRNO } from "./errno.ts";
import { NetlinkError } from "./errors.ts";
import {
  bindHandle,
  closeHandle,
  descriptorOf,
  enableOption,
  openHandle,
  portIdOf,
  receiveBytes,
  sendBytes,
  sendBytesAside,
  type SocketHandle,
} from "./libmnl.ts";
import { inNetns, type Netns } from "./netns.ts";

/** Datagrams to the kernel and back. */
export interface NetlinkSocket extends Disposable {
  /** The kernel's name for this socket: `nlmsg_pid` of its replies. */
  readonly portId: number;
  /** Sends one datagram. */
  send(datagram: Uint8Array<ArrayBuffer>): void;
  /** Sends one datagram on another thread; done when the kernel has worked on it. */
  sendAside(datagram: Uint8Array<ArrayBuffer>): Promise<void>;
  /** The next datagram. Its bytes are valid until the next call. */
  receive(): Uint8Array<ArrayBuffer>;
}

/** How to open a socket. */
export interface SocketOptions {
  /**
   * `NETLINK_*` protocol.
   *
   * @default {NETLINK_ROUTE}
   */
  readonly protocol?: number;
  /** Namespace the socket belongs to for life; the own one if absent. */
  readonly netns?: Netns;
  /**
   * Multicast groups as bits.
   *
   * @default {0}
   */
  readonly groups?: number;
}

/**
 * Room for one datagram. The kernel fills dumps up to 32 KiB when the reader offers that
 * much (`netlink_recvmsg` in `net/netlink/af_netlink.c`); one message with many virtual
 * functions may be larger.
 */
const RECEIVE_BYTES = 64 * 1024;

/** A real socket, through libmnl. */
export class MnlSocket implements NetlinkSocket {
  readonly portId: number;
  readonly #handle: SocketHandle;
  readonly #buffer = new Uint8Array(RECEIVE_BYTES);
  #closed = false;

  constructor(handle: SocketHandle) {
    this.#handle = handle;
    this.portId = portIdOf(handle);
  }

  /** Descriptor, for poll(2). */
  get fd(): number {
    return descriptorOf(this.#handle);
  }

  send(datagram: Uint8Array<ArrayBuffer>): void {
    this.#requireOpen("send");
    const errno = sendBytes(this.#handle, datagram);
    if (errno !== 0) throw new NetlinkError({ operation: "send netlink message", errno });
  }

  async sendAside(datagram: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#requireOpen("send");
    // errno belongs to the other thread. What failed there is tried here, and tells.
    if (!await sendBytesAside(this.#handle, datagram)) this.send(datagram);
  }

  /**
   * The next datagram, without waiting.
   *
   * The kernel handles a request inside send(2) and makes the next part of a dump inside
   * recv(2), so a reply is there or will never come. `EAGAIN` is then an error at once,
   * where a blocking socket would hang.
   */
  receive(): Uint8Array<ArrayBuffer> {
    this.#requireOpen("receive");
    const received = receiveBytes(this.#handle, this.#buffer);
    if (received < 0) {
      // libmnl says ENOSPC for a datagram that did not fit; the kernel's word is EMSGSIZE.
      const errno = received === -ERRNO.ENOSPC ? ERRNO.EMSGSIZE : -received;
      throw new NetlinkError({ operation: "receive netlink message", errno });
    }
    return this.#buffer.subarray(0, received);
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    closeHandle(this.#handle);
  }

  /** libmnl frees the handle on close: using it again would read freed memory. */
  #requireOpen(action: string): void {
    if (this.#closed) throw new TypeError(`Cannot ${action}: the netlink socket is closed`);
  }
}

/** Opens a socket that never blocks, with extended errors and strict checking where known. */
export function openSocket(options: SocketOptions = {}): MnlSocket {
  const { netns } = options;
  return netns === undefined ? openHere(options) : inNetns(netns, () => openHere(options));
}

function openHere(options: SocketOptions): MnlSocket {
  const handle = openHandle(options.protocol ?? NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
  try {
    // Each is newer than the oldest kernel in use; without them errors say less and filters
    // of dumps are applied here only.
    enableOption(handle, NETLINK_EXT_ACK);
    enableOption(handle, NETLINK_CAP_ACK);
    enableOption(handle, NETLINK_GET_STRICT_CHK);
    bindHandle(handle, options.groups ?? 0);
    return new MnlSocket(handle);
  } catch (error) {
    closeHandle(handle);
    throw error;
  }
}
