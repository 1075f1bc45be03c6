/**
 * Our requests, byte for byte against those of the real tools.
 *
 * Compared are the message type, the flags, the fixed header and every attribute; not the
 * sequence number, the order of attributes, and what a case lists as different with its reason.
 */

import { assert, assertEquals } from "@std/assert";
import { nlaAlign } from "../../lib/netlink/align.ts";
import { NLA_TYPE_MASK, NLM_F_ACK, NLM_F_REQUEST } from "../../lib/netlink/constants/netlink.ts";
import type { Shape } from "./golden/case.ts";
import { GOLDEN_CASES } from "./golden/cases.ts";

const FIXTURES = new URL("../fixtures/netlink/", import.meta.url);
const HEADER_BYTES = 16;

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

function readFixture(name: string): Uint8Array {
  const text = Deno.readTextFileSync(new URL(`${name}.txt`, FIXTURES));
  const lines = text.split("\n").filter((line) => !line.startsWith("#"));
  return Uint8Array.from(lines.join(" ").trim().split(/\s+/), (byte) => parseInt(byte, 16));
}

/** A payload as lines `path: bytes`, sorted. The nested flag is not significant. */
function flatten(payload: Uint8Array, shape: Shape, path = ""): string[] {
  const header = shape.headerDiffers === undefined ? hex(payload.subarray(0, shape.header)) : "";
  const lines = [`${path}header: ${header}`];
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  for (let at = shape.header; at + 4 <= payload.length;) {
    const length = view.getUint16(at, true);
    const type = view.getUint16(at + 2, true) & NLA_TYPE_MASK;
    assert(length >= 4 && at + length <= payload.length, `bad attribute at ${path}${at}`);
    const end = at + length -
      (shape.text?.includes(type) && payload[at + length - 1] === 0 ? 1 : 0);
    const value = payload.subarray(at + 4, end);
    const inner = shape.nested?.[type];
    const known = shape.differs?.[type] !== undefined;
    if (!known && inner === undefined) lines.push(`${path}${type}: ${hex(value)}`);
    if (!known && inner !== undefined) lines.push(...flatten(value, inner, `${path}${type}/`));
    at += nlaAlign(length);
  }
  return lines.sort();
}

for (const golden of GOLDEN_CASES) {
  Deno.test(`our message equals that of: ${golden.command}`, () => {
    const captured = readFixture(golden.name);
    const view = new DataView(captured.buffer);
    const request = golden.request();
    assertEquals(request.type, view.getUint16(4, true));
    if (golden.flagsDiffer === undefined) {
      const added = golden.recorded ? 0 : NLM_F_REQUEST | NLM_F_ACK;
      assertEquals(request.flags | added, view.getUint16(6, true), "flags");
    }
    assertEquals(
      flatten(request.payload, golden.shape),
      flatten(captured.subarray(HEADER_BYTES), golden.shape),
    );
  });
}

Deno.test("every fixture has a case", () => {
  const files = [...Deno.readDirSync(FIXTURES)].map(({ name }) => name).sort();
  assertEquals(files, GOLDEN_CASES.map(({ name }) => `${name}.txt`).sort());
});
