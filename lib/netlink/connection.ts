/** A conversation with the kernel: requests and their replies over one socket. */

import {
  NLM_F_ACK,
  NLM_F_DUMP,
  NLM_F_DUMP_INTR,
  NLM_F_REQUEST,
  NLMSG_DONE,
  NLMSG_ERROR,
  NLMSG_NOOP,
} from "./constants/netlink.ts";
import { ERRNO } from "./errno.ts";
import { DumpInterruptedError, NetlinkError } from "./errors.ts";
import {
  type Acknowledgement,
  decodeAcknowledgement,
  decodeDone,
  decodeMessages,
  encodeMessage,
  type Message,
} from "./message.ts";
import type { Request } from "./request.ts";
import { type NetlinkSocket, openSocket, type SocketOptions } from "./socket.ts";

/** What became of one request of a batch. */
export class Outcome {
  readonly request: Request;
  /** Messages the kernel answered with, acknowledgement apart. */
  readonly replies: Message[] = [];
  #failure: Acknowledgement | undefined;
  #error: NetlinkError | undefined;

  constructor(request: Request) {
    this.request = request;
  }

  /** Notes that the kernel refused. */
  fail(failure: Acknowledgement): void {
    this.#failure = failure;
  }

  /** The kernel's error number; zero for success. Who expects it need not pay for an error. */
  get errno(): number {
    return this.#failure?.errno ?? 0;
  }

  /** Why it failed; `undefined` for success. */
  get error(): NetlinkError | undefined {
    if (this.#failure === undefined) return undefined;
    return this.#error ??= failure(this.request, this.#failure);
  }
}

/** Requests per datagram: their errors, at about 1 KiB each, must fit the receive buffer. */
const MAX_BATCH = 64;
/** How often a list is read again because it changed meanwhile. Go's CNI plugins use 5 too. */
const MAX_DUMP_ATTEMPTS = 5;

/**
 * Requests and replies over one socket.
 *
 * Everything is synchronous: the kernel answers inside the system call.
 *
 * @example
 * ```ts
 * import { NetlinkConnection } from "./connection.ts";
 * import { acknowledge, fakeSocket } from "./testing.ts";
 * import { setLinkUp } from "./link.ts";
 *
 * using connection = new NetlinkConnection(fakeSocket((request) => [acknowledge(request)]));
 * connection.execute(setLinkUp({ index: 2 }));
 * ```
 */
export class NetlinkConnection implements Disposable {
  readonly #socket: NetlinkSocket;
  #sequence = 0;

  constructor(socket: NetlinkSocket) {
    this.#socket = socket;
  }

  /** @throws {NetlinkError} if the kernel refuses. */
  execute(request: Request): void {
    this.batch([request]);
  }

