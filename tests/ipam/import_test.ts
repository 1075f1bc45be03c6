/** Taking over what the real host-local has given out. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { requires, tool } from "../requires.ts";
import { Bench, type Ending, network } from "./plugin.ts";

const NEEDS = requires(tool("host-local", "containernetworking-plugins"));
const RANGES = [[{ subnet: "10.64.0.0/24" }], [{ subnet: "fd64::/64" }]];

/** A configuration of host-local or, with the same pools, of ours. */
function config(type: string, dataDir: string): Record<string, unknown> {
  return network({ type, dataDir, ranges: RANGES }, { name: "cbr0" });
}

function addressesOf({ json }: Ending): string[] {
  return json.ips.map((ip: { address: string }) => ip.address.replace(/\/.*/, ""));
}

/** Lets the real host-local give addresses to `count` containers; some have been released. */
async function fillHostLocal(bench: Bench, count: number): Promise<Map<string, string[]>> {
  const held = new Map<string, string[]>();
  const about = { plugin: "host-local", config: config("host-local", `${bench.directory}/hl`) };
  for (let index = 0; index < count; index++) {
    const id = `old-${index}`;
    const ending = await bench.call({ ...about, command: "ADD", id });
    assertEquals(ending.code, 0, ending.stdout);
    held.set(id, addressesOf(ending));
  }
  for (const id of [...held.keys()].filter((_, index) => index % 5 === 4)) {
    assertEquals((await bench.call({ ...about, command: "DEL", id })).code, 0);
    held.delete(id);
  }
  return held;
}

async function heldByUs(bench: Bench): Promise<Map<string, string[]>> {
  const { json } = await bench.ipam("list", "--json");
  const entries: { containerId?: string; address: string; state: string }[] = json;
  const byId = Map.groupBy(
    entries.filter(({ state }) => state === "held"),
    ({ containerId }) => containerId ?? "",
  );
  return new Map([...byId].map(([id, list]) => [id, list.map(({ address }) => address)]));
}

Deno.test({
  ...NEEDS,
  name: "import keeps every address of the real host-local, and goes on where it was",
  fn: async () => {
    await using bench = new Bench();
    const before = await fillHostLocal(bench, 20);

    const dry = await bench.ipam("import", "host-local", `${bench.directory}/hl`, "--dry-run");
    assertStringIncludes(dry.stdout, "cbr0: 32 imported");
    assertEquals((await heldByUs(bench)).size, 0);

    const done = await bench.ipam("import", "host-local", `${bench.directory}/hl`);
    assertEquals([done.code, done.stdout], [
      0,
      "cbr0: 32 imported, 0 already there, 0 held by others, 0 junk\n",
    ]);
    assertEquals(await heldByUs(bench), before);

    const again = await bench.ipam("import", "host-local", `${bench.directory}/hl/cbr0`);
    assertStringIncludes(again.stdout, "cbr0: 0 imported, 32 already there");

    // The next one is the next one of host-local, and old ones are released by their own DEL.
    const ours = config("headcni-ipam", bench.data);
    const next = await bench.call({ command: "ADD", id: "new", config: ours });
    assertEquals(addressesOf(next), ["10.64.0.22", "fd64::16"]);
    assertEquals((await bench.call({ command: "DEL", id: "old-3", config: ours })).code, 0);
    assertEquals((await heldByUs(bench)).has("old-3"), false);
  },
});

Deno.test({
  ...NEEDS,
  name: "import names junk and duplicates, and loses nothing",
  fn: async () => {
    await using bench = new Bench();
    const before = await fillHostLocal(bench, 3);
    const directory = `${bench.directory}/hl/cbr0`;
    const plant = (name: string, text: string) => Deno.writeTextFile(`${directory}/${name}`, text);
    await plant("10.64.0.50", ""); // power was lost while it was written
    await plant("10.64.0.51", "ancient-id"); // an old host-local wrote no interface
    await plant("fd64:0:0::2", "twin\r\neth0"); // the address of old-0, spelled otherwise
    await plant("notes.txt", "remember the milk");
    await plant("last_reserved_ip.7", "nonsense");
    await Deno.mkdir(`${directory}/10.64.0.60`);

    const ours = config("headcni-ipam", bench.data);
    const taken = await bench.call({
      command: "ADD",
      id: "pod-9",
      config: ours,
      args: "IgnoreUnknown=1;IP=10.64.0.3,fd64::99",
    });
    assertEquals(addressesOf(taken)[0], "10.64.0.3"); // which host-local gave to old-1

    const { code, json } = await bench.ipam("import", "host-local", directory, "--json");
    assertEquals(code, 3);
    const [report] = json;
    assertEquals([report.imported, report.present], [7, 0], JSON.stringify(report));
    const text = JSON.stringify(report.duplicates);
    assertStringIncludes(text, "10.64.0.3 (old-1): pod-9 eth0 holds it in the store");
    assertStringIncludes(text, "also in file");
    assertEquals(report.junk.map((line: string) => line.replace(/:.*/, "")), [
      "10.64.0.60",
      "last_reserved_ip.7",
      "notes.txt",
    ]);
    assertEquals(report.warnings.map((line: string) => line.replace(/:.*/, "")), [
      "10.64.0.50",
      "10.64.0.51",
    ]);

    const held = await heldByUs(bench);
    assertEquals(held.get("old-0"), before.get("old-0"));
    assertEquals(held.get("old-1"), before.get("old-1")?.slice(1));
    assertEquals(held.get("old-2"), before.get("old-2"));
    assertEquals(held.get("ancient-id"), ["10.64.0.51"]);
    const empty = await bench.ipam("show", "10.64.0.50", "--json");
    assertEquals(empty.json[0].state, "found");
    // Nothing was changed there.
    assertEquals(await Deno.readTextFile(`${directory}/notes.txt`), "remember the milk");
  },
});
