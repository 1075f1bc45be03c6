/** What `CNI_NETNS` may lead to, and must not (SPEC, "Parameters"; code 8 of the Go library). */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { temporaryDirectory } from "../binary/program.ts";
import { configOf } from "./config.ts";
import { output } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Node, openNode } from "./node.ts";
import { assertSameNode } from "./snapshot.ts";

const CONFIG = configOf("dual-stack");

/** Makes something at `path` that is no network namespace; the path to call with. */
const KINDS: Readonly<Record<string, (path: string) => string | Promise<string>>> = {
  "nothing": (path) => path,
  "a dangling link": (path) => {
    Deno.symlinkSync(`${path}-gone`, path);
    return path;
  },
  "a link to itself": (path) => {
    Deno.symlinkSync(path, path);
    return path;
  },
  "a FIFO nobody writes to": async (path) => {
    await output("mkfifo", path);
    return path;
  },
  "a regular file": (path) => {
    Deno.writeTextFileSync(path, "");
    return path;
  },
  "a directory": (path) => {
    Deno.mkdirSync(path);
    return path;
  },
  "a device": () => "/dev/null",
  "a namespace of another kind": () => "/proc/self/ns/uts",
  "a process that does not exist": () => "/proc/4194305/ns/net",
  "a path below a file": () => "/etc/hostname/net",
  "a relative path": () => "run/netns/x",
  "a path of 5000 bytes": (path) => path + "/x".repeat(2500),
};

Deno.test({
  ...NEEDS,
  name: "ADD and CHECK refuse what is no network namespace, DEL goes on without",
  async fn(test) {
    await using node = await openNode();
    await using directory = temporaryDirectory();
    const before = await node.warmUp(CONFIG);
    for (const [index, [kind, make]] of Object.entries(KINDS).entries()) {
      await test.step(kind, async () => {
        const netns = await make(`${directory.path}/${index}`);
        const call = { config: CONFIG, containerId: "refused", netns };
        const start = performance.now();
        const added = await node.fail("ADD", call);
        assertEquals(added.code, 8, added.msg);
        assertStringIncludes(added.msg, netns.slice(0, 100));
        assert(performance.now() - start < 2000, "it waited");
        await node.succeed("DEL", call);
      });
    }
    assertSameNode(await node.snapshot(), before);
  },
});

/** Ways to name the node's own namespace. */
const OWN: Readonly<Record<string, (node: Node, path: string) => string>> = {
  "its name": (node) => node.path,
  "/proc/self": () => "/proc/self/ns/net",
  "/proc/thread-self": () => "/proc/thread-self/ns/net",
  "a link": (node, path) => {
    Deno.symlinkSync(node.path, path);
    return path;
  },
};

Deno.test({
  ...NEEDS,
  name: "the node's own namespace is refused by ADD, DEL and CHECK, and nothing changes",
  async fn(test) {
    await using node = await openNode({ internet: true });
    await using directory = temporaryDirectory();
    const before = await node.warmUp(CONFIG);
    for (const [way, path] of Object.entries(OWN)) {
      const netns = path(node, `${directory.path}/own`);
      await test.step(way, async () => {
        for (const verb of ["ADD", "DEL", "CHECK"] as const) {
          for (const ifname of ["uplink", "eth0"]) {
            const config = { ...CONFIG, prevResult: { cniVersion: "1.1.0" } };
            const call = { config, containerId: "own", netns, ifname };
            const { value, code } = await node.call(verb, call);
            // CHECK looks at the addresses first; there are none for such a container.
            assertEquals([code, value?.code], [1, verb === "CHECK" ? 103 : 8], value?.msg);
          }
        }
        assertSameNode(await node.snapshot(), before);
      });
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "a namespace may be named by a link or by a process in it",
  async fn() {
    await using node = await openNode();
    await using directory = temporaryDirectory();
    const before = await node.warmUp(CONFIG);
    const pod = await node.pod();
    const link = `${directory.path}/link`;
    await Deno.symlink(pod.namespace.path, link);
    const [program = "", ...args] = pod.namespace.inside("sleep", "60");
    await using sleeper = holding(new Deno.Command(program, { args, stdin: "null" }).spawn());
    await untilInside(sleeper.pid, pod.namespace.path);
    for (const netns of [link, `/proc/${sleeper.pid}/ns/net`]) {
      const { interfaces } = await pod.add(CONFIG, { netns });
      assertEquals(interfaces[1].sandbox, netns);
      await pod.del(CONFIG, { netns });
      assertSameNode(await node.snapshot(), before);
    }
  },
});

function holding(child: Deno.ChildProcess): { readonly pid: number } & AsyncDisposable {
  return {
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** nsenter(1) needs a moment to move. */
async function untilInside(pid: number, path: string): Promise<void> {
  const { ino } = await Deno.stat(path);
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await Deno.stat(`/proc/${pid}/ns/net`)).ino === ino) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Cannot go on: process ${pid} did not enter ${path}`);
}
