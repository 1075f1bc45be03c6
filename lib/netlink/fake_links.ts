/** The links of a {@linkcode FakeKernel}. */

import type { AttributeDecoder } from "./attribute_decoder.ts";
import {
  IFF_UP,
  IFLA_ADDRESS,
  IFLA_IFALIAS,
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_LINK,
  IFLA_LINKINFO,
  IFLA_MASTER,
  IFLA_MTU,
  IFLA_NET_NS_FD,
  VETH_INFO_PEER,
} from "./constants/if_link.ts";
import { NLM_F_CREATE } from "./constants/netlink.ts";
import type { ErrnoName } from "./errno.ts";
import { formatMac, parseMac } from "./mac.ts";
import type { Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";

/** The fake kernel refuses a request. */
export class FakeFailure extends Error {
  override readonly name = "FakeFailure";
  readonly code: ErrnoName;

  constructor(code: ErrnoName) {
    super(code);
    this.code = code;
  }
}

/** A link of the fake kernel. */
interface FakeLink {
  namespace: string;
  readonly index: number;
  name: string;
  readonly kind: string;
  mtu: number;
  mac: string;
  up: boolean;
  master: number;
  alias: string;
  peer: FakeLink | undefined;
}

/** What a link request asks for; absent means unchanged. */
interface LinkRequest {
  name?: string;
  kind?: string;
  mtu?: number;
  mac?: string;
  master?: number;
  alias?: string;
  descriptor?: number;
  peer?: LinkRequest;
}

/** `sizeof(struct ifinfomsg)`. */
const HEADER_BYTES = 16;
/** Far above real descriptors. */
const FIRST_DESCRIPTOR = 1_000_000;

/** All links of all namespaces; indexes are unique across them. */
export class FakeLinks {
  #links: FakeLink[] = [];
  #lastIndex = 1;
  readonly #descriptors: string[] = [];

  /** The number that stands for namespace `name` in `IFLA_NET_NS_FD`. */
  descriptorOf(name: string): number {
    const known = this.#descriptors.indexOf(name);
    return FIRST_DESCRIPTOR + (known < 0 ? this.#descriptors.push(name) - 1 : known);
  }

  show(namespace: string): string[] {
    return this.#in(namespace).map((link) => {
      const master = this.#links.find(({ index }) => index === link.master);
      return [
        `link ${link.name} ${link.kind} mtu ${link.mtu}`,
        link.up ? "up" : "down",
        ...(master === undefined ? [] : [`master ${master.name}`]),
        ...(link.peer === undefined ? [] : [`peer ${link.peer.name}@${link.peer.namespace}`]),
        ...(link.alias === "" ? [] : [`alias ${link.alias}`]),
      ].join(" ");
    });
  }

  nameOf(index: number, namespace: string): string {
    const link = this.#in(namespace).find((link) => link.index === index);
    if (link === undefined) throw new FakeFailure("ENODEV");
    return link.name;
  }

  list(namespace: string): Uint8Array[] {
    return this.#in(namespace).map(encodeLink);
  }

  get(message: Message, namespace: string): Uint8Array {
    return encodeLink(this.#find(message, namespace));
  }

  create(message: Message, namespace: string): void {
    const request = readRequest(message.attributes(HEADER_BYTES));
    if ((message.flags & NLM_F_CREATE) === 0) {
      this.#change(message, request, namespace);
      return;
    }
    const link = this.#build(request, request.kind ?? "", namespace);
    const peer = request.peer === undefined
      ? undefined
      : this.#build(request.peer, "veth", namespace);
    link.peer = peer;
    this.#links.push(link);
    if (peer === undefined) return;
    peer.peer = link;
    this.#links.push(peer);
  }

  /** Deletes a link and its peer; gives both. */
  delete(message: Message, namespace: string): FakeLink[] {
    const link = this.#find(message, namespace);
    const gone = link.peer === undefined ? [link] : [link, link.peer];
    this.#links = this.#links.filter((link) => !gone.includes(link));
    return gone;
  }

  #change(message: Message, request: LinkRequest, namespace: string): void {
    const link = this.#find(message, namespace);
    const { view, start } = message;
    const mask = view.getUint32(start + 12, true);
    if ((mask & IFF_UP) !== 0) link.up = (view.getUint32(start + 8, true) & IFF_UP) !== 0;
    const target = this.#target(request, link.namespace);
    const name = request.name ?? link.name;
    if (name !== link.name || target !== link.namespace) this.#requireFree(name, target);
    link.name = name;
    link.namespace = target;
    link.mtu = request.mtu ?? link.mtu;
    link.mac = request.mac ?? link.mac;
    link.master = request.master ?? link.master;
    link.alias = request.alias ?? link.alias;
  }

  #build(request: LinkRequest, kind: string, home: string): FakeLink {
    const namespace = this.#target(request, home);
    const index = ++this.#lastIndex;
    const name = request.name ?? `link${index}`;
    this.#requireFree(name, namespace);
    const mac = request.mac ?? `02:00:00:00:00:${index.toString(16).padStart(2, "0")}`;
    const { mtu = 1500, alias = "", master = 0 } = request;
    return { namespace, index, name, kind, mtu, mac, up: false, master, alias, peer: undefined };
  }

  #target(request: LinkRequest, home: string): string {
    if (request.descriptor === undefined) return home;
    const namespace = this.#descriptors[request.descriptor - FIRST_DESCRIPTOR];
    if (namespace === undefined) throw new FakeFailure("EINVAL");
    return namespace;
  }

  #requireFree(name: string, namespace: string): void {
    if (this.#in(namespace).some((link) => link.name === name)) throw new FakeFailure("EEXIST");
  }

  #in(namespace: string): FakeLink[] {
    return this.#links.filter((link) => link.namespace === namespace);
  }

  /** By index, or by name where that is zero. */
  #find(message: Message, namespace: string): FakeLink {
    const { name } = readRequest(message.attributes(HEADER_BYTES));
    const index = message.view.getInt32(message.start + 4, true);
    const link = this.#in(namespace).find((link) =>
      index === 0 ? link.name === name : link.index === index
    );
    if (link === undefined) throw new FakeFailure("ENODEV");
    return link;
  }
}

