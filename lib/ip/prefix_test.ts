import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { seededRandom } from "../sys/testing.ts";
import { IpAddress, parseAddress } from "./address.ts";
import { AddressError } from "./errors.ts";
import { parsePrefix, Prefix } from "./prefix.ts";

Deno.test("parsePrefix() keeps host bits and derives the network", () => {
  const table: [text: string, network: string, last: string, size: bigint][] = [
    ["10.1.2.3/24", "10.1.2.0", "10.1.2.255", 256n],
    ["10.1.2.3/32", "10.1.2.3", "10.1.2.3", 1n],
    ["10.1.2.3/31", "10.1.2.2", "10.1.2.3", 2n],
    ["10.1.2.3/0", "0.0.0.0", "255.255.255.255", 1n << 32n],
    ["100.127.0.1/10", "100.64.0.0", "100.127.255.255", 1n << 22n],
    ["fd00::5/64", "fd00::", "fd00::ffff:ffff:ffff:ffff", 1n << 64n],
    ["::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1n << 128n],
    ["fd00::5/128", "fd00::5", "fd00::5", 1n],
  ];
  for (const [text, network, last, size] of table) {
    const prefix = parsePrefix(text);
    assertEquals(prefix.toString(), text);
    assertEquals(prefix.network.toString(), network);
    assertEquals(prefix.last.toString(), last);
    assertEquals(prefix.size, size);
    assertEquals(prefix.isHost, size === 1n);
    assertEquals(prefix.isNetwork, text.startsWith(`${network}/`));
    assertEquals(prefix.masked().toString(), `${network}/${prefix.length}`);
  }
});

Deno.test("parsePrefix() says what is wrong with bad text", () => {
  const table: [text: string, reason: string][] = [
    ["", "has no length, such as /24"],
    ["10.0.0.0", "has no length, such as /24"],
    ["/24", "the address is empty"],
    ["10.0.0/24", "the address has 3 parts instead of 4"],
    ["10.0.0.0/", 'length "" is not a decimal number from 0 to 32'],
    ["10.0.0.0/33", 'length "33" is not a decimal number from 0 to 32'],
    ["10.0.0.0/-1", 'length "-1" is not a decimal number from 0 to 32'],
    ["10.0.0.0/08", 'length "08" is not a decimal number from 0 to 32'],
    ["10.0.0.0/+8", 'length "+8" is not a decimal number from 0 to 32'],
    ["10.0.0.0/8.0", 'length "8.0" is not a decimal number from 0 to 32'],
    ["10.0.0.0/1e1", 'length "1e1" is not a decimal number from 0 to 32'],
    ["10.0.0.0/0x8", 'length "0x8" is not a decimal number from 0 to 32'],
    ["10.0.0.0/8 ", 'length "8 " is not a decimal number from 0 to 32'],
    ["10.0.0.0/8\n", 'length "8\\n" is not a decimal number from 0 to 32'],
    ["10.0.0.0/8/8", 'length "8/8" is not a decimal number from 0 to 32'],
    ["10.0.0.0/255.0.0.0", 'length "255.0.0.0" is not a decimal number from 0 to 32'],
    ["fd00::/129", 'length "129" is not a decimal number from 0 to 128'],
    ["::ffff:10.0.0.0/104", "the address is an IPv4-mapped IPv6 address; write 10.0.0.0"],
  ];
  for (const [text, reason] of table) {
    const error = assertThrows(() => parsePrefix(text), AddressError);
    assertEquals(error.reason, reason, text);
    assertEquals(error.operation, "parse prefix");
    assertEquals(error.subject, JSON.stringify(text));
  }
});

Deno.test("parsePrefix() with requireNetwork proposes the network that was meant", () => {
  assertThrows(
    () => parsePrefix("10.0.0.7/24", { requireNetwork: true }),
    AddressError,
    'Cannot parse prefix "10.0.0.7/24": host bits set; did you mean 10.0.0.0/24?',
  );
  assertThrows(
    () => parsePrefix("fd00::1/64", { requireNetwork: true }),
    AddressError,
    "did you mean fd00::/64?",
  );
  assertEquals(`${parsePrefix("10.0.0.0/24", { requireNetwork: true })}`, "10.0.0.0/24");
  assertEquals(`${parsePrefix("10.0.0.7/32", { requireNetwork: true })}`, "10.0.0.7/32");
});

Deno.test("Prefix.contains() agrees with comparing every address", () => {
  const random = seededRandom(2);
  for (let i = 0; i < 500; i++) {
    const family = random.pick([4, 6]);
    const bits = family === 4 ? 32 : 128;
    const base = new IpAddress(family, random.bigint(bits) & ~0xffn);
    const outer = new Prefix(base.offset(BigInt(random.integer(256))), bits - random.integer(7));
    const inner = new Prefix(base.offset(BigInt(random.integer(256))), bits - random.integer(7));
    const inOuter = (address: IpAddress) =>
      address.value >= outer.network.value && address.value <= outer.last.value;
    const members = addressesOf(inner);
    assertEquals(outer.contains(inner), members.every(inOuter), `${outer} ${inner}`);
    assertEquals(outer.overlaps(inner), members.some(inOuter), `${outer} ${inner}`);
    assertEquals(inner.overlaps(outer), outer.overlaps(inner));
    for (const member of members) assertEquals(outer.contains(member), inOuter(member));
  }
});

function addressesOf(prefix: Prefix): IpAddress[] {
  return Array.from({ length: Number(prefix.size) }, (_, i) => prefix.network.offset(BigInt(i)));
}

Deno.test("Prefix never contains or overlaps the other family", () => {
  const everyIpv4 = parsePrefix("0.0.0.0/0");
  const everyIpv6 = parsePrefix("::/0");
  assertFalse(everyIpv4.contains(parseAddress("::1")));
  assertFalse(everyIpv6.contains(parseAddress("0.0.0.1")));
  assertFalse(everyIpv4.overlaps(everyIpv6));
  assertFalse(everyIpv4.equals(everyIpv6));
});

Deno.test("Prefix.equals() tells host bits apart", () => {
  const pod = parsePrefix("10.0.0.7/24");
  assert(pod.equals(parsePrefix("10.0.0.7/24")));
  assertFalse(pod.equals(parsePrefix("10.0.0.0/24")));
  assertFalse(pod.equals(parsePrefix("10.0.0.7/25")));
  assert(pod.masked().equals(parsePrefix("10.0.0.0/24")));
});

Deno.test("Prefix.compare() sorts by address, then from wide to narrow", () => {
  const sorted = ["fd00::/8", "10.0.0.0/16", "10.0.0.0/8", "9.0.0.0/32"]
    .map((text) => parsePrefix(text)).sort((a, b) => a.compare(b)).map(String);
  assertEquals(sorted, ["9.0.0.0/32", "10.0.0.0/8", "10.0.0.0/16", "fd00::/8"]);
});

Deno.test("Prefix.subnet() gives every subnet once, in order", () => {
  const base = parsePrefix("10.244.0.9/22");
  const subnets = [0n, 1n, 2n, 3n].map((index) => base.subnet(index, 24).toString());
  assertEquals(subnets, ["10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24", "10.244.3.0/24"]);
  assertEquals(base.subnetCount(24), 4n);
  assertEquals(base.subnetCount(22), 1n);
  assertEquals(`${base.subnet(0n, 22)}`, "10.244.0.0/22");
});

Deno.test("Prefix.subnet() reaches the ends of a prefix no list could hold", () => {
  const base = parsePrefix("fd00::/8");
  const last = base.subnetCount(64) - 1n;
  assertEquals(last, (1n << 56n) - 1n);
  assertEquals(`${base.subnet(last, 64)}`, "fdff:ffff:ffff:ffff::/64");
  assertEquals(`${parsePrefix("::/0").subnet(1n, 1)}`, "8000::/1");
});

Deno.test("Prefix.subnet() refuses what does not exist", () => {
  const base = parsePrefix("10.244.0.0/16");
  assertThrows(
    () => base.subnet(256n, 24),
    AddressError,
    "Cannot divide prefix 10.244.0.0/16: subnet 256 of 256 of length 24 does not exist",
  );
  assertThrows(() => base.subnet(-1n, 24), AddressError, "subnet -1");
  assertThrows(() => base.subnetCount(15), AddressError, "a subnet's length is 16 to 32, not 15");
  assertThrows(() => base.subnetCount(33), AddressError, "not 33");
  assertThrows(() => base.subnetCount(24.5), AddressError, "not 24.5");
});

Deno.test("Prefix refuses a length outside its family", () => {
  const address = parseAddress("10.0.0.0");
  for (const length of [-1, 33, 1.5, NaN]) {
    assertThrows(() => new Prefix(address, length), AddressError, "prefix is 0 to 32");
  }
});

Deno.test("Prefix is text in JSON and templates", () => {
  assertEquals(JSON.stringify({ dst: parsePrefix("fd00:0::/8") }), '{"dst":"fd00::/8"}');
});
