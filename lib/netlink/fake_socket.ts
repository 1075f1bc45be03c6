/** A fake netlink socket: one function from a request to its replies. */

import {
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLM_F_DUMP_INTR,
  NLM_F_MULTI,
  NLMSG_DONE,
  NLMSG_ERROR,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
} from "./constants/netlink.ts";
import { ERRNO, type ErrnoName } from "./errno.ts";
import { NetlinkError } from "./errors.ts";
import { decodeMessages, encodeMessage, type Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { NetlinkSocket } from "./socket.ts";

/** Port id of every fake socket. */
export const FAKE_PORT_ID = 4711;

/** Datagrams the kernel would answer a message with. */
export type Respond = (request: Message) => readonly Uint8Array<ArrayBuffer>[];

/**
 * A socket whose other end is `respond`. Receiving more than was answered fails with EAGAIN,
 * as a real one does.
 *
 * @example
 * ```ts
 * import { acknowledge, fakeSocket } from "./fake_socket.ts";
 * import { NetlinkConnection } from "./connection.ts";
 * import { deleteLink } from "./link.ts";
 * import { NetlinkError } from "./errors.ts";
 * import { assertThrows } from "@std/assert";
 *
 * const socket = fakeSocket((request) => [acknowledge(request, { error: "ENODEV" })]);
 * using connection = new NetlinkConnection(socket);
 * assertThrows(
 *   () => connection.execute(deleteLink({ name: "eth9" })),
 *   NetlinkError,
 *   "Cannot delete link eth9: No such device (ENODEV)",
 * );
 * ```
 */
export function fakeSocket(respond: Respond): NetlinkSocket {
  const queue: Uint8Array<ArrayBuffer>[] = [];
  const send = (datagram: Uint8Array<ArrayBuffer>) => {
    for (const message of decodeMessages(datagram)) queue.push(...respond(message));
  };
  return {
    portId: FAKE_PORT_ID,
    send,
    sendAside: (datagram) => Promise.resolve(send(datagram)),
    receive() {
      const datagram = queue.shift();
      if (datagram !== undefined) return datagram;
      throw new NetlinkError({ operation: "receive netlink message", errno: ERRNO.EAGAIN });
    },
    [Symbol.dispose]() {},
  };
}

/** One message in answer to `request`. */
export function reply(
  request: Message,
  answer: { readonly type: number; readonly payload: Uint8Array; readonly flags?: number },
): Uint8Array<ArrayBuffer> {
  const { sequence, portId } = request;
  const header = { type: answer.type, flags: answer.flags ?? 0, sequence, portId };
  return encodeMessage(header, answer.payload);
}

/** What an acknowledgement says beside "done". */
export interface AcknowledgeOptions {
  readonly error?: ErrnoName;
  readonly kernelMessage?: string;
  readonly offset?: number;
}

/** `NLMSG_ERROR`: success, or an error with the kernel's words. */
export function acknowledge(
  request: Message,
  options: AcknowledgeOptions = {},
): Uint8Array<ArrayBuffer> {
  const { error, kernelMessage, offset } = options;
  const encoder = new PayloadEncoder().putU32(error === undefined ? 0 : -ERRNO[error])
    // Of the request, only its header: that is what NLM_F_CAPPED announces.
    .putU32(request.payloadLength + 16).putU16(request.type).putU16(request.flags)
    .putU32(request.sequence).putU32(request.portId);
  if (kernelMessage !== undefined) encoder.string(NLMSGERR_ATTR_MSG, kernelMessage);
  if (offset !== undefined) encoder.u32(NLMSGERR_ATTR_OFFS, offset);
  const extended = kernelMessage !== undefined || offset !== undefined;
  const flags = NLM_F_CAPPED | (extended ? NLM_F_ACK_TLVS : 0);
  return reply(request, { type: NLMSG_ERROR, payload: encoder.finish(), flags });
}

/** How the parts of a dump arrive. */
export interface MultipartOptions {
  /** Marks the list as changed while it was read. */
  readonly interrupted?: boolean;
  /** Error number in the final message. */
  readonly error?: ErrnoName;
}

/**
 * A dump in three datagrams: two halves and the end. A reader that stops after the first one
 * shows up at once.
 */
export function multipart(
  request: Message,
  items: readonly { readonly type: number; readonly payload: Uint8Array }[],
  options: MultipartOptions = {},
): Uint8Array<ArrayBuffer>[] {
  const flags = NLM_F_MULTI | (options.interrupted ? NLM_F_DUMP_INTR : 0);
  const messages = items.map((item) => reply(request, { ...item, flags }));
  const middle = Math.ceil(messages.length / 2);
  const code = options.error === undefined ? 0 : -ERRNO[options.error];
  const done = new PayloadEncoder().putU32(code).finish();
  return [
    joinDatagrams(messages.slice(0, middle)),
    joinDatagrams(messages.slice(middle)),
    reply(request, { type: NLMSG_DONE, payload: done, flags }),
  ].filter((datagram) => datagram.length > 0);
}

/** Several messages as one datagram. */
export function joinDatagrams(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
