import { assertEquals, assertStringIncludes } from "@std/assert";
import { createLink } from "../netlink/mod.ts";
import { FakeKernel } from "../netlink/testing.ts";
import type { ProcessFacts } from "../sys/process_table.ts";
import { findOtherTailscaled, otherTailscaledError } from "./other_tailscaled.ts";

const OTHER: ProcessFacts = {
  pid: 70,
  parent: 1,
  session: 70,
  startTicks: "1",
  name: "tailscaled",
  executable: "/usr/sbin/tailscaled",
  args: ["tailscaled"],
  uid: 0,
  netnsId: "4:1",
};

/** What is found in a namespace with these processes and links. */
async function found(
  world: { processes?: ProcessFacts[]; links?: string[]; kind?: string; answers?: boolean },
): Promise<string | undefined> {
  const { processes = [], links = [], kind = "tun", answers = false } = world;
  using connection = new FakeKernel().connect();
  for (const name of links) connection.execute(createLink(kind, { name }));
  return await findOtherTailscaled({
    netnsId: "4:1",
    connection,
    table: {
      find: () => undefined,
      list: () => processes,
      signal: () => false,
      ownUid: () => 0,
    },
    ownPid: 71,
    ownTun: "headcni01",
    answersAtUsualSocket: () => Promise.resolve(answers),
  });
}

Deno.test("a process in the namespace, its interface, or its socket gives it away", async () => {
  const process = "process 70 (/usr/sbin/tailscaled) runs in it";
  assertEquals(await found({ processes: [OTHER] }), process);
  assertEquals(await found({ processes: [{ ...OTHER, name: "tailscaled-1.10" }] }), process);
  assertEquals(await found({ links: ["tailscale0"] }), "the interface tailscale0 is in it");
  assertEquals(await found({ answers: true }), "somebody answers at its usual socket");
});

Deno.test("what is ours, elsewhere, or something else does not count", async () => {
  assertEquals(await found({}), undefined);
  assertEquals(await found({ processes: [{ ...OTHER, pid: 71 }] }), undefined);
  const vi = { ...OTHER, name: "vi", executable: "/usr/bin/vi" };
  assertEquals(await found({ processes: [vi] }), undefined);
  assertEquals(await found({ links: ["headcni01", "tun0"] }), undefined);
  assertEquals(await found({ links: ["tailscale0"], kind: "veth" }), undefined);
  // A socket is found from every namespace: one that runs elsewhere explains it.
  const elsewhere = { ...OTHER, netnsId: "4:2" };
  assertEquals(await found({ processes: [elsewhere], answers: true }), undefined);
});

Deno.test("the refusal names what was found and the ways out", () => {
  const error = otherTailscaledError("the interface tailscale0 is in it");
  assertStringIncludes(error.message, "(the interface tailscale0 is in it)");
  assertStringIncludes(error.remedy ?? "", "tailscale.mode: host");
  assertStringIncludes(error.remedy ?? "", "tailscale.isolation: netns");
});
