/**
 * The decoders against 240,000 damaged datagrams.
 *
 * Real answers of the kernel are changed at random, with a fixed seed. Whatever comes of it, a
 * decoder gives a value or a MalformedMessageError: no other exception (a read out of range would
 * be one), no endless loop, and nothing that depends on bytes behind the message.
 */

import { assertEquals, assertLess } from "@std/assert";
import { decodeAddress } from "../../lib/netlink/address.ts";
import {
  IPCTNL_MSG_CT_NEW,
  NFNL_SUBSYS_CTNETLINK,
  NFNL_SUBSYS_NFTABLES,
  NFT_MSG_NEWSETELEM,
} from "../../lib/netlink/constants/nfnetlink.ts";
import { NLMSG_DONE, NLMSG_ERROR } from "../../lib/netlink/constants/netlink.ts";
import * as rt from "../../lib/netlink/constants/rtnetlink.ts";
import { decodeFlow } from "../../lib/netlink/conntrack.ts";
import { MalformedMessageError } from "../../lib/netlink/errors.ts";
import { decodeFilter } from "../../lib/netlink/filter.ts";
import { decodeLink } from "../../lib/netlink/link_decode.ts";
import {
  decodeAcknowledgement,
  decodeDone,
  decodeMessages,
  Message,
} from "../../lib/netlink/message.ts";
import { decodeEvent } from "../../lib/netlink/monitor.ts";
import { decodeNeighbour } from "../../lib/netlink/neighbour.ts";
import { decodeSetElements } from "../../lib/netlink/nftables.ts";
import { decodeQdisc } from "../../lib/netlink/qdisc.ts";
import { decodeRoute } from "../../lib/netlink/route_decode.ts";
import { decodeRule } from "../../lib/netlink/rule.ts";

const FIXTURES = new URL("../fixtures/netlink_replies/", import.meta.url);
const MUTATIONS = 240_000;
/** Every so many datagrams the bytes behind each message are changed as well. */
const TRAILER_EVERY = 8;
const SEED = 0x9e3779b9;

const DECODERS = new Map<number, (message: Message) => unknown>([
  [NLMSG_ERROR, decodeAcknowledgement],
  [NLMSG_DONE, decodeDone],
  [rt.RTM_NEWLINK, decodeLink],
  [rt.RTM_NEWADDR, decodeAddress],
  [rt.RTM_NEWROUTE, decodeRoute],
  [rt.RTM_NEWRULE, decodeRule],
  [rt.RTM_NEWNEIGH, decodeNeighbour],
  [rt.RTM_NEWQDISC, decodeQdisc],
  [rt.RTM_NEWTFILTER, decodeFilter],
  [NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW, decodeFlow],
  [NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWSETELEM, decodeSetElements],
]);

function readFixtures(): Uint8Array[] {
  return [...Deno.readDirSync(FIXTURES)].map(({ name }) => name).sort().map((name) => {
    const lines = Deno.readTextFileSync(new URL(name, FIXTURES)).split("\n");
    const text = lines.filter((line) => !line.startsWith("#")).join(" ").trim();
    return Uint8Array.from(text.split(/\s+/), (byte) => parseInt(byte, 16));
  });
}

/** xorshift32: the same numbers on every machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Random = ReturnType<typeof randomNumbers>;

const INTERESTING = [0, 1, 2, 3, 4, 5, 15, 16, 17, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff];

/** Damages `bytes` in place; gives the part that is left. */
function mutate(bytes: Uint8Array<ArrayBuffer>, random: Random): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer);
  const at = random(bytes.length - 3);
  // Lengths and types are 16 or 32 bits wide and aligned.
  const aligned = at & ~3;
  switch (random(7)) {
    case 0:
      bytes[at] = random(256);
      return bytes;
    case 1:
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
      return bytes;
    case 2:
      view.setUint16(at & ~1, INTERESTING[random(INTERESTING.length)] ?? 0, true);
      return bytes;
    case 3: {
      const length = view.getUint16(aligned, true);
      view.setUint16(aligned, length + random(17) - 8, true);
      return bytes;
    }
    case 4:
      return bytes.subarray(0, at);
    case 5:
      bytes.copyWithin(aligned, random(bytes.length) & ~3);
      return bytes;
    default:
      bytes.fill(random(256), aligned, aligned + random(64));
      return bytes;
  }
}

/** What decoding gives, as text; exceptions but the expected one pass through. */
function outcome(decode: () => unknown): string {
  try {
    return Deno.inspect(decode(), { depth: 6 });
  } catch (error) {
    if (error instanceof MalformedMessageError) return "malformed";
    throw error;
  }
}

function attempt(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    if (error instanceof MalformedMessageError) return false;
    throw error;
  }
}

/** `message` with `filler` behind it instead of what the datagram has there. */
function withTrailer(message: Message, filler: number): Message {
  const from = message.view.byteOffset + message.start - 16;
  const bytes = new Uint8Array(message.view.buffer, from, message.payloadLength + 16);
  const copy = new Uint8Array(bytes.length + 64).fill(filler);
  copy.set(bytes);
  return new Message(new DataView(copy.buffer), 0);
}

Deno.test("no damaged datagram does harm", () => {
  const fixtures = readFixtures();
  const random = randomNumbers(SEED);
  const count = { whole: 0, refused: 0 };
  const start = performance.now();
  for (let n = 0; n < MUTATIONS; n++) {
    let bytes = (fixtures[n % fixtures.length] ?? new Uint8Array()).slice();
    for (let times = 1 + random(4); times > 0 && bytes.length >= 16; times--) {
      bytes = mutate(bytes, random).slice();
    }
    let messages: Message[] = [];
    if (!attempt(() => messages = decodeMessages(bytes))) count.refused++;
    for (const message of messages) {
      const decode = DECODERS.get(message.type) ?? decodeEvent;
      if (attempt(() => decode(message)) && attempt(() => decodeEvent(message))) count.whole++;
      else count.refused++;
      if (n % TRAILER_EVERY !== 0 || message !== messages[0]) continue;
      const [zeros, ones] = [withTrailer(message, 0), withTrailer(message, 0xff)];
      assertEquals(outcome(() => decode(zeros)), outcome(() => decode(ones)));
    }
  }
  // The test tests something: plenty of both, and in bounded time.
  assertLess(50_000, count.whole);
  assertLess(50_000, count.refused);
  assertLess(performance.now() - start, 60_000);
});

Deno.test("undamaged answers of the kernel decode", () => {
  for (const fixture of readFixtures()) {
    for (const message of decodeMessages(fixture)) {
      const decode = DECODERS.get(message.type);
      assertEquals(attempt(() => decode?.(message)), true);
    }
  }
});
