/**
 * ADD and DEL that fail or are killed between any two of their effects.
 *
 * After one DEL, or one GC, the node is as it was before the ADD; a repeated ADD works. The fail
 * points are read from the sources: a new one is in the tables without anybody's doing.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { configOf } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Node, openNode, type Pod } from "./node.ts";
import { inParallel } from "./parallel.ts";
import { assertSameNode, type Snapshot, takeSnapshot } from "./snapshot.ts";

const CONFIG = configOf("dual-stack", {
  runtimeConfig: {
    portMappings: [{ hostPort: 8080, containerPort: 80 }],
    bandwidth: { ingressRate: 8e8, ingressBurst: 8e7, egressRate: 8e8, egressBurst: 8e7 },
  },
});

/** GC gets no runtimeConfig; an absent list lists nothing. */
const FOR_GC = configOf("dual-stack");

/** Fail points of `files` whose name begins with one of `prefixes`. */
function failpointsOf(files: readonly string[], ...prefixes: string[]): string[] {
  const names = files.flatMap((file) => {
    const text = Deno.readTextFileSync(new URL(`../../lib/${file}.ts`, import.meta.url));
    return [...text.matchAll(/failpoint\("([^"]+)"\)/g)].map((match) => match[1] ?? "");
  });
  const wanted = names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  return [...new Set(wanted)];
}

const IN_ADD = failpointsOf(
  ["cni/native/add", "cni/native/attach", "ipam/allocate", "store/open_store"],
  "add.",
  "allocate.",
  "store.locked",
  "store.opened",
);

const IN_DEL = failpointsOf(
  ["cni/native/remove", "cni/native/del", "ipam/release", "store/open_store"],
  "del.",
  "release.",
  "store.locked",
  "store.opened",
);

/** A call that ends at a fail point, and what is done about it. */
interface Fault {
  readonly verb: "ADD" | "DEL";
  readonly point: string;
  readonly action: "kill" | "error";
  readonly isGone: boolean;
  readonly repair: "DEL" | "GC";
}

const FAULTS: readonly Fault[] = [
  ...IN_ADD.map((point) => ({ verb: "ADD" as const, point })),
  ...IN_DEL.map((point) => ({ verb: "DEL" as const, point })),
].flatMap((at) =>
  (["kill", "error"] as const).flatMap((action) =>
    [false, true].flatMap((isGone) =>
      (["DEL", "GC"] as const).map((repair) => ({ ...at, action, isGone, repair }))
    )
  )
);

/** On both cores. */
const NODES = 3;

/** A node and what it looks like with no pod; what a pod looks like before its ADD. */
interface Site {
  readonly node: Node;
  readonly before: Snapshot;
  readonly fresh: Snapshot;
}

async function openSites(stack: AsyncDisposableStack): Promise<Site[]> {
  const sites: Site[] = [];
  for (let count = 0; count < NODES; count++) {
    const node = stack.use(await openNode());
    const { namespace } = await node.pod();
    const [before, fresh] = [await node.warmUp(CONFIG), await takeSnapshot(namespace)];
    sites.push({ node, before, fresh });
  }
  return sites;
}

/** Runs `work` for each item on a site nobody else uses meanwhile; a step for each outcome. */
async function onSites<T>(
  test: Deno.TestContext,
  items: readonly T[],
  options: { name: (item: T) => string; work: (item: T, site: Site) => Promise<void> },
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const free = await openSites(stack);
  const outcomes = await inParallel(items, NODES, async (item) => {
    const site = free.pop();
    assert(site);
    try {
      await options.work(item, site);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      free.push(site);
    }
  });
  for (const [at, item] of items.entries()) {
    await test.step(options.name(item), () => {
      if (outcomes[at] !== undefined) throw outcomes[at];
    });
  }
}

/** Calls the plugin so that it ends at a fail point, and makes sure that it did. */
async function endAt(pod: Pod, fault: Pick<Fault, "verb" | "point" | "action">): Promise<void> {
  const { verb, point, action } = fault;
  const env = { HEADCNI_FAILPOINT: `${point}:${action}` };
  const { code, signal, value, stdout } = await pod.node.call(verb, pod.about(CONFIG, { env }));
  if (action === "kill") {
    assertEquals([signal, stdout], ["SIGKILL", ""], `${verb} was not killed at ${point}`);
  } else {
    assertEquals(code, 1, `${verb} did not fail at ${point}`);
    assertStringIncludes(value?.msg, point);
  }
}

async function checkFault(fault: Fault, { node, before, fresh }: Site): Promise<void> {
  const { verb, isGone, repair, action } = fault;
  const pod = await node.pod();
  if (verb === "DEL") await pod.add(CONFIG);
  await endAt(pod, fault);
  if (verb === "ADD" && action === "error" && isUndone(fault.point)) {
    assertSameNode(await node.snapshot(), before, "although the ADD failed");
  }
  const { containerId, namespace: { path } } = pod;
  if (isGone) pod.namespace[Symbol.dispose]();
  if (repair === "DEL") await node.succeed("DEL", { config: CONFIG, containerId, netns: path });
  else await node.succeed("GC", { config: FOR_GC });
  assertSameNode(await node.snapshot(), before, `after one ${repair}`);
  if (isGone) return;
  assertSameNode(await takeSnapshot(pod.namespace), fresh, "in the pod");
  pod.namespace[Symbol.dispose]();
}

/**
 * Whether a failing ADD has put everything back by itself. Not between the commit of the
 * addresses and their undo: only the DEL knows that they are not an older attachment's.
 */
function isUndone(point: string): boolean {
  return point !== "allocate.committed";
}

Deno.test("the sources have the fail points this test is about", () => {
  assert(IN_ADD.length >= 20, `${IN_ADD}`);
  assert(IN_DEL.length >= 10, `${IN_DEL}`);
});

Deno.test({
  ...NEEDS,
  name: `${FAULTS.length} faults leave nothing behind after one DEL or GC`,
  async fn(test) {
    await onSites(test, FAULTS, {
      name: ({ verb, point, action, isGone, repair }) =>
        `${verb} ${action === "kill" ? "killed" : "failing"} at ${point}, namespace ${
          isGone ? "gone" : "alive"
        }, then ${repair}`,
      work: checkFault,
    });
  },
});

/** The last thing ADD does: what is killed later has done all, and only did not tell. */
const WHOLE = "add.routes";

Deno.test({
  ...NEEDS,
  name: "a repeated ADD works after every kill, and the pod has a network",
  async fn(test) {
    const kills = [
      ...IN_ADD.map((point) => ({ verb: "ADD" as const, point })),
      ...IN_DEL.map((point) => ({ verb: "DEL" as const, point })),
    ];
    await onSites(test, kills, {
      name: ({ verb, point }) => `ADD after a ${verb} killed at ${point}`,
      work: async ({ verb, point }, { node, before }) => {
        const pod = await node.pod();
        if (verb === "DEL") await pod.add(CONFIG);
        await endAt(pod, { verb, point, action: "kill" });
        if (point === WHOLE) {
          const { code } = await node.fail("ADD", pod.about(CONFIG));
          assertEquals(code, 104);
          await pod.del(CONFIG);
        }
        await pinging(pod, await pod.add(CONFIG));
        await pod.del(CONFIG);
        assertSameNode(await node.snapshot(), before, "after ADD and DEL");
      },
    });
  },
});

async function pinging(pod: Pod, { ips }: Json): Promise<void> {
  for (const { address, gateway } of ips) {
    assert(await pod.namespace.reaches(gateway), `pod → ${gateway}`);
    assert(await pod.node.reaches(address.replace(/\/.*/, "")), `node → ${address}`);
  }
}

Deno.test({
  ...NEEDS,
  name: "a second interface that fails or is killed leaves the first one and its pod as they were",
  async fn(test) {
    const faults = IN_ADD.filter((point) => point.startsWith("add."))
      .flatMap((point) => (["kill", "error"] as const).map((action) => ({ point, action })));
    await onSites(test, faults, {
      name: ({ point, action }) => `${action} at ${point}`,
      work: async ({ point, action }, { node }) => {
        const pod = await node.pod();
        const config = configOf("dual-stack");
        const first = await pod.add(config);
        const [onNode, inPod] = [await node.snapshot(), await takeSnapshot(pod.namespace)];
        const env = { HEADCNI_FAILPOINT: `${point}:${action}` };
        const second = { ...CONFIG, runtimeConfig: { bandwidth: CONFIG.runtimeConfig.bandwidth } };
        const { code } = await node.call("ADD", pod.about(second, { env, ifname: "net1" }));
        assert(code !== 0);
        if (action === "kill") await pod.del(second, { ifname: "net1" });
        assertSameNode(await node.snapshot(), onNode, "on the node");
        assertSameNode(await takeSnapshot(pod.namespace), inPod, "in the pod");
        await pinging(pod, first);
        await pod.del(config);
      },
    });
  },
});

Deno.test({
  ...NEEDS,
  name: "an ADD for another namespace does not take a whole attachment away",
  async fn() {
    await using node = await openNode();
    const [pod, other] = [await node.pod(), await node.pod()];
    const result = await pod.add(CONFIG);
    const before = await node.snapshot();
    const error = await node.fail("ADD", pod.about(CONFIG, { netns: other.namespace.path }));
    assertEquals(error.code, 104);
    assertSameNode(await node.snapshot(), before);
    await pinging(pod, result);
  },
});
