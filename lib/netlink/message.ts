/** `struct nlmsghdr` of `linux/netlink.h`: datagrams to messages and back. */

import { nlmsgAlign } from "./align.ts";
import { AttributeDecoder } from "./attribute_decoder.ts";
import {
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLMSG_HDRLEN,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
} from "./constants/netlink.ts";
import { MalformedMessageError } from "./errors.ts";

const LITTLE_ENDIAN = true;

/** One message inside a received datagram. Valid until the buffer is received into again. */
export class Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly portId: number;
  /** The datagram; this message's payload is bytes `start` to `end` of it. */
  readonly view: DataView;
  readonly start: number;
  readonly end: number;

  /** Reads the header at `at`; the caller has checked that the message lies inside `view`. */
  constructor(view: DataView, at: number) {
    this.view = view;
    this.type = view.getUint16(at + 4, LITTLE_ENDIAN);
    this.flags = view.getUint16(at + 6, LITTLE_ENDIAN);
    this.sequence = view.getUint32(at + 8, LITTLE_ENDIAN);
    this.portId = view.getUint32(at + 12, LITTLE_ENDIAN);
    this.start = at + NLMSG_HDRLEN;
    this.end = at + view.getUint32(at, LITTLE_ENDIAN);
  }

  get payloadLength(): number {
    return this.end - this.start;
  }

  /** Fails unless the payload holds a fixed header of `size` bytes. */
  requireHeader(size: number): void {
    if (this.payloadLength < size) {
      throw new MalformedMessageError(
        `message of type ${this.type} has ${this.payloadLength} bytes, its header needs ${size}`,
      );
    }
  }

  /** The attributes behind a fixed header of `headerSize` bytes. */
  attributes(headerSize: number): AttributeDecoder {
    this.requireHeader(headerSize);
    return new AttributeDecoder(
      this.view,
      Math.min(this.start + nlmsgAlign(headerSize), this.end),
      this.end,
    );
  }

  /** A message that outlives the receive buffer. */
  copy(): Message {
    const from = this.view.byteOffset + this.start - NLMSG_HDRLEN;
    const bytes = this.view.buffer.slice(from, this.view.byteOffset + this.end);
    return new Message(new DataView(bytes), 0);
  }
}

/**
 * The messages of one datagram.
 *
 * @throws {MalformedMessageError} if a length does not fit the datagram.
 */
export function decodeMessages(datagram: Uint8Array): Message[] {
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  const messages: Message[] = [];
  let at = 0;
  while (at < view.byteLength) {
    const left = view.byteLength - at;
    if (left < NLMSG_HDRLEN) {
      throw new MalformedMessageError(`${left} bytes are left where a header has ${NLMSG_HDRLEN}`);
    }
    const length = view.getUint32(at, LITTLE_ENDIAN);
    if (length < NLMSG_HDRLEN || length > left) {
      throw new MalformedMessageError(`message claims ${length} bytes where ${left} are left`);
    }
    messages.push(new Message(view, at));
    at += nlmsgAlign(length);
  }
  return messages;
}

/** The header fields of a message to send. */
export interface MessageHeader {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly portId?: number;
}

/** Header and payload as one message, padded to the next boundary. */
export function encodeMessage(header: MessageHeader, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = NLMSG_HDRLEN + payload.length;
  const bytes = new Uint8Array(nlmsgAlign(length));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, length, LITTLE_ENDIAN);
  view.setUint16(4, header.type, LITTLE_ENDIAN);
  view.setUint16(6, header.flags, LITTLE_ENDIAN);
  view.setUint32(8, header.sequence, LITTLE_ENDIAN);
  view.setUint32(12, header.portId ?? 0, LITTLE_ENDIAN);
  bytes.set(payload, NLMSG_HDRLEN);
  return bytes;
}

/** What the kernel says about a request. */
export interface Acknowledgement {
  /** Zero for success, else a positive error number. */
  readonly errno: number;
  readonly kernelMessage?: string;
  readonly offset?: number;
}

/**
 * Reads `NLMSG_ERROR` (`struct nlmsgerr`), which also carries success, with the extended
 * acknowledgement behind it.
 */
export function decodeAcknowledgement(message: Message): Acknowledgement {
  message.requireHeader(4 + NLMSG_HDRLEN);
  const errno = -message.view.getInt32(message.start, LITTLE_ENDIAN);
  if ((message.flags & NLM_F_ACK_TLVS) === 0) return { errno };
  // The request follows the number: whole, unless the flag says only its header does.
  const requestLength = message.view.getUint32(message.start + 4, LITTLE_ENDIAN);
  const capped = (message.flags & NLM_F_CAPPED) !== 0;
  return { errno, ...decodeExtendedAck(message, 4 + (capped ? NLMSG_HDRLEN : requestLength)) };
}

/** Reads the error number at the end of a dump: `NLMSG_DONE` carries one since Linux 2.6. */
export function decodeDone(message: Message): Acknowledgement {
  if (message.payloadLength < 4) return { errno: 0 };
  const errno = -message.view.getInt32(message.start, LITTLE_ENDIAN);
  if ((message.flags & NLM_F_ACK_TLVS) === 0) return { errno };
  return { errno, ...decodeExtendedAck(message, 4) };
}

function decodeExtendedAck(message: Message, skip: number): Omit<Acknowledgement, "errno"> {
  const result: { kernelMessage?: string; offset?: number } = {};
  const attributes = message.attributes(skip);
  while (attributes.next()) {
    switch (attributes.type) {
      case NLMSGERR_ATTR_MSG:
        result.kernelMessage = attributes.string();
        break;
      case NLMSGERR_ATTR_OFFS:
        result.offset = attributes.u32();
        break;
    }
  }
  return result;
}
