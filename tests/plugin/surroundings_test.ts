/** The process the plugin runs in: somebody else's environment, files and patience. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { temporaryDirectory } from "../binary/program.ts";
import { configOf } from "./config.ts";
import { NEEDS } from "./needs.ts";
import { openNode } from "./node.ts";

/** Programs the plugin, or what it runs, might look for. */
const FAKES = ["nft", "ip", "iptables", "sh", "sysctl", "tailscale", "headcni-ipam"];

Deno.test({
  ...NEEDS,
  name: "programs that come first in PATH and CNI_PATH are not run",
  async fn() {
    await using node = await openNode();
    await using directory = temporaryDirectory();
    for (const name of FAKES) {
      const script = `#!/bin/sh\n: >"${directory.path}/ran-${name}"\nexit 0\n`;
      await Deno.writeTextFile(`${directory.path}/${name}`, script, { mode: 0o755 });
    }
    const pod = await node.pod();
    // By a shell: with such a PATH the test itself would find nothing.
    const before = ["/bin/sh", "-c", `PATH=${directory.path} exec "$0"`];
    const call = { before, env: { CNI_PATH: directory.path } };
    await pod.add(configOf(), call);
    await pod.del(configOf(), call);
    const ran = [...Deno.readDirSync(directory.path)].filter(({ name }) => name.startsWith("ran-"));
    assertEquals(ran, []);
  },
});

Deno.test({
  ...NEEDS,
  name: "variables of Deno, Node and the shell change nothing and cause no output",
  async fn() {
    await using node = await openNode();
    await using directory = temporaryDirectory();
    const { path } = directory;
    const env = {
      DENO_DIR: path,
      DENO_V8_FLAGS: "--nonsense",
      NODE_OPTIONS: "--require=/nonexistent.js",
      NODE_DEBUG: "*",
      NODE_PATH: path,
      RUST_LOG: "trace",
      RUST_BACKTRACE: "1",
      HOME: "/nonexistent",
      TMPDIR: path,
      XDG_CACHE_HOME: path,
      LANG: "tr_TR.UTF-8",
      TZ: "Nowhere/Land",
      HTTPS_PROXY: "http://127.0.0.1:1",
      TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    const pod = await node.pod();
    const { code, stderr, value } = await node.call("ADD", pod.about(configOf(), { env }));
    assertEquals([code, stderr, value?.ips.length], [0, "", 1]);
    await pod.del(configOf(), { env });
    assertEquals([...Deno.readDirSync(path)], []);
  },
});

for (const umask of ["000", "777"]) {
  Deno.test({
    ...NEEDS,
    name: `with umask ${umask} the state is readable by root alone, and usable`,
    async fn() {
      await using node = await openNode();
      const dataDir = `${node.dataDir}/made`;
      const call = {
        env: { HEADCNI_DATA_DIR: dataDir },
        before: ["sh", "-c", `umask ${umask}; exec "$0"`],
      };
      const pod = await node.pod();
      await pod.add(configOf(), call);
      const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;
      assertEquals(modeOf(dataDir), 0o700);
      for (const { name } of Deno.readDirSync(dataDir)) {
        assertEquals(modeOf(`${dataDir}/${name}`) & 0o177, 0, `${name} is not private`);
      }
      await pod.del(configOf(), call);
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "a call whose standard output nobody reads ends all the same",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const { code } = await node.call("ADD", {
      ...pod.about(configOf()),
      before: ["sh", "-c", 'exec "$0" >&-'],
    });
    assert(code !== null);
    await pod.del();
    assertEquals((await pod.namespace.ip("link")).length, 1);
  },
});

Deno.test({
  ...NEEDS,
  name: "a store that others keep locked makes a DEL end in time, with try again later",
  async fn() {
    await using node = await openNode();
    await node.warmUp();
    const pod = await node.pod();
    using lock = await Deno.open(`${node.dataDir}/headcni.lock`, { read: true, write: true });
    await lock.lock(true);
    const start = performance.now();
    const { code, msg } = await node.fail("DEL", pod.about(configOf()));
    assertEquals(code, 11);
    assertStringIncludes(msg, `process ${Deno.pid} (`);
    assertStringIncludes(msg, "holds its lock");
    assert(performance.now() - start < 10_000, "it took longer than 10 s");
  },
});
