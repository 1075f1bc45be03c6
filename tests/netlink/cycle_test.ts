/** A thousand pods come and go, and nothing of them stays. */

import { assertEquals, assertLess } from "@std/assert";
import {
  createVeth,
  deleteLink,
  getLink,
  listLinks,
  openConnection,
  openNetns,
} from "../../lib/netlink/mod.ts";
import { netnsPath } from "../../lib/netlink/named_netns.ts";
import { requires, root } from "../requires.ts";
import { Sandbox } from "./fixture.ts";

const CYCLES = 1000;

function openFiles(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

/** Network namespaces this process holds open or lives in. */
function namespaces(): string[] {
  const links = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/self/fd/${name}`);
    } catch {
      return ""; // the descriptor of this very listing
    }
  });
  return links.filter((link) => link.startsWith("net:") || link.startsWith("/run/netns/"));
}

Deno.test({
  ...requires(root),
  name: "1,000 cycles of a veth into a namespace leave no link, descriptor or namespace",
  fn() {
    using host = new Sandbox();
    using pod = new Sandbox();
    const home = Deno.readLinkSync("/proc/thread-self/ns/net");
    const cycle = () => {
      using netns = openNetns(netnsPath(pod.name));
      using near = openConnection({ netns: host.netns });
      using far = openConnection({ netns });
      near.execute(createVeth({ name: "hcni0", peer: { name: "eth0", netns } }));
      getLink(far, { name: "eth0" });
      near.execute(deleteLink({ name: "hcni0" }));
    };
    cycle();
    const before = { files: openFiles(), namespaces: namespaces(), memory: Deno.memoryUsage().rss };
    for (let n = 0; n < CYCLES; n++) cycle();
    assertEquals(openFiles(), before.files);
    assertEquals(namespaces(), before.namespaces);
    assertEquals(Deno.readLinkSync("/proc/thread-self/ns/net"), home);
    for (const { connection } of [host, pod]) {
      assertEquals(listLinks(connection, { kind: "veth" }), []);
    }
    assertLess(Deno.memoryUsage().rss - before.memory, 100 * 2 ** 20);
  },
});
