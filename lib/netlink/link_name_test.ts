import { assertEquals, assertThrows } from "@std/assert";
import { InvalidRequestError } from "./errors.ts";
import { checkLinkAlias, checkLinkName } from "./link_name.ts";

Deno.test("checkLinkName takes what the kernel takes", () => {
  for (const name of ["eth0", "a", "abcdefghijklmno", "ö@.-_", "eth0.1", "..."]) {
    assertEquals(checkLinkName("test", name), name);
  }
});

Deno.test("checkLinkName says what is wrong, counting bytes", () => {
  const cases = {
    "": "the name is empty",
    "abcdefghijklmnop": "the name has 16 bytes, the limit is 15",
    "ööööööööö": "the name has 18 bytes, the limit is 15",
    "..": "the name is reserved",
    "a/b": "the name contains",
    "a:b": "the name contains",
    "a b": "the name contains",
    "a\n": "the name contains",
    "à": "the name contains",
  };
  for (const [name, reason] of Object.entries(cases)) {
    assertThrows(
      () => checkLinkName("create veth", name),
      InvalidRequestError,
      `Cannot create veth ${JSON.stringify(name)}: ${reason}`,
    );
  }
});

Deno.test("checkLinkAlias allows 255 bytes", () => {
  assertEquals(checkLinkAlias("test", "x".repeat(255)).length, 255);
  assertThrows(
    () => checkLinkAlias("set alias", "x".repeat(256)),
    InvalidRequestError,
    "256 bytes",
  );
});