function readRequest(attributes: AttributeDecoder): LinkRequest {
  const request: LinkRequest = {};
  while (attributes.next()) {
    switch (attributes.type) {
      case IFLA_IFNAME:
        request.name = attributes.string();
        break;
      case IFLA_MTU:
        request.mtu = attributes.u32();
        break;
      case IFLA_ADDRESS:
        request.mac = formatMac(attributes.bytes());
        break;
      case IFLA_MASTER:
        request.master = attributes.u32();
        break;
      case IFLA_IFALIAS:
        request.alias = attributes.string();
        break;
      case IFLA_NET_NS_FD:
        request.descriptor = attributes.u32();
        break;
      case IFLA_LINKINFO:
        readLinkInfo(request, attributes.nested());
        break;
    }
  }
  return request;
}

function readLinkInfo(request: LinkRequest, info: AttributeDecoder): void {
  while (info.next()) {
    if (info.type === IFLA_INFO_KIND) request.kind = info.string();
    if (info.type !== IFLA_INFO_DATA || request.kind !== "veth") continue;
    const data = info.nested();
    while (data.next()) {
      if (data.type === VETH_INFO_PEER) request.peer = readRequest(data.nested(HEADER_BYTES));
    }
  }
}

function encodeLink(link: FakeLink): Uint8Array {
  const encoder = new PayloadEncoder().putU32(0).putU32(link.index)
    .putU32(link.up ? IFF_UP : 0).putU32(0)
    .string(IFLA_IFNAME, link.name)
    .u32(IFLA_MTU, link.mtu)
    .bytes(IFLA_ADDRESS, parseMac(link.mac));
  if (link.master !== 0) encoder.u32(IFLA_MASTER, link.master);
  if (link.alias !== "") encoder.string(IFLA_IFALIAS, link.alias);
  if (link.peer !== undefined) encoder.u32(IFLA_LINK, link.peer.index);
  return encoder.nested(IFLA_LINKINFO, (info) => info.string(IFLA_INFO_KIND, link.kind)).finish();
}
