/** Namespaces and settings in the real kernel. */

import { assert, assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import {
  createVeth,
  inNetns,
  listLinks,
  NetlinkError,
  Netns,
  NetnsError,
  openConnection,
  openNetns,
  openNetnsOfFd,
  openNetnsOfPid,
  openOwnNetns,
  readSysctl,
  setLinkUp,
  writeSysctl,
} from "../../lib/netlink/mod.ts";
import { createNetns, deleteNetns, netnsPath } from "../../lib/netlink/named_netns.ts";
import { requires, root, tool } from "../requires.ts";
import { run, runScript, Sandbox } from "./fixture.ts";

const needs = requires(root, tool("ip", "iproute2"));

function here(): string {
  return Deno.readLinkSync("/proc/thread-self/ns/net");
}

Deno.test({
  ...needs,
  name: "one namespace is the same by path, by pid and by descriptor",
  fn() {
    using sandbox = new Sandbox();
    using byPath = openNetns(netnsPath(sandbox.name));
    using byFd = openNetnsOfFd(byPath.fd);
    assertEquals([byPath.id, byFd.id], [sandbox.netns.id, sandbox.netns.id]);
    using own = openOwnNetns();
    using byPid = openNetnsOfPid(Deno.pid);
    assertEquals(byPid.id, own.id);
    assertNotEquals(own.id, byPath.id);
    assert(run("ip", "netns", "list").includes(sandbox.name));
  },
});

Deno.test({
  ...needs,
  name: "a function runs inside a namespace and the thread comes back, also when it throws",
  fn() {
    using sandbox = new Sandbox();
    const home = here();
    const inside = inNetns(sandbox.netns, here);
    assertNotEquals(inside, home);
    assertEquals(here(), home);
    assertThrows(
      () =>
        inNetns(sandbox.netns, () => {
          throw new RangeError("inside");
        }),
      RangeError,
      "inside",
    );
    assertEquals(here(), home);
    using other = new Sandbox();
    assertEquals(inNetns(sandbox.netns, () => inNetns(other.netns, here) === here()), false);
    assertEquals(here(), home);
  },
});

Deno.test({
  ...needs,
  name: "an asynchronous function is refused, by the type and at run time",
  fn() {
    using sandbox = new Sandbox();
    const home = here();
    assertThrows(
      // @ts-expect-error: promises are not allowed inside a namespace
      () => inNetns(sandbox.netns, async () => await Promise.resolve(1)),
      TypeError,
      "Cannot await inside a network namespace",
    );
    assertEquals(here(), home);
  },
});

Deno.test({
  ...needs,
  name: "a failed return aborts the process",
  fn() {
    using sandbox = new Sandbox();
    const { code, signal, stdout, stderr } = runScript(`
      import { inNetns, openNetns } from "lib/netlink/mod.ts";
      import { closeDescriptor } from "lib/sys/libc.ts";
      const netns = openNetns("${netnsPath(sandbox.name)}");
      try {
        inNetns(netns, () => {
          // Takes away the way home.
          for (let fd = 3; fd < 1000; fd++) if (fd !== netns.fd) closeDescriptor(fd);
        });
      } finally {
        console.log("went on");
      }
    `);
    assertEquals([signal, code, stdout], ["SIGABRT", 134, ""]);
    assertMatch(stderr, /Cannot return to the own network namespace: Bad file descriptor/);
  },
});

Deno.test({
  ...needs,
  name: "what is no network namespace is told apart from what is missing",
  fn() {
    const missing = assertThrows(
      () => openNetns("/run/netns/hcnt-none"),
      NetnsError,
      "Cannot open network namespace /run/netns/hcnt-none: No such file or directory (ENOENT)",
    );
    assertEquals(missing.kind, "missing");
    for (const path of ["/etc/passwd", "/etc", "/proc/self/ns/mnt"]) {
      const error = assertThrows(
        () => openNetns(path),
        NetnsError,
        `Cannot open network namespace ${path}: it exists but is no network namespace`,
      );
      assertEquals(error.kind, "foreign");
    }
    assertThrows(() => openNetnsOfPid(2 ** 22 + 1), NetnsError);
    using wrong = new Netns(99_999, "nothing");
    assertThrows(
      () => inNetns(wrong, () => 1),
      NetnsError,
      "Cannot enter network namespace nothing",
    );
  },
});

Deno.test({
  ...needs,
  name: "a FIFO in place of a namespace is refused and does not block",
  fn() {
    const directory = Deno.makeTempDirSync();
    try {
      const path = `${directory}/fifo`;
      run("mkfifo", path);
      assertThrows(() => openNetns(path), NetnsError, "is no network namespace");
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  },
});

Deno.test({
  ...needs,
  name: "a named namespace is created once and deleted twice",
  fn() {
    const name = `hcnt-${crypto.randomUUID().slice(0, 8)}`;
    using netns = createNetns(name);
    assertThrows(
      () => createNetns(name),
      NetlinkError,
      `Cannot create network namespace ${name}: File exists (EEXIST)`,
    );
    assertEquals(
      inNetns(netns, () => {
        using connection = openConnection();
        return listLinks(connection).map((link) => link.name).includes("lo");
      }),
      true,
    );
    assertEquals([deleteNetns(name), deleteNetns(name)], [true, false]);
    assertEquals(run("ip", "netns", "list").includes(name), false);
  },
});

Deno.test({
  ...needs,
  name: "a setting is read and written in either namespace",
  fn() {
    using sandbox = new Sandbox();
    const { netns, connection } = sandbox;
    connection.batch([
      createVeth({ name: "a.1", peer: { name: "b" } }),
      setLinkUp({ name: "a.1" }),
    ]);
    const name = "net/ipv4/conf/a.1/forwarding";
    writeSysctl(name, 1, { netns });
    assertEquals(readSysctl(name, { netns }), "1");
    writeSysctl(name, "0", { netns });
    assertEquals(sandbox.run("cat", `/proc/sys/${name}`), "0\n");
    assertThrows(
      () => readSysctl(name),
      NetlinkError,
      `Cannot read sysctl ${name}: No such file or directory (ENOENT)`,
    );
    assertEquals(readSysctl("net/ipv4/ip_forward").length, 1);
    assertThrows(
      () => writeSysctl("net/ipv4/ip_forward", "many", { netns }),
      NetlinkError,
      "Cannot write sysctl net/ipv4/ip_forward=many: Invalid argument (EINVAL)",
    );
    assertThrows(() => readSysctl("net/../../etc/passwd"), Error, "Cannot read sysctl");
  },
});
