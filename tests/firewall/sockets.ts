/**
 * Sockets inside network namespaces, by libc and synchronously.
 *
 * A socket stays in the namespace it was made in, so one process is server and client in as
 * many namespaces as a test has. The kernel finishes a TCP handshake without anybody
 * accepting, so nothing here needs a second thread.
 */

import { IpAddress } from "../../lib/ip/mod.ts";
import { inNetns, type Netns } from "../../lib/netlink/netns.ts";

const AF_INET = 2;
const AF_INET6 = 10;
const AF_PACKET = 17;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_RCVTIMEO = 20;
const SO_SNDTIMEO = 21;
const IPPROTO_TCP = 6;
const TCP_MAXSEG = 2;

/** Long enough on a busy machine; only a test that expects silence waits this long. */
const TIMEOUT_MS = 400;

const libc = Deno.uid() !== 0 ? undefined : Deno.dlopen("libc.so.6", {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  accept: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
  recvfrom: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "buffer"], result: "isize" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
}).symbols;

function c(): NonNullable<typeof libc> {
  if (libc === undefined) throw new Error("Cannot open socket: it needs root");
  return libc;
}

/** An address with a port. */
export interface Endpoint {
  readonly address: IpAddress;
  readonly port: number;
}

/** What arrived, and from whom. */
export interface Received {
  readonly bytes: Uint8Array;
  readonly from: Endpoint;
}

/** A descriptor that is closed with the test. */
export class Socket implements Disposable {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
    const timeout = BigInt64Array.of(0n, BigInt(TIMEOUT_MS) * 1000n);
    for (const option of [SO_RCVTIMEO, SO_SNDTIMEO]) this.#set(option, timeout);
    this.#set(SO_REUSEADDR, Int32Array.of(1));
  }

  bind(to: Endpoint): this {
    const address = encodeEndpoint(to);
    check(c().bind(this.fd, address, address.length), `bind to ${to.address} ${to.port}`);
    return this;
  }

  /** Whether the other side answered. */
  connect(to: Endpoint): boolean {
    const address = encodeEndpoint(to);
    return c().connect(this.fd, address, address.length) === 0;
  }

  listen(): this {
    check(c().listen(this.fd, 16), "listen");
    return this;
  }

  /** The next connection and who made it; `undefined` if none comes. */
  accept(): { readonly socket: Socket; readonly from: Endpoint } | undefined {
    const address = new Uint8Array(28);
    const fd = c().accept(this.fd, address, Uint32Array.of(28));
    return fd < 0 ? undefined : { socket: new Socket(fd), from: decodeEndpoint(address) };
  }

  send(bytes: Uint8Array<ArrayBuffer>, to: Endpoint): boolean {
    return this.#send(bytes, encodeEndpoint(to));
  }

  /** A whole frame, on a packet socket. */
  sendFrame(frame: Uint8Array<ArrayBuffer>, index: number): boolean {
    const address = new Uint8Array(20);
    const view = new DataView(address.buffer);
    view.setUint16(0, AF_PACKET, true);
    view.setInt32(4, index, true);
    return this.#send(frame, address);
  }

  /** The next datagram; `undefined` if none comes. */
  receive(): Received | undefined {
    const buffer = new Uint8Array(2048);
    const address = new Uint8Array(28);
    const length = c().recvfrom(this.fd, buffer, 2048n, 0, address, Uint32Array.of(28));
    if (length < 0n) return undefined;
    return { bytes: buffer.slice(0, Number(length)), from: decodeEndpoint(address) };
  }

  /** The largest segment this connection sends. */
  get maxSegment(): number {
    const value = new Int32Array(1);
    check(c().getsockopt(this.fd, IPPROTO_TCP, TCP_MAXSEG, value, Uint32Array.of(4)), "TCP_MAXSEG");
    return value[0] ?? 0;
  }

  [Symbol.dispose](): void {
    c().close(this.fd);
  }

  #set(option: number, value: BigInt64Array<ArrayBuffer> | Int32Array<ArrayBuffer>): void {
    c().setsockopt(this.fd, SOL_SOCKET, option, value, value.byteLength);
  }

  #send(bytes: Uint8Array<ArrayBuffer>, address: Uint8Array<ArrayBuffer>): boolean {
    const sent = c().sendto(this.fd, bytes, BigInt(bytes.length), 0, address, address.length);
    return sent === BigInt(bytes.length);
  }
}

/** A TCP or UDP socket. */
export function openTransport(netns: Netns, protocol: "tcp" | "udp", family: 4 | 6): Socket {
  const type = protocol === "tcp" ? SOCK_STREAM : SOCK_DGRAM;
  return open(netns, family === 4 ? AF_INET : AF_INET6, type, 0);
}

/** A raw IP socket: it sees every packet of one protocol, with its IPv4 header. */
export function openRaw(netns: Netns, family: 4 | 6, protocol: number): Socket {
  return open(netns, family === 4 ? AF_INET : AF_INET6, SOCK_RAW, protocol);
}

/** A socket for whole frames. */
export function openPacket(netns: Netns): Socket {
  return open(netns, AF_PACKET, SOCK_RAW, 0);
}

function open(netns: Netns, family: number, type: number, protocol: number): Socket {
  return inNetns(netns, () => new Socket(check(c().socket(family, type, protocol), "open socket")));
}

function check(result: number, what: string): number {
  if (result < 0) throw new Error(`Cannot ${what}: the system refused`);
  return result;
}

function encodeEndpoint({ address, port }: Endpoint): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(address.family === 4 ? 16 : 28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, address.family === 4 ? AF_INET : AF_INET6, true);
  view.setUint16(2, port);
  bytes.set(address.toBytes(), address.family === 4 ? 4 : 8);
  // In the tests' namespaces a link-local address means the first link after `lo`.
  if (address.family === 6 && address.isLinkLocal) view.setUint32(24, 2, true);
  return bytes;
}

function decodeEndpoint(bytes: Uint8Array): Endpoint {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const family = view.getUint16(0, true);
  const address = family === AF_INET6 ? bytes.slice(8, 24) : bytes.slice(4, 8);
  return { address: IpAddress.fromBytes(address), port: view.getUint16(2) };
}
