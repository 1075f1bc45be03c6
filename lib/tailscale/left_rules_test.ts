import { assertEquals } from "@std/assert";
import { parsePrefix } from "../ip/mod.ts";
import { addRule } from "../netlink/mod.ts";
import { FakeKernel } from "../netlink/testing.ts";
import { removeLeftRules } from "./left_rules.ts";

Deno.test("rules of tailscaled go, those of others stay", () => {
  const kernel = new FakeKernel();
  using node = kernel.connect();
  const bypass = { mark: 0x80000, markMask: 0xff0000 };
  for (const family of [4, 6] as const) {
    node.execute(addRule({ family, priority: 5210, table: 254, ...bypass }));
    node.execute(addRule({ family, priority: 5270, table: 52 }));
  }
  const destination = parsePrefix("10.244.3.0/24");
  node.execute(addRule({ family: 4, priority: 5105, table: 254, destination }));
  node.execute(addRule({ family: 4, priority: 5230, table: 100, mark: 1, markMask: 1 }));
  removeLeftRules(node);
  assertEquals(kernel.show().length, 2, kernel.show().join("\n"));
  removeLeftRules(node);
  assertEquals(kernel.show().map((line) => /\d+/.exec(line)?.[0]), ["5105", "5230"]);
});
