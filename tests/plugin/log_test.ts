/** `logFile` and `logLevel`: what is written, and that nothing about it can fail a call. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { configOf } from "./config.ts";
import { NEEDS } from "./needs.ts";
import { type Node, openNode } from "./node.ts";

/** The messages of a log, each with its level. */
function messages(path: string): string[] {
  return Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => {
    const [, level, quoted, plain] = /level=(\w+) msg=(?:"((?:[^"\\]|\\.)*)"|(\S+))/.exec(line) ??
      [];
    return `${level} ${quoted ?? plain}`;
  });
}

Deno.test({
  ...NEEDS,
  name: "a log file has a line for each call, and belongs to root alone",
  async fn() {
    await using node = await openNode();
    const logFile = `${node.dataDir}/log/made/plugin.log`;
    const pod = await node.pod();
    const config = configOf("IPv4", { logFile });
    const args = "K8S_POD_NAMESPACE=web;K8S_POD_NAME=front-0\nlevel=FORGED";
    const added = await node.call("ADD", pod.about(config, { args }));
    assertEquals([added.code, added.stderr], [0, ""]);
    await node.fail("ADD", pod.about(config));
    await node.succeed("STATUS", { config });
    await pod.del(config);
    await node.fail("ADD", { config });
    assertEquals(messages(logFile), [
      "INFO ADD succeeded",
      "ERROR Cannot create interface eth0: the container has one of that name",
      "INFO DEL succeeded",
    ]);
    const [first = "", second = ""] = Deno.readTextFileSync(logFile).split("\n");
    const address = added.value?.ips[0].address.replace(/\/.*/, "");
    for (
      const part of [
        "verb=ADD",
        "network=testnet",
        `container=${pod.containerId}`,
        "ifname=eth0",
        "pod=",
        "front-0",
        `addresses=${address}`,
        "took_ms=",
      ]
    ) assertStringIncludes(first, part);
    assertStringIncludes(second, "code=104");
    assertEquals(first.includes("phases"), false);
    assertEquals((Deno.statSync(logFile).mode ?? 0) & 0o777, 0o600);
  },
});

Deno.test({
  ...NEEDS,
  name: "the level debug adds phases and STATUS; without a file lines go to standard error",
  async fn() {
    await using node = await openNode();
    const logFile = `${node.dataDir}/plugin.log`;
    const pod = await node.pod();
    const config = configOf("IPv4", { logFile, logLevel: "debug" });
    await node.succeed("STATUS", { config });
    await pod.add(config);
    assertEquals(messages(logFile), ["DEBUG STATUS succeeded", "INFO ADD succeeded"]);
    assertMatch(Deno.readTextFileSync(logFile), /allocate[^\n]*filter/);
    await pod.del({ ...config, logLevel: "warn" });
    assertEquals(messages(logFile).length, 2, "a success is no warning");
    const { value, stderr } = await node.call(
      "ADD",
      pod.about(configOf("IPv4", { logLevel: "debug" })),
    );
    assertEquals(value?.ips.length, 1);
    assertMatch(stderr, /^time=\S+ level=INFO msg="ADD succeeded" [^\n]*\n$/);
  },
});

Deno.test({
  ...NEEDS,
  name: "what a call says on standard error is in the log, too",
  async fn() {
    await using node = await openNode();
    const logFile = `${node.dataDir}/plugin.log`;
    await node.warmUp();
    await Deno.writeTextFile(`${node.dataDir}/headcni.db`, "junk".repeat(2000));
    const pod = await node.pod();
    const { stderr } = await node.call("ADD", pod.about(configOf("IPv4", { logFile })));
    assertStringIncludes(stderr, "made anew");
    const [warning = "", success] = messages(logFile);
    assert(warning.startsWith("WARN Cannot") && warning.includes("made anew"), warning);
    assertEquals(success, "INFO ADD succeeded");
  },
});

/** What may be at the path of the log; `expect` is a part of what standard error says. */
const OBSTACLES: Readonly<
  Record<string, { prepare: (node: Node, path: string) => unknown; says: string }>
> = {
  "a link to another file": {
    prepare: (_, path) => Deno.symlinkSync("/etc/hostname", path),
    says: "links are not followed",
  },
  "a link to nothing": {
    prepare: ({ dataDir }, path) => Deno.symlinkSync(`${dataDir}/planted`, path),
    says: "links are not followed",
  },
  "a pipe nobody reads": { prepare: (node, path) => node.run("mkfifo", path), says: "not a file" },
  "a directory": { prepare: (_, path) => Deno.mkdirSync(path), says: "not a file" },
  "a device": {
    prepare: (node, path) => node.run("mknod", path, "c", "1", "7"),
    says: "not a file",
  },
  "another user's file": {
    prepare(_, path) {
      Deno.writeTextFileSync(path, "");
      Deno.chownSync(path, 65534, 65534);
    },
    says: "belongs to user 65534",
  },
  "a file everybody may write": {
    prepare(_, path) {
      Deno.writeTextFileSync(path, "");
      Deno.chmodSync(path, 0o666);
    },
    says: "lets others change it",
  },
  "a directory everybody may write to": {
    prepare: (_, path) => Deno.chmodSync(path.replace(/\/[^/]*$/, ""), 0o1777),
    says: "everybody may put names into it",
  },
};

for (const [name, { prepare, says }] of Object.entries(OBSTACLES)) {
  Deno.test({
    ...NEEDS,
    name: `a log file that is ${name} is not written, and the call does not care`,
    async fn() {
      await using node = await openNode();
      const directory = `${node.dataDir}/log`;
      await Deno.mkdir(directory, { mode: 0o755 });
      const logFile = `${directory}/plugin.log`;
      const hostname = Deno.readTextFileSync("/etc/hostname");
      await prepare(node, logFile);
      const pod = await node.pod();
      const config = configOf("IPv4", { logFile });
      const { code, stderr, value } = await node.call("ADD", pod.about(config));
      assertEquals([code, value?.ips.length], [0, 1]);
      assertStringIncludes(stderr, says);
      assertStringIncludes(stderr, "ADD succeeded"); // the line itself is not lost
      await pod.del(config);
      assertEquals(Deno.readTextFileSync("/etc/hostname"), hostname);
      assertEquals(
        [...Deno.readDirSync(node.dataDir)].some((one) => one.name === "planted"),
        false,
      );
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "a log file on a read-only file system is not written, and the call does not care",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const mounts = "mount -t tmpfs -o ro tmpfs /var/log";
    const config = configOf("IPv4", { logFile: "/var/log/headcni/plugin.log" });
    const { code, stderr } = await node.call("ADD", { ...pod.about(config), mounts });
    assertEquals(code, 0);
    assertStringIncludes(stderr, "/var/log/headcni/plugin.log");
    // A relative path is an error of the configuration, and no file anywhere.
    const refused = await node.fail("ADD", pod.about(configOf("IPv4", { logFile: "plugin.log" })));
    assertEquals(refused.code, 7);
    assertEquals(exists("plugin.log"), false);
  },
});

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
