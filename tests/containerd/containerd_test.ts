/** Containers that Debian's containerd runs get their network from the compiled plugin. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { networkState, nodeState } from "../node/node_state.ts";
import { type Sandbox } from "../netlink/fixture.ts";
import { Outside } from "../node/outside.ts";
import { requires, root, tool } from "../requires.ts";
import { type RunningContainer, startContainerd } from "./containerd.ts";

const needs = requires(
  root,
  tool("containerd"),
  tool("ctr", "containerd"),
  tool("runc"),
  tool("busybox", "busybox-static"),
);

const SERVE = "httpd -p 80 -h /www";
// Not wget -T: it crashes in Debian 12's busybox-static.
const FETCH = "timeout 5 wget -q -O -";
const DOWNLOAD = "busybox timeout 20 busybox wget -q -O /dev/null";

/** Prints who calls; an IPv6 socket writes it as [::ffff:10.0.0.1]. */
const CALLER = "#!/bin/sh\necho; echo $REMOTE_ADDR | grep -oE '[0-9.]{7,}'\n";

const DATA_BYTES = 1_000_000;
const RATE_BITS = 8_000_000;
/** What containerd's CRI always sends: no limit, so the plugin chooses a small burst itself. */
const BURST_BITS = 2 ** 32 - 1;
const LEAST_BURST_BITS = 8 * 65_536;

const POD_CIDR = { pod_cidr: "10.77.0.0/24" };

Deno.test({
  ...needs,
  name: "a container of containerd has an address, a default route and its gateway",
  async fn() {
    await using containerd = await startContainerd();
    containerd.node.configure({ name: "headcni", plugin: POD_CIDR });
    const shown = await containerd.runToEnd(
      "first",
      "ip -4 addr show eth0; ip route; ip link show eth0; ping -c 1 -W 2 10.77.0.1",
    );
    assertStringIncludes(shown, "inet 10.77.0.2/24");
    assertStringIncludes(shown, "default via 10.77.0.1 dev eth0");
    assertStringIncludes(shown, "mtu 1280");
    assertStringIncludes(shown, "1 packets received");
  },
});

Deno.test({
  ...needs,
  name: "containers of containerd reach each other and the outside, and see each other's address",
  async fn() {
    await using containerd = await startContainerd();
    const { node } = containerd;
    using outside = new Outside(node);
    node.configure({ name: "headcni", plugin: POD_CIDR });
    node.serve("cgi-bin/caller", CALLER);
    using _server = outside.serve(node.files);
    await using one = await containerd.start("one", SERVE);
    await using two = await containerd.start("two", "true");
    const [first, second] = [await one.address(), await two.address()];
    assert(first !== second, `both have ${first}`);
    assertStringIncludes(await two.run(`ping -c 1 -W 2 ${first}`), "1 packets received");
    assertStringIncludes(await one.run(`ping -c 1 -W 2 ${second}`), "1 packets received");
    assertEquals(await two.run(`${FETCH} http://${first}/cgi-bin/caller`), `${second}\n`);
    // Masqueraded: the outside knows no way back to a pod.
    const seen = await two.run(`${FETCH} http://${outside.address}/cgi-bin/caller`);
    assertEquals(seen, `${outside.nodeAddress}\n`);
  },
});

Deno.test({
  ...needs,
  name: "a host port of a container leads to it, from outside and from the node",
  async fn() {
    await using containerd = await startContainerd();
    const { node } = containerd;
    using outside = new Outside(node);
    node.configure({
      name: "headcni",
      // ctr passes no capability arguments; written here they arrive in the same place.
      plugin: {
        ...POD_CIDR,
        runtimeConfig: {
          portMappings: [{ HostPort: 8080, ContainerPort: 80, Protocol: "tcp", HostIP: "" }],
        },
      },
    });
    node.serve("hello", "hello from the container\n");
    await using _container = await containerd.start("web", SERVE);
    const fetch = (from: Sandbox, host: string) =>
      from.run("busybox", ...FETCH.split(" "), `http://${host}:8080/hello`);
    const hello = "hello from the container\n";
    assertEquals(fetch(outside.sandbox, outside.nodeAddress), hello);
    assertEquals(fetch(node.sandbox, outside.nodeAddress), hello);
    assertEquals(fetch(node.sandbox, "127.0.0.1"), hello);
  },
});

Deno.test({
  ...needs,
  name: "a container with a bandwidth limit takes the time, one without does not",
  async fn() {
    await using containerd = await startContainerd();
    const { node } = containerd;
    using outside = new Outside(node);
    node.serve("data", "\0".repeat(DATA_BYTES));
    using _server = outside.serve(node.files);

    node.configure({ name: "headcni", plugin: POD_CIDR });
    await using free = await containerd.start("free", SERVE);
    const bandwidth = {
      IngressRate: RATE_BITS,
      IngressBurst: BURST_BITS,
      EgressRate: RATE_BITS,
      EgressBurst: BURST_BITS,
    };
    node.configure({ name: "headcni", plugin: { ...POD_CIDR, runtimeConfig: { bandwidth } } });
    await using limited = await containerd.start("limited", SERVE);

    const leastS = (DATA_BYTES * 8 - LEAST_BURST_BITS) / RATE_BITS * 0.9;
    const timesOf = async (container: RunningContainer) => {
      const address = await container.address();
      return {
        in: await secondsOf(() => container.run(`${DOWNLOAD} http://${outside.address}/data`)),
        out: await secondsOf(() => node.run("sh", "-c", `${DOWNLOAD} http://${address}/data`)),
      };
    };
    const [fast, slow] = [await timesOf(free), await timesOf(limited)];
    for (const way of ["in", "out"] as const) {
      const message = `${way}: ${slow[way]} s limited, ${fast[way]} s free, ${leastS} s expected`;
      // No fixed bound for the free one: a busy machine is slow, but not slower for it.
      assert(slow[way] >= leastS && fast[way] < slow[way], message);
    }
  },
});

Deno.test({
  ...needs,
  name: "when containers of containerd have ended, the node is as before",
  async fn() {
    await using containerd = await startContainerd();
    const { node } = containerd;
    const untouched = networkState(node);
    node.configure({ name: "headcni", plugin: POD_CIDR });
    await containerd.runToEnd("warm-up", "true"); // loads the packet filter, which stays
    assertEquals(networkState(node), untouched);
    const before = nodeState(node);
    assertEquals(before.attachments, []);
    node.configure({
      name: "headcni",
      plugin: {
        ...POD_CIDR,
        runtimeConfig: {
          portMappings: [{ HostPort: 8080, ContainerPort: 80, Protocol: "udp" }],
          bandwidth: { IngressRate: RATE_BITS, IngressBurst: BURST_BITS },
        },
      },
    });
    const one = await containerd.start("one", "true");
    const [attachment] = nodeState(node).attachments;
    assertEquals(attachment.containerId, "default-one");
    assertEquals(await one.stop(), "");
    assertEquals(nodeState(node), before);
  },
});

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
