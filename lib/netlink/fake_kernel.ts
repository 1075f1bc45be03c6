/**
 * A small kernel: links, addresses, routes and rules in several namespaces, changed by real
 * netlink messages and printed as lines a reader of `ip` knows.
 *
 * Addresses, routes and rules are kept as they came: what a request carries is what a list
 * answers.
 */

import { decodeAddress } from "./address.ts";
import { NetlinkConnection } from "./connection.ts";
import { NLM_F_ACK, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE } from "./constants/netlink.ts";
import * as rt from "./constants/rtnetlink.ts";
import type { ErrnoName } from "./errno.ts";
import { formatAddress, formatRoute, formatRule } from "./fake_format.ts";
import { FakeFailure, FakeLinks } from "./fake_links.ts";
import type { Message } from "./message.ts";
import { Netns } from "./netns.ts";
import { decodeRoute } from "./route_decode.ts";
import { decodeRule } from "./rule.ts";
import { acknowledge, fakeSocket, multipart, reply } from "./fake_socket.ts";

/** An address, route or rule: its identity, its line, and the bytes it came as. */
interface Entry {
  readonly key: string;
  readonly line: string;
  /** Link it goes away with. */
  readonly index: number | undefined;
  readonly payload: Uint8Array;
}

/** Objects of one kind: addresses, routes or rules. */
interface Table {
  readonly newType: number;
  readonly missing: ErrnoName;
  read(message: Message, linkName: (index: number) => string): Omit<Entry, "payload">;
}

const TABLES: readonly Table[] = [
  {
    newType: rt.RTM_NEWADDR,
    missing: "EADDRNOTAVAIL",
    read(message, linkName) {
      const address = decodeAddress(message);
      return {
        key: `${address.index} ${address.address}`,
        line: formatAddress(address, linkName(address.index)),
        index: address.index,
      };
    },
  },
  {
    newType: rt.RTM_NEWROUTE,
    missing: "ESRCH",
    read(message, linkName) {
      const route = decodeRoute(message);
      if (route === undefined) throw new FakeFailure("EAFNOSUPPORT");
      return {
        key: `${route.table} ${route.destination} ${route.priority}`,
        line: formatRoute(route, linkName),
        index: route.index,
      };
    },
  },
  {
    newType: rt.RTM_NEWRULE,
    missing: "ENOENT",
    read(message) {
      const rule = decodeRule(message);
      if (rule === undefined) throw new FakeFailure("EAFNOSUPPORT");
      return { key: `${rule.family} ${rule.priority}`, line: formatRule(rule), index: undefined };
    },
  },
];

interface Namespace {
  readonly name: string;
  readonly entries: Map<Table, Entry[]>;
}

/** Makes a request fail instead of being carried out. */
export type FailWith = (request: Message, namespace: string) => ErrnoName | undefined;

/**
 * The fake.
 *
 * @example
 * ```ts
 * import { FakeKernel } from "./fake_kernel.ts";
 * import { addAddress } from "./address.ts";
 * import { createVeth } from "./link_create.ts";
 * import { getLink, setLinkUp } from "./link.ts";
 * import { parsePrefix } from "../ip/mod.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const kernel = new FakeKernel();
 * using host = kernel.connect();
 * using pod = kernel.connect("pod");
 * host.execute(createVeth({ name: "veth0", peer: { name: "eth0", netns: kernel.netns("pod") } }));
 * const { index } = getLink(pod, { name: "eth0" });
 * pod.batch([
 *   setLinkUp({ index }),
 *   addAddress({ index, address: parsePrefix("10.0.0.2/24"), noPrefixRoute: true }),
 * ]);
 * assertEquals(kernel.show("pod"), [
 *   "link eth0 veth mtu 1500 up peer veth0@host",
 *   "addr 10.0.0.2/24 dev eth0 noprefixroute",
 * ]);
 * ```
 */
export class FakeKernel {
  /** Set it to make requests fail. */
  failWith: FailWith = () => undefined;
  readonly #links = new FakeLinks();
  readonly #namespaces = new Map<string, Namespace>();

  /** A connection from inside `namespace`. */
  connect(namespace = "host"): NetlinkConnection {
    return new NetlinkConnection(fakeSocket((request) => this.respond(request, namespace)));
  }

