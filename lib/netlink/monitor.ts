/**
 * Changes in the kernel as they happen: links, addresses, routes, rules.
 *
 * The kernel drops messages when the reader is too slow, and says so with ENOBUFS. What was
 * lost is unknown, so the reader gets a `resync` event and must list everything again. Why a
 * thread waits and the event loop does not: `poll.ts`.
 */

import { type Address, decodeAddress } from "./address.ts";
import {
  RTM_DELADDR,
  RTM_DELLINK,
  RTM_DELROUTE,
  RTM_DELRULE,
  RTM_NEWADDR,
  RTM_NEWLINK,
  RTM_NEWROUTE,
  RTM_NEWRULE,
  RTMGRP_IPV4_IFADDR,
  RTMGRP_IPV4_ROUTE,
  RTMGRP_IPV4_RULE,
  RTMGRP_IPV6_IFADDR,
  RTMGRP_IPV6_ROUTE,
  RTMGRP_IPV6_RULE,
  RTMGRP_LINK,
} from "./constants/rtnetlink.ts";
import { isErrno, MalformedMessageError, NetlinkError } from "./errors.ts";
import { decodeLink, type Link } from "./link_decode.ts";
import { decodeMessages, type Message } from "./message.ts";
import type { Netns } from "./netns.ts";
import { ReadinessPoll } from "./poll.ts";
import { decodeRoute, type Route } from "./route_decode.ts";
import { decodeRule, type Rule } from "./rule.ts";
import { openSocket } from "./socket.ts";

/** What may be watched. */
export type MonitorSubject = "link" | "address" | "route" | "rule";

/** Something appeared or changed (`new`), went away (`delete`), or was missed (`resync`). */
export type MonitorEvent =
  | { readonly subject: "link"; readonly change: MonitorChange; readonly link: Link }
  | { readonly subject: "address"; readonly change: MonitorChange; readonly address: Address }
  | { readonly subject: "route"; readonly change: MonitorChange; readonly route: Route }
  | { readonly subject: "rule"; readonly change: MonitorChange; readonly rule: Rule }
  | { readonly subject: "resync"; readonly reason: string };

/** `new` also means changed. */
export type MonitorChange = "new" | "delete";

/** What to watch, and where. */
export interface MonitorOptions {
  /** @default {["link", "address", "route", "rule"]} */
  readonly subjects?: readonly MonitorSubject[];
  /** The own namespace if absent. */
  readonly netns?: Netns;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** Datagrams and a way to wait for them; the real one is a socket. */
export interface MonitorSource extends Disposable {
  /** The next datagram, without waiting. */
  receive(): Uint8Array;
  /** Resolves when there may be a datagram, or after `wake`. */
  readable(): Promise<void>;
  wake(): void;
}

/** A receive buffer of the usual size holds a few hundred events; past this all are new. */
const MAX_DRAIN = 10_000;

const GROUPS: Readonly<Record<MonitorSubject, number>> = {
  link: RTMGRP_LINK,
  address: RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
  route: RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
  rule: RTMGRP_IPV4_RULE | RTMGRP_IPV6_RULE,
};

/**
 * Watches the kernel until the signal says stop. ≈ `ip monitor link address route rule`
 *
 * The subscription is in place when this returns: list afterwards, and nothing falls between.
 */
export function openMonitor(options: MonitorOptions = {}): Monitor {
  return new Monitor(openSource(options), options.signal);
}

/** A subscription. `using` ends it; so does leaving the loop and disposing. */
export class Monitor implements AsyncIterable<MonitorEvent>, Disposable {
  readonly #source: MonitorSource;
  readonly #signal: AbortSignal | undefined;
  readonly #stop = () => this.#source.wake();
  #closed = false;

  constructor(source: MonitorSource, signal?: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#stop, { once: true });
  }

  /** Events in the order of the kernel, until the signal or disposing ends them. */
  async *[Symbol.asyncIterator](): AsyncGenerator<MonitorEvent, void> {
    while (!this.#closed && !this.#signal?.aborted) {
      const events = receiveEvents(this.#source);
      if (events === undefined) await this.#source.readable();
      else yield* events;
    }
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#signal?.removeEventListener("abort", this.#stop);
    this.#source[Symbol.dispose]();
  }
}

/** The events of the next datagram; `undefined` when none is waiting. */
function receiveEvents(source: MonitorSource): MonitorEvent[] | undefined {
  try {
    const events: MonitorEvent[] = [];
    for (const message of decodeMessages(source.receive())) {
      const event = decodeEvent(message);
      if (event !== undefined) events.push(event);
    }
    return events;
  } catch (error) {
    if (error instanceof MalformedMessageError) return [resync(error.message)];
    if (!(error instanceof NetlinkError)) throw error;
    switch (error.code) {
      case "EAGAIN":
        return undefined;
      case "ENOBUFS":
        drain(source);
        return [resync("the kernel dropped events: the reader was too slow")];
      case "EMSGSIZE":
        return [resync("an event was too large to receive")];
      default:
        throw error;
    }
  }
}

/**
 * Throws away what is queued.
 *
 * After an overflow the kernel drops events silently until the queue has been empty once
 * (`NETLINK_S_CONGESTED` in `net/netlink/af_netlink.c`). Whoever lists before that misses what
 * happens between.
 */
function drain(source: MonitorSource): void {
  for (let count = 0; count < MAX_DRAIN; count++) {
    try {
      source.receive();
    } catch (error) {
      if (isErrno(error, "EAGAIN")) return;
      if (!isErrno(error, "ENOBUFS", "EMSGSIZE")) throw error;
    }
  }
}

function resync(reason: string): MonitorEvent {
  return { subject: "resync", reason };
}

/** The event a message tells of; `undefined` for what nobody asked for. */
export function decodeEvent(message: Message): MonitorEvent | undefined {
  switch (message.type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return { subject: "link", change: changeOf(message, RTM_NEWLINK), link: decodeLink(message) };
    case RTM_NEWADDR:
    case RTM_DELADDR: {
      const change = changeOf(message, RTM_NEWADDR);
      return { subject: "address", change, address: decodeAddress(message) };
    }
    case RTM_NEWROUTE:
    case RTM_DELROUTE: {
      const route = decodeRoute(message);
      if (route === undefined) return undefined;
      return { subject: "route", change: changeOf(message, RTM_NEWROUTE), route };
    }
    case RTM_NEWRULE:
    case RTM_DELRULE: {
      const rule = decodeRule(message);
      if (rule === undefined) return undefined;
      return { subject: "rule", change: changeOf(message, RTM_NEWRULE), rule };
    }
    default:
      return undefined;
  }
}

function changeOf(message: Message, newType: number): MonitorChange {
  return message.type === newType ? "new" : "delete";
}

function openSource(options: MonitorOptions): MonitorSource {
  const { subjects = ["link", "address", "route", "rule"], netns } = options;
  const groups = subjects.reduce((bits, subject) => bits | GROUPS[subject], 0);
  const socket = openSocket({ groups, ...(netns === undefined ? {} : { netns }) });
  const poll = new ReadinessPoll(socket.fd);
  return {
    receive: () => socket.receive(),
    readable: () => poll.readable(),
    wake: () => poll.wake(),
    [Symbol.dispose]() {
      poll[Symbol.dispose]();
      socket[Symbol.dispose]();
    },
  };
}
