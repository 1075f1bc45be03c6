/** What a golden case is, and the shapes of messages. */

import type { Request } from "../../../lib/netlink/mod.ts";

/** Where fixed headers end and which attributes hold others. */
export interface Shape {
  /** Bytes before the attributes. */
  readonly header: number;
  /** Attribute type → shape of its payload. */
  readonly nested?: Readonly<Record<number, Shape>>;
  /** Why the fixed header differs, if it does. */
  readonly headerDiffers?: string;
  /** Attributes that are text, which ip sends without its final NUL and we with it. */
  readonly text?: readonly number[];
  /** Attribute type → why only one side has it, or why its value differs. */
  readonly differs?: Readonly<Record<number, string>>;
}

/** One comparison. */
export interface GoldenCase {
  /** Name of the fixture. */
  readonly name: string;
  /** Commands that prepare the namespace. */
  readonly setup?: readonly string[];
  /** The command whose message is compared. */
  readonly command: string;
  /** `nlmsg_type` of that message; commands also send others. */
  readonly type: number;
  readonly shape: Shape;
  readonly request: () => Request;
  /** The request has all its flags, because it was recorded on its way to the kernel. */
  readonly recorded?: boolean;
  /** Why `nlmsg_flags` differ, if they do. */
  readonly flagsDiffer?: string;
}

/** Two ends of a veth: in a new namespace the kernel makes the peer number 2, then number 3. */
export const VETH = "ip link add left type veth peer name right";
/** Index of one end. */
export const LEFT = 3;
/** Index of the other end. */
export const RIGHT = 2;
/** Both ends up. */
export const UP = [VETH, "ip link set left up", "ip link set right up"];
/** Addresses on one end. */
export const ADDRESSES = [
  ...UP,
  "ip addr add 10.1.0.2/24 dev left",
  "ip addr add fd00::2/64 dev left nodad",
];

/** Links: attributes of the kind, and of a veth's peer. */
export const LINK = {
  header: 16,
  nested: {
    18: { header: 0, text: [1], nested: { 2: { header: 0, nested: { 1: { header: 16 } } } } },
  },
} satisfies Shape;
/** `struct ifaddrmsg`. */
export const ADDRESS: Shape = { header: 8 };
/** `struct rtmsg`, with metrics. */
export const ROUTE: Shape = { header: 12, nested: { 8: { header: 0 } } };
/** `struct fib_rule_hdr`. */
export const RULE: Shape = { header: 12 };
/** `struct ndmsg`. */
export const NEIGHBOUR: Shape = { header: 12 };
