import { assertEquals } from "@std/assert";
import { MemoryFiles } from "../sys/testing.ts";
import { readHostLocal } from "./host_local.ts";

function files(content: Readonly<Record<string, string>>): MemoryFiles {
  const memory = new MemoryFiles();
  for (const [path, text] of Object.entries(content)) {
    memory.makeDirectory(path.replace(/\/[^/]+$/, ""));
    memory.writeAtomic(path, text);
  }
  return memory;
}

Deno.test("readHostLocal() reads a network, old and new form, IPv6 and cursors", () => {
  const [network, ...others] = readHostLocal(
    files({
      "/d/net/10.0.0.2": "abc\r\neth0",
      "/d/net/10.0.0.3": " old-form \n",
      "/d/net/fd00::3": "abc\r\neth0\r\n",
      "/d/net/last_reserved_ip.0": "10.0.0.3",
      "/d/net/lock": "",
    }),
    "/d/net/",
  );
  assertEquals(others, []);
  assertEquals(network?.name, "net");
  assertEquals(
    network?.entries.map(({ address, containerId, ifname }) =>
      [address, containerId, ifname].join(" ")
    ),
    ["10.0.0.2 abc eth0", "10.0.0.3 old-form ", "fd00::3 abc eth0"],
  );
  assertEquals(network?.cursors.get(0)?.toString(), "10.0.0.3");
  assertEquals(network?.junk, []);
});

Deno.test("readHostLocal() reads a directory of networks", () => {
  const source = files({ "/d/a/10.0.0.2": "x\r\neth0", "/d/b/lock": "" });
  assertEquals(readHostLocal(source, "/d").map(({ name }) => name), ["a", "b"]);
});
