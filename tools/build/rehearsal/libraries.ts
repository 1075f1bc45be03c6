/** The C libraries of a rehearsal: what `Deno.dlopen` returns there, with a fake kernel behind. */

import { CLONE_NEWNET } from "../../../lib/netlink/constants/namespace.ts";
import { NETLINK_NETFILTER } from "../../../lib/netlink/constants/netlink.ts";
import * as rt from "../../../lib/netlink/constants/rtnetlink.ts";
import { decodeMessages, type Message } from "../../../lib/netlink/message.ts";
import { acknowledge, FakeKernel } from "../../../lib/netlink/testing.ts";
import { wordBytes } from "../../../lib/sys/libc.ts";
import { answerNetfilter } from "./netfilter.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Port id of all sockets. */
const PORT_ID = 4711;

/** Where the thread is, and what its sockets are. */
export class RehearsalLibraries {
  readonly #kernel = new FakeKernel();
  /** Kept: its address is given away. */
  readonly #errno = new Uint8Array(4);
  readonly #sockets: { respond: (request: Message) => Bytes[]; queue: Bytes[] }[] = [];
  #namespace = "host";

  /** The symbols of the library `path`, of which the plugin takes those it declared. */
  open(path: string): Record<string, unknown> {
    return path.startsWith("libmnl") ? this.#libmnl : this.#libc;
  }

  readonly #libc = {
    __errno_location: () => wordBytes(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.#errno))),
    access: () => 0,
    open: (path: Bytes) => this.#kernel.netns(namespaceAt(path) ?? this.#namespace).fd,
    close: () => 0,
    flock: () => 0,
    setns: (fd: number) => {
      this.#namespace = fd === this.#kernel.netns("pod").fd ? "pod" : "host";
      return 0;
    },
    ioctl: () => CLONE_NEWNET,
    // No daemon listens at a rehearsal.
    socket: () => -1,
    sendto: () => -1,
  };

  readonly #libmnl = {
    mnl_socket_open2: (protocol: number) => {
      const namespace = this.#namespace;
      const respond = protocol === NETLINK_NETFILTER
        ? answerNetfilter
        : (request: Message) => this.#answerRoute(request, namespace);
      return Deno.UnsafePointer.create(BigInt(this.#sockets.push({ respond, queue: [] })));
    },
    mnl_socket_bind: () => 0,
    mnl_socket_setsockopt: () => 0,
    mnl_socket_get_portid: () => PORT_ID,
    mnl_socket_get_fd: () => -1,
    mnl_socket_close: () => 0,
    mnl_socket_sendto: (handle: Bytes, bytes: Bytes) => {
      const { respond, queue } = this.#socket(handle);
      for (const message of decodeMessages(bytes)) queue.push(...respond(message));
      return bytes.length;
    },
    mnl_socket_recvfrom: (handle: Bytes, buffer: Bytes) => {
      const datagram = this.#socket(handle).queue.shift();
      if (datagram === undefined) return -1;
      buffer.set(datagram);
      return datagram.length;
    },
  };

  #socket(handle: Bytes) {
    const socket = this.#sockets[Number(new BigUint64Array(handle.buffer)[0]) - 1];
    if (socket === undefined) throw new TypeError("Cannot rehearse: no such socket");
    return socket;
  }

  #answerRoute(request: Message, namespace: string): Bytes[] {
    // The fake kernel knows no traffic control.
    const isTraffic = request.type >= rt.RTM_NEWQDISC && request.type <= rt.RTM_GETTFILTER;
    return isTraffic ? [acknowledge(request)] : this.#kernel.respond(request, namespace);
  }
}

/** The namespace a path leads to; `undefined` for the one the thread is in, and for files. */
function namespaceAt(path: Bytes): string | undefined {
  return new TextDecoder().decode(path).startsWith("/run/netns/") ? "pod" : undefined;
}