  /**
   * Like {@linkcode execute}, on another thread: for the few requests for which the kernel waits,
   * such as the deletion of a link. Do not use the connection until it is done.
   *
   * @throws {NetlinkError} if the kernel refuses.
   */
  async executeAside(request: Request): Promise<void> {
    const first = (this.#sequence + 1) >>> 0;
    await this.#socket.sendAside(this.#encode(request, request.flags | NLM_F_ACK));
    const [outcome] = this.#collect([request], { first, ackAt: 0 });
    if (outcome?.error !== undefined) throw outcome.error;
  }

  /**
   * Sends several requests at once, in order.
   *
   * Not a transaction: the kernel carries out each one, whatever became of those before.
   *
   * @throws {NetlinkError} the first failure, after all were tried.
   */
  batch(requests: readonly Request[]): void {
    for (const { error } of this.exchange(requests)) {
      if (error !== undefined) throw error;
    }
  }

  /**
   * The reply to a request for one object.
   *
   * @throws {NetlinkError} if the kernel refuses or has no such object.
   */
  query(request: Request): Message {
    const [outcome] = this.exchange([request]);
    if (outcome?.error !== undefined) throw outcome.error;
    const reply = outcome?.replies[0];
    if (reply === undefined) throw failure(request, { errno: ERRNO.ENOENT });
    return reply;
  }

  /** Sends several requests at once and tells what became of each. */
  exchange(requests: readonly Request[]): Outcome[] {
    const outcomes: Outcome[] = [];
    for (let at = 0; at < requests.length; at += MAX_BATCH) {
      outcomes.push(...this.#exchangeSome(requests.slice(at, at + MAX_BATCH)));
    }
    return outcomes;
  }

  /**
   * Sends a netfilter transaction in one datagram: a begin message, the changes, an end
   * message.
   *
   * Kernels before 6.10 acknowledge neither frame, so the last change is asked to. An error
   * for the begin message means that the transaction as a whole was refused.
   *
   * @throws {NetlinkError} the first failure; then nothing was changed.
   */
  transact(requests: readonly Request[]): void {
    const outcomes = this.#exchangeSome(requests, { ackAt: requests.length - 2, framed: true });
    const [begin, ...changes] = outcomes;
    for (const outcome of begin === undefined ? changes : [...changes, begin]) {
      if (outcome.error !== undefined) throw outcome.error;
    }
  }

  /**
   * All objects a dump request lists, as `decode` reads them; it skips one by returning
   * `undefined`.
   *
   * The kernel marks a list that changed while it was read. Such a list is read again.
   *
   * @throws {DumpInterruptedError} if it changed each time.
   */
  dump<T>(request: Request, decode: (message: Message) => T | undefined): T[] {
    for (let attempt = 1; attempt <= MAX_DUMP_ATTEMPTS; attempt++) {
      const items = this.#dumpOnce(request, decode);
      if (items !== undefined) return items;
    }
    throw new DumpInterruptedError(request.operation, MAX_DUMP_ATTEMPTS);
  }

  [Symbol.dispose](): void {
    this.#socket[Symbol.dispose]();
  }

  /**
   * Only the last request asks for an acknowledgement: the kernel works in order and reports
   * failures unasked (`netlink_rcv_skb` in `net/netlink/af_netlink.c`), so silence before
   * the last acknowledgement is success, and a batch costs one send and one receive.
   */
  #exchangeSome(
    requests: readonly Request[],
    { ackAt, framed }: { ackAt: number; framed?: boolean } = { ackAt: requests.length - 1 },
  ): Outcome[] {
    const first = (this.#sequence + 1) >>> 0;
    this.#socket.send(concat(requests.map((request, index) => {
      return this.#encode(request, request.flags | (index === ackAt ? NLM_F_ACK : 0));
    })));
    return this.#collect(requests, { first, ackAt, framed: framed === true });
  }

  /** Reads what the kernel answered to `requests`, the first of which has the number `first`. */
  #collect(
    requests: readonly Request[],
    { first, ackAt, framed = false }: { first: number; ackAt: number; framed?: boolean },
  ): Outcome[] {
    const outcomes = requests.map((request) => new Outcome(request));
    for (let finished = false; !finished;) {
      for (const message of this.#receive()) {
        const index = (message.sequence - first) >>> 0;
        const outcome = outcomes[index];
        // An answer to an earlier request that was given up.
        if (outcome === undefined) continue;
        if (message.type !== NLMSG_ERROR) {
          outcome.replies.push(message.copy());
          continue;
        }
        const acknowledgement = decodeAcknowledgement(message);
        if (acknowledgement.errno !== 0) outcome.fail(acknowledgement);
        if (index === ackAt || (framed && index === 0)) finished = true;
      }
    }
    return outcomes;
  }

  /** One pass over a list; `undefined` if it changed meanwhile. */
  #dumpOnce<T>(request: Request, decode: (message: Message) => T | undefined): T[] | undefined {
    this.#socket.send(this.#encode(request, request.flags | NLM_F_DUMP));
    const sequence = this.#sequence;
    const items: T[] = [];
    let interrupted = false;
    let decodeError: unknown;
    for (;;) {
      for (const message of this.#receive()) {
        if (message.sequence !== sequence) continue;
        if ((message.flags & NLM_F_DUMP_INTR) !== 0) interrupted = true;
        if (message.type === NLMSG_ERROR || message.type === NLMSG_DONE) {
          const end = message.type === NLMSG_DONE
            ? decodeDone(message)
            : decodeAcknowledgement(message);
          if (end.errno !== 0) throw failure(request, end);
          if (decodeError !== undefined) throw decodeError;
          return interrupted ? undefined : items;
        }
        // After a failure the rest is still read: it would answer the next request.
        if (interrupted || decodeError !== undefined) continue;
        try {
          const item = decode(message);
          if (item !== undefined) items.push(item);
        } catch (error) {
          decodeError = error;
        }
      }
    }
  }

  #receive(): Message[] {
    return decodeMessages(this.#socket.receive()).filter((message) =>
      message.portId === this.#socket.portId && message.type !== NLMSG_NOOP
    );
  }

  #encode(request: Request, flags: number): Uint8Array<ArrayBuffer> {
    const sequence = this.#sequence = (this.#sequence + 1) >>> 0;
    return encodeMessage(
      { type: request.type, flags: flags | NLM_F_REQUEST, sequence, portId: this.#socket.portId },
      request.payload,
    );
  }
}

/** Opens a connection; `using` closes it. */
export function openConnection(options: SocketOptions = {}): NetlinkConnection {
  return new NetlinkConnection(openSocket(options));
}

function failure(request: Request, acknowledgement: Acknowledgement): NetlinkError {
  const { operation } = request;
  const subject = request.subject?.();
  return new NetlinkError({
    operation,
    ...(subject === undefined ? {} : { subject }),
    ...acknowledgement,
  });
}

function concat(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
