import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { type SeededRandom, seededRandom } from "../sys/testing.ts";
import { parseAddress } from "./address.ts";
import { AddressError } from "./errors.ts";
import { parsePrefix } from "./prefix.ts";
import { AddressRange, mergeRanges, parseRange, subtractRanges, usableRange } from "./range.ts";

Deno.test("parseRange() reads a range, one address, or a whole prefix", () => {
  const table: [text: string, printed: string, size: bigint][] = [
    ["10.0.0.5-10.0.0.9", "10.0.0.5-10.0.0.9", 5n],
    ["10.0.0.5", "10.0.0.5", 1n],
    ["10.0.0.5-10.0.0.5", "10.0.0.5", 1n],
    ["10.0.0.0/30", "10.0.0.0-10.0.0.3", 4n],
    ["fd00::-fd00::ff", "fd00::-fd00::ff", 256n],
    ["fd00::/64", "fd00::-fd00::ffff:ffff:ffff:ffff", 1n << 64n],
  ];
  for (const [text, printed, size] of table) {
    const range = parseRange(text);
    assertEquals(range.toString(), printed);
    assertEquals(range.size, size);
    assertEquals(parseRange(range.toString()), range);
  }
});

Deno.test("parseRange() says what is wrong with bad text", () => {
  const table: [text: string, reason: string][] = [
    ["", '"" is empty'],
    ["10.0.0.9-10.0.0.5", "the start is after the end"],
    ["10.0.0.9-fd00::1", "the ends are of different families"],
    ["10.0.0.1-9", '"9" is neither an IPv4 nor an IPv6 address'],
    ["10.0.0.1 - 10.0.0.9", '"10.0.0.1 " contains white space'],
    ["10.0.0.1-10.0.0.2-10.0.0.3", '"10.0.0.2-10.0.0.3" has 7 parts instead of 4'],
    ["10.0.0.1/24", "host bits set; did you mean 10.0.0.0/24?"],
    ["10.0.0.0/24-10.0.1.0/24", 'length "24-10.0.1.0/24" is not a decimal number from 0 to 32'],
  ];
  for (const [text, reason] of table) {
    const error = assertThrows(() => parseRange(text), AddressError);
    assertEquals(error.reason, reason, text);
    assertEquals(error.operation, "parse range");
    assertEquals(error.subject, JSON.stringify(text));
  }
});

Deno.test("usableRange() leaves out network, broadcast and anycast addresses", () => {
  const table: [prefix: string, usable: string][] = [
    ["10.0.0.0/24", "10.0.0.1-10.0.0.254"],
    ["10.0.0.77/24", "10.0.0.1-10.0.0.254"],
    ["10.0.0.4/30", "10.0.0.5-10.0.0.6"],
    ["10.0.0.4/31", "10.0.0.4-10.0.0.5"],
    ["10.0.0.4/32", "10.0.0.4"],
    ["0.0.0.0/0", "0.0.0.1-255.255.255.254"],
    ["fd00::/64", "fd00::1-fd00::ffff:ffff:ffff:ffff"],
    ["fd00::4/126", "fd00::5-fd00::7"],
    ["fd00::4/127", "fd00::4-fd00::5"],
    ["fd00::4/128", "fd00::4"],
  ];
  for (const [prefix, usable] of table) {
    assertEquals(usableRange(parsePrefix(prefix)).toString(), usable, prefix);
  }
});

Deno.test("AddressRange.at() and indexOf() are inverse", () => {
  const range = parseRange("10.0.0.250-10.0.1.5");
  for (let index = 0n; index < range.size; index++) {
    assertEquals(range.indexOf(range.at(index)), index);
  }
  assertEquals(`${range.at(6n)}`, "10.0.1.0");
  assertEquals(range.indexOf(parseAddress("10.0.0.249")), undefined);
  assertEquals(range.indexOf(parseAddress("10.0.1.6")), undefined);
  assertEquals(range.indexOf(parseAddress("::a00:fa")), undefined);
  assertThrows(
    () => range.at(12n),
    AddressError,
    "Cannot take address from range 10.0.0.250-10.0.1.5: index 12 is not below its size 12",
  );
  assertThrows(() => range.at(-1n), AddressError, "index -1");
});

Deno.test("AddressRange.overlaps() holds for shared ends and never across families", () => {
  const range = parseRange("10.0.0.5-10.0.0.9");
  assert(range.overlaps(parseRange("10.0.0.9-10.0.0.20")));
  assert(range.overlaps(parseRange("10.0.0.0-10.0.0.5")));
  assert(range.overlaps(parseRange("10.0.0.7")));
  assert(range.overlaps(parseRange("10.0.0.0/8")));
  assertFalse(range.overlaps(parseRange("10.0.0.10-10.0.0.20")));
  assertFalse(range.overlaps(parseRange("::/0")));
});

Deno.test("mergeRanges() joins what touches and keeps families apart", () => {
  const merged = mergeRanges([
    parseRange("fd00::1"),
    parseRange("10.0.0.4-10.0.0.6"),
    parseRange("10.0.0.1-10.0.0.3"),
    parseRange("10.0.0.8"),
    parseRange("10.0.0.2"),
    parseRange("255.255.255.255"),
    parseRange("::"),
  ]);
  assertEquals(merged.map(String), [
    "10.0.0.1-10.0.0.6",
    "10.0.0.8",
    "255.255.255.255",
    "::",
    "fd00::1",
  ]);
});

Deno.test("subtractRanges() cuts a /64 without enumerating it", () => {
  const free = subtractRanges(
    [usableRange(parsePrefix("fd00::/64"))],
    [parseRange("fd00::1"), parseRange("fd00::8000:0:0:0/65")],
  );
  assertEquals(free.map(String), ["fd00::2-fd00::7fff:ffff:ffff:ffff"]);
});

Deno.test("subtractRanges() stays inside the address space at both of its ends", () => {
  const everything = [parseRange("0.0.0.0/0")];
  assertEquals(subtractRanges(everything, everything), []);
  assertEquals(
    subtractRanges(everything, [parseRange("0.0.0.0"), parseRange("255.255.255.255")]).map(String),
    ["0.0.0.1-255.255.255.254"],
  );
});

const WIDTH = 32;

Deno.test("subtractRanges() and mergeRanges() agree with a bitmap", () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seededRandom(seed);
    const ranges = someRanges(random);
    const excluded = someRanges(random);
    const removed = bitmap(excluded);
    const wanted = bitmap(ranges).map((bit, i) => bit && !removed[i]);
    const result = subtractRanges(ranges, excluded);
    assertEquals(bitmap(result), wanted, `seed ${seed}`);
    assertEquals(mergeRanges(result), result, `seed ${seed}: result is merged and sorted`);
    assertEquals(bitmap(mergeRanges(ranges)), bitmap(ranges), `seed ${seed}`);
  }
});

function someRanges(random: SeededRandom): AddressRange[] {
  return Array.from({ length: random.integer(5) }, () => {
    const base = parseAddress(random.pick(["10.0.0.0", "fd00::"]));
    const start = random.integer(WIDTH);
    const end = start + random.integer(WIDTH - start);
    return new AddressRange(base.offset(BigInt(start)), base.offset(BigInt(end)));
  });
}

function bitmap(ranges: readonly AddressRange[]): boolean[] {
  return ["10.0.0.0", "fd00::"].flatMap((base) =>
    Array.from({ length: WIDTH }, (_, i) => {
      const address = parseAddress(base).offset(BigInt(i));
      return ranges.some((range) => range.contains(address));
    })
  );
}
