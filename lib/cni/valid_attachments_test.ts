import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError } from "../sys/config_error.ts";
import { isValid, readValidAttachments } from "./valid_attachments.ts";

const ENTRY = { containerID: "c1", ifname: "eth0" };

Deno.test("readValidAttachments() knows both spellings, and takes no list for an empty one", () => {
  const expected = [{ containerId: "c1", ifname: "eth0" }];
  assertEquals(readValidAttachments({ "cni.dev/valid-attachments": [ENTRY] }), expected);
  assertEquals(readValidAttachments({ "cni.dev/attachments": [ENTRY] }), expected);
  for (const config of [{}, { "cni.dev/valid-attachments": null }]) {
    assertEquals(readValidAttachments(config), []);
  }
});

/** What must not be taken for "nothing is in use": GC would delete living pods. */
const UNREADABLE: readonly [list: unknown, says: string][] = [
  [{ "0": ENTRY }, "instead of a list"],
  ["[]", "instead of a list"],
  [[ENTRY, "c2"], "[1] is"],
  [[{ ifname: "eth0" }], "[0].containerID is missing"],
  [[{ containerID: 7, ifname: "eth0" }], "[0].containerID is 7"],
  [[{ containerID: "c1" }], "[0].ifname is missing"],
];

for (const [list, says] of UNREADABLE) {
  Deno.test(`readValidAttachments() refuses ${JSON.stringify(list)}`, () => {
    const read = () => readValidAttachments({ "cni.dev/valid-attachments": list });
    assertThrows(read, ConfigError, says);
  });
}

Deno.test("isValid() compares container and interface", () => {
  const valid = [{ containerId: "c1", ifname: "eth0" }];
  assertEquals(isValid(valid, { containerId: "c1", ifname: "eth0" }), true);
  assertEquals(isValid(valid, { containerId: "c1", ifname: "eth1" }), false);
});
