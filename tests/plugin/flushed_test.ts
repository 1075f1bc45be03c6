/** Somebody flushes all rules while pods run. */

import { assertEquals } from "@std/assert";
import { configOf } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Node, openNode, type Pod } from "./node.ts";

/** Everything a pod can have in the packet filter, in another way for each. */
function configFor(number: number): Json {
  return configOf("dual-stack", {
    ipMasq: number !== 1,
    antiSpoof: number !== 2,
    runtimeConfig: { portMappings: [{ hostPort: 8080 + number, containerPort: 80 }] },
  });
}

/** Three pods that run. */
async function startPods(node: Node): Promise<Pod[]> {
  const pods: Pod[] = [];
  for (const number of [0, 1, 2]) {
    const pod = await node.pod();
    await pod.add(configFor(number));
    pods.push(pod);
  }
  return pods;
}

/** The tables with all elements of pods; tables have no order, and handles are numbered anew. */
async function tables(node: Node): Promise<string[]> {
  const { filter } = await node.snapshot();
  const withoutHandle = (key: string, value: unknown) => key === "handle" ? undefined : value;
  return filter.map((item) => JSON.stringify(item, withoutHandle)).sort();
}

for (const point of ["firewall.loaded", "firewall.load"]) {
  Deno.test({
    ...NEEDS,
    name: `an ADD after a flush that is killed at ${point} brings back all rules or none`,
    async fn() {
      await using node = await openNode();
      const pods = await startPods(node);
      const before = await tables(node);
      await node.run("nft", "flush", "ruleset");
      const flushed = await tables(node);
      const next = await node.pod();
      const env = { HEADCNI_FAILPOINT: point };
      const killed = await node.call("ADD", { ...next.about(configOf("dual-stack")), env });
      assertEquals(killed.signal, "SIGKILL");
      assertEquals(await tables(node), point === "firewall.load" ? flushed : before);
      await next.del(configOf("dual-stack"));
      await next.add(configOf("dual-stack"));
      await next.del(configOf("dual-stack"));
      assertEquals(await tables(node), before);
      for (const pod of pods) assertEquals(await pod.namespace.reaches("10.83.0.1"), true);
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "one ADD after a flush brings back the rules of all pods that run",
  async fn() {
    await using node = await openNode();
    const [one, two] = await startPods(node);
    const before = await tables(node);
    await node.run("nft", "flush", "ruleset");
    const next = await node.pod();
    const { code, stderr } = await node.call("ADD", next.about(configOf("dual-stack")));
    assertEquals([code, stderr], [0, ""]);
    await next.del(configOf("dual-stack"));
    assertEquals(await tables(node), before);
    const [address = {}] = await two?.namespace.ip("-4", "address", "show", "eth0") ?? [];
    assertEquals(await one?.namespace.reaches(address.addr_info[0].local), true);
  },
});