  /** What a socket inside `namespace` gets in answer to `request`. */
  respond(request: Message, namespace: string): Uint8Array<ArrayBuffer>[] {
    return this.#respond(request, this.#namespace(namespace));
  }

  /** A namespace to hand to operations. */
  netns(name: string): Netns {
    this.#namespace(name);
    return new FakeNetns(this.#links.descriptorOf(name), name);
  }

  /** What `namespace` holds, one line each: links, addresses, routes, rules. */
  show(namespace = "host"): string[] {
    const here = this.#namespace(namespace);
    const lines = TABLES.flatMap((table) => here.entries.get(table) ?? []).map(({ line }) => line);
    return [...this.#links.show(namespace), ...lines];
  }

  #namespace(name: string): Namespace {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const namespace = { name, entries: new Map<Table, Entry[]>() };
    this.#namespaces.set(name, namespace);
    return namespace;
  }

  #respond(request: Message, here: Namespace): Uint8Array<ArrayBuffer>[] {
    const error = this.failWith(request, here.name);
    if (error !== undefined) return [acknowledge(request, { error })];
    try {
      const replies = this.#carryOut(request, here);
      return (request.flags & NLM_F_ACK) === 0 ? replies : [...replies, acknowledge(request)];
    } catch (failure) {
      if (!(failure instanceof FakeFailure)) throw failure;
      return [acknowledge(request, { error: failure.code })];
    }
  }

  #carryOut(request: Message, here: Namespace): Uint8Array<ArrayBuffer>[] {
    const dump = (request.flags & NLM_F_DUMP) === NLM_F_DUMP;
    switch (request.type) {
      case rt.RTM_GETLINK:
        if (dump) return multipart(request, this.#links.list(here.name).map(asLink));
        return [reply(request, asLink(this.#links.get(request, here.name)))];
      case rt.RTM_NEWLINK:
        this.#links.create(request, here.name);
        return [];
      case rt.RTM_DELLINK:
        for (const { namespace, index } of this.#links.delete(request, here.name)) {
          this.#forget(this.#namespace(namespace), index);
        }
        return [];
    }
    // The types of one kind of object are NEW, DEL, GET, in this order.
    const table = TABLES.find(({ newType }) =>
      request.type >= newType && request.type < newType + 3
    );
    if (table === undefined) throw new FakeFailure("EOPNOTSUPP");
    if (request.type === table.newType + 2) {
      // A lookup of one route would need routing.
      if (!dump) throw new FakeFailure("EOPNOTSUPP");
      return this.#listTable(request, table, here);
    }
    this.#changeTable(request, table, here);
    return [];
  }

  #listTable(request: Message, table: Table, here: Namespace): Uint8Array<ArrayBuffer>[] {
    const entries = here.entries.get(table) ?? [];
    return multipart(request, entries.map(({ payload }) => ({ type: table.newType, payload })));
  }

  #changeTable(request: Message, table: Table, here: Namespace): void {
    const entry = {
      ...table.read(request, (index) => this.#links.nameOf(index, here.name)),
      payload: payloadOf(request),
    };
    const entries = here.entries.get(table) ?? [];
    const others = entries.filter(({ key }) => key !== entry.key);
    const known = others.length < entries.length;
    if (request.type !== table.newType) {
      if (!known) throw new FakeFailure(table.missing);
      here.entries.set(table, others);
      return;
    }
    const exclusive = (request.flags & NLM_F_EXCL) !== 0 && (request.flags & NLM_F_REPLACE) === 0;
    if (known && exclusive) throw new FakeFailure("EEXIST");
    here.entries.set(table, [...others, entry]);
  }

  /** Addresses and routes go with their link. */
  #forget(namespace: Namespace, index: number): void {
    for (const [table, entries] of namespace.entries) {
      namespace.entries.set(table, entries.filter((entry) => entry.index !== index));
    }
  }
}

/** Has a number that is no descriptor, so there is nothing to close. */
class FakeNetns extends Netns {
  override get id(): string {
    return `fake:${this.fd}`;
  }

  override [Symbol.dispose](): void {}
}

function asLink(payload: Uint8Array): { type: number; payload: Uint8Array } {
  return { type: rt.RTM_NEWLINK, payload };
}

function payloadOf(message: Message): Uint8Array {
  const { view, start, payloadLength } = message;
  return new Uint8Array(view.buffer, view.byteOffset + start, payloadLength).slice();
}
