/** What the kernel refuses, in words a person can act on: operation, subject, cause. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import {
  addAddress,
  addRoute,
  addRule,
  createVeth,
  deleteAddress,
  deleteLink,
  deleteRoute,
  deleteRule,
  getLink,
  InvalidRequestError,
  NetlinkError,
  renameLink,
  type Request,
  setLinkMtu,
} from "../../lib/netlink/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { runScript, Sandbox } from "./fixture.ts";

const needs = requires(root);

function refusal(sandbox: Sandbox, request: Request): NetlinkError {
  return assertThrows(() => sandbox.connection.execute(request), NetlinkError);
}

Deno.test({
  ...needs,
  name: "a refusal names operation, subject and cause",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.execute(createVeth({ name: "a", peer: { name: "b" } }));
    const { index } = getLink(connection, { name: "a" });
    const address = parsePrefix("10.1.0.2/24");
    const address6 = parsePrefix("fd00::2/64");
    connection.batch([addAddress({ index, address }), addAddress({ index, address: address6 })]);
    const destination = parsePrefix("10.9.0.0/16");
    const cases: [Request, string][] = [
      [deleteLink({ name: "eth9" }), "Cannot delete link eth9: No such device (ENODEV)"],
      [deleteLink({ index: 4242 }), "Cannot delete link index 4242: No such device (ENODEV)"],
      [
        createVeth({ name: "a", peer: { name: "c" } }),
        "Cannot create veth a peer c: File exists (EEXIST)",
      ],
      [renameLink({ index }, "b"), `Cannot rename link index ${index}: File exists (EEXIST)`],
      [
        addAddress({ index, address }),
        `Cannot add address 10.1.0.2/24 on link ${index}: ` +
        "ipv4: Address already assigned: File exists (EEXIST)",
      ],
      [
        addAddress({ index, address: address6 }),
        `Cannot add address fd00::2/64 on link ${index}: ` +
        "ipv6: address already assigned: File exists (EEXIST)",
      ],
      [
        addAddress({ index: 4242, address }),
        "Cannot add address 10.1.0.2/24 on link 4242: " +
        "ipv4: Device not found: No such device (ENODEV)",
      ],
      [
        deleteAddress({ index, address: parsePrefix("10.1.0.3/24") }),
        `Cannot delete address 10.1.0.3/24 on link ${index}: ` +
        "ipv4: Address not found: Cannot assign requested address (EADDRNOTAVAIL)",
      ],
      [
        addRoute({ destination, gateway: parseAddress("192.0.2.1") }),
        "Cannot add route 10.9.0.0/16 via 192.0.2.1: " +
        "Nexthop has invalid gateway: Network is unreachable (ENETUNREACH)",
      ],
      [
        deleteRoute({ destination }),
        "Cannot delete route 10.9.0.0/16: No such process (ESRCH)",
      ],
      [
        deleteRule({ family: 4, priority: 5105 }),
        "Cannot delete rule 5105: No such file or directory (ENOENT)",
      ],
      [
        setLinkMtu({ index }, 20),
        `Cannot set link MTU index ${index}: mtu less than device minimum: Invalid argument (EINVAL)`,
      ],
    ];
    for (const [request, message] of cases) {
      // Kernels word the extended part differently over time; the rest is ours.
      const error = refusal(sandbox, request);
      const parts = message.split(": ");
      const start = `${parts[0]}: `;
      assertEquals(error.message.slice(0, start.length), start);
      assertEquals(error.message.split(": ").at(-1), parts.at(-1));
      if (parts.length > 2) assertEquals(typeof error.kernelMessage, "string", message);
    }
    connection.execute(addRule({ family: 4, priority: 5105, table: 100 }));
    const twice = refusal(sandbox, addRule({ family: 4, priority: 5105, table: 100 }));
    assertEquals(twice.code, "EEXIST");
  },
});

Deno.test({
  ...needs,
  name: "the kernel's words and the offset of the bad attribute are kept",
  fn() {
    using sandbox = new Sandbox();
    const request = addRoute({
      destination: parsePrefix("10.9.0.0/16"),
      gateway: parseAddress("192.0.2.1"),
    });
    const error = refusal(sandbox, request);
    assertEquals(error.kernelMessage, "Nexthop has invalid gateway");
    assertEquals([error.operation, error.subject], ["add route", "10.9.0.0/16 via 192.0.2.1"]);
    // An attribute of the wrong size: RTA_OIF with one byte.
    const payload = new Uint8Array([...request.payload, 5, 0, 4, 0, 1, 0, 0, 0]);
    const offset = refusal(sandbox, { ...request, payload }).offset;
    assertEquals(offset, 16 + request.payload.length);
  },
});

Deno.test({
  ...needs,
  name: "a name of 16 bytes is refused before the kernel sees it",
  fn() {
    for (const name of ["abcdefghijklmnop", "größeeeeeeeeee12", "a/b", "a b", "", ".."]) {
      const error = assertThrows(
        () => createVeth({ name, peer: { name: "b" } }),
        InvalidRequestError,
        `Cannot create veth ${JSON.stringify(name)}: the name`,
      );
      assertEquals(error.operation, "create veth");
    }
    const sixteen = assertThrows(() => renameLink({ index: 2 }, "abcdefghijklmnop"));
    assertEquals(
      (sixteen as Error).message,
      'Cannot rename link "abcdefghijklmnop": the name has 16 bytes, the limit is 15',
    );
    using sandbox = new Sandbox();
    sandbox.connection.execute(createVeth({ name: "abcdefghijklmno", peer: { name: "ö@.-_" } }));
    assertEquals(getLink(sandbox.connection, { name: "ö@.-_" }).kind, "veth");
  },
});

Deno.test({
  ...requires(root, tool("setpriv", "util-linux")),
  name: "without privileges each refusal says what is missing",
  fn() {
    using sandbox = new Sandbox();
    const { stdout, stderr } = runScript(
      `
      import {
        createVeth, inNetns, listLinks, openConnection, openNetns, writeSysctl,
      } from "lib/netlink/mod.ts";
      import { createNetns } from "lib/netlink/named_netns.ts";
      using connection = openConnection();
      console.log(listLinks(connection).some(({ name }) => name === "lo"));
      using netns = openNetns("/run/netns/${sandbox.name}");
      for (const attempt of [
        () => connection.execute(createVeth({ name: "hcnt-a", peer: { name: "hcnt-b" } })),
        () => inNetns(netns, () => 1),
        () => createNetns("hcnt-denied"),
      ]) {
        try {
          attempt();
          console.log("done");
        } catch (error) {
          console.log(\`\${error.name}: \${error.message} | \${error.remedy}\`);
        }
      }
    `,
      ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"],
    );
    const lines = stdout.trim().split("\n");
    assertEquals(lines[0], "true", stderr);
    assertMatch(
      lines[1] ?? "",
      /^NetlinkError: Cannot create veth hcnt-a peer hcnt-b: Operation not permitted \(EPERM\) \| Run as root/,
    );
    assertMatch(
      lines[2] ?? "",
      /^NetnsError: Cannot enter network namespace \/run\/netns\/hcnt-\w+: Operation not permitted \(EPERM\) \| Run as root/,
    );
    assertMatch(
      lines[3] ?? "",
      /^NetlinkError: Cannot mount \/run\/netns: .*\(EPERM\) \| Run as root/,
    );
  },
});
