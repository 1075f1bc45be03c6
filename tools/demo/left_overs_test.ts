import { assertEquals } from "@std/assert";
import { leftOvers } from "./left_overs.ts";

Deno.test("leftOvers() names what is new, and not what was there or has gone", () => {
  const before = [{ what: "interfaces", items: ["lo", "eth0"] }, { what: "rules", items: [] }];
  const after = [{ what: "interfaces", items: ["lo", "hcni1"] }, { what: "rules", items: ["r"] }];
  assertEquals(leftOvers(before, after), ["interfaces: hcni1", "rules: r"]);
  assertEquals(leftOvers(before, before), []);
});
