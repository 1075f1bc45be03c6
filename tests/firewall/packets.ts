/** Packets a well-behaved stack would not send. */

import type { IpAddress } from "../../lib/ip/mod.ts";

/** Numbers, byte strings and addresses, one after the other. */
function join(...parts: readonly (readonly number[] | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function be16(value: number): number[] {
  return [value >> 8 & 0xff, value & 0xff];
}

function be32(value: number): number[] {
  return [...be16(value >>> 16), ...be16(value & 0xffff)];
}

/** A MAC address of six bytes. */
export function macBytes(text: string): Uint8Array {
  return Uint8Array.from(text.split(":"), (part) => parseInt(part, 16));
}

/** An Ethernet frame with an IPv4 packet that holds a UDP datagram. */
export function udpFrame(spec: {
  readonly to: Uint8Array;
  readonly from: Uint8Array;
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly port: number;
}): Uint8Array<ArrayBuffer> {
  const data = [104, 105];
  const udp = [...be16(4444), ...be16(spec.port), ...be16(8 + data.length), 0, 0, ...data];
  const header = (checksum: number) =>
    join(
      [0x45, 0, ...be16(20 + udp.length), 0, 1, 0, 0, 64, 17, ...be16(checksum)],
      spec.source.toBytes(),
      spec.destination.toBytes(),
    );
  return join(spec.to, spec.from, [0x08, 0x00], header(internetChecksum(header(0))), udp);
}

/** An ARP request "who has `target`, tell `sender`", RFC 826. */
export function arpRequest(spec: {
  readonly from: Uint8Array;
  readonly sender: IpAddress;
  readonly target: IpAddress;
}): Uint8Array<ArrayBuffer> {
  const broadcast = new Array<number>(6).fill(0xff);
  return join(
    broadcast,
    spec.from,
    [0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1],
    spec.from,
    spec.sender.toBytes(),
    new Array<number>(6).fill(0),
    spec.target.toBytes(),
  );
}

/** A router advertisement without options, RFC 4861 section 4.2; the kernel adds the checksum. */
export const ROUTER_ADVERTISEMENT: Uint8Array<ArrayBuffer> = Uint8Array.of(
  ...[134, 0, 0, 0, 64, 0, 0x07, 0x08],
  ...[0, 0, 0, 0, 0, 0, 0, 0],
);

/** A neighbour solicitation for `target`, RFC 4861 section 4.3. */
export function neighbourSolicitation(target: IpAddress): Uint8Array<ArrayBuffer> {
  return join([135, 0, 0, 0, 0, 0, 0, 0], target.toBytes());
}

/** An ICMP redirect "use `gateway`", RFC 792, without the packet it would answer. */
export function icmpRedirect(gateway: IpAddress): Uint8Array<ArrayBuffer> {
  const packet = (checksum: number) =>
    join([5, 1, ...be16(checksum)], gateway.toBytes(), new Uint8Array(28));
  return packet(internetChecksum(packet(0)));
}

/** An SCTP packet with an INIT chunk, RFC 9260 section 3.3.2. */
export function sctpInit(sourcePort: number, destinationPort: number): Uint8Array<ArrayBuffer> {
  const init = [1, 0, 0, 20, ...be32(0x01020304), ...be32(65535), 0, 1, 0, 1, ...be32(1)];
  const ports = [...be16(sourcePort), ...be16(destinationPort), 0, 0, 0, 0];
  const sum = crc32c(join(ports, [0, 0, 0, 0], init));
  const little = [sum & 0xff, sum >>> 8 & 0xff, sum >>> 16 & 0xff, sum >>> 24];
  return join(ports, little, init);
}

function internetChecksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** Castagnoli's polynomial, reflected. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
