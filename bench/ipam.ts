/**
 * What an address costs: headcni-ipam beside Debian's host-local, with more and more addresses
 * given out already.
 *
 * Both are called as a network plugin calls them: a process per ADD and per DEL, the
 * configuration on standard input, one /16. Runs are interleaved, so that whatever else the
 * machine does hits both alike. Addresses given out before are scattered over the pool at
 * random: for runs of taken addresses that is the worst case. Run by `deno task bench:ipam`.
 */

import { type IpAddress } from "../lib/ip/mod.ts";
import { parsePoolConfig } from "../lib/ipam/mod.ts";
import { withStore } from "../lib/store/mod.ts";
import { seededRandom } from "../lib/sys/testing.ts";
import { median, print } from "./report.ts";

const PROGRAM = Deno.env.get("HEADCNI_BINARY") ??
  new URL("../dist/headcni", import.meta.url).pathname;
const HOST_LOCAL = "/usr/lib/cni/host-local";
const SUBNET = "10.88.0.0/16";
const SIZES = [0, 250, 2_000, 16_000, 60_000];
/** Not more: host-local takes up to a second per call. */
const ROUNDS = 21;
const WARM_UP = 2;
/** Ours at any size, beside ours when empty. */
const TARGET_RATIO = 1.2;

type Verb = "ADD" | "DEL";
type Plugin = "headcni-ipam" | "host-local";
type Times = Record<Plugin, Record<Verb, number[]>>;

/** Addresses of the pool in an order that repeats. */
function shuffled(): IpAddress[] {
  const [range] = parsePoolConfig({ subnet: SUBNET }).sets[0]?.candidates ?? [];
  if (range === undefined) throw new Error("Cannot fill the pool: it is empty");
  const addresses = Array.from({ length: Number(range.size) }, (_, i) => range.at(BigInt(i)));
  const random = seededRandom(4);
  for (let i = addresses.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    const [a, b] = [addresses[i], addresses[j]];
    if (a !== undefined && b !== undefined) [addresses[i], addresses[j]] = [b, a];
  }
  return addresses;
}

async function fillOurs(directory: string, addresses: readonly IpAddress[]): Promise<void> {
  const options = {
    directory,
    observe: () => Promise.resolve([]),
    database: { synchronous: "OFF" },
  } as const;
  await withStore(options, (store) =>
    store.transaction(() => {
      const network = store.ensureNetwork("bench");
      for (const [index, address] of addresses.entries()) {
        const key = { containerId: `filler-${index}`, ifname: "eth0" };
        const attachment = network.attachments.add(key, {}, Date.now());
        network.hold(address, { kind: "held", attachment });
      }
    }));
}

async function fillHostLocal(directory: string, addresses: readonly IpAddress[]): Promise<void> {
  await Deno.mkdir(`${directory}/bench`, { recursive: true });
  for (const [index, address] of addresses.entries()) {
    await Deno.writeTextFile(`${directory}/bench/${address}`, `filler-${index}\r\neth0`);
  }
}

function call(plugin: Plugin, verb: Verb, options: { directory: string; id: string }): number {
  const config = {
    cniVersion: "1.0.0",
    name: "bench",
    type: "bench",
    ipam: { type: plugin, subnet: SUBNET, dataDir: options.directory },
  };
  const env = {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: options.id,
    CNI_NETNS: "/proc/self/ns/net",
    CNI_IFNAME: "eth0",
    CNI_PATH: "/usr/lib/cni",
  };
  // Both by a shell that reads the configuration from a file: Deno follows the link that
  // says which plugin is meant, and its own pipes would be part of the time.
  const input = `${options.directory}.json`;
  Deno.writeTextFileSync(input, JSON.stringify(config));
  const program = plugin === "host-local" ? HOST_LOCAL : `${LINKS}/headcni-ipam`;
  const command = new Deno.Command("/bin/sh", {
    args: ["-c", 'exec "$0" < "$1"', program, input],
    clearEnv: true,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const start = performance.now();
  const { success, stdout } = command.outputSync();
  const elapsed = performance.now() - start;
  if (!success) throw new Error(`Cannot measure ${plugin}: ${new TextDecoder().decode(stdout)}`);
  return elapsed;
}

/** One ADD and DEL of both plugins in the pool filled up to each size, in turns. */
function measureRound(directory: string, round: number, times: readonly Times[]): void {
  const order: Plugin[] = ["headcni-ipam", "host-local"];
  if (round % 2 !== 0) order.reverse();
  for (const [index, size] of SIZES.entries()) {
    for (const plugin of order) {
      for (const verb of ["ADD", "DEL"] as const) {
        const place = {
          directory: `${directory}/${size}/${plugin}`,
          id: `bench-${round + WARM_UP}`,
        };
        const elapsed = call(plugin, verb, place);
        if (round >= 0) times[index]?.[plugin][verb].push(elapsed);
      }
    }
  }
}

/** How much longer ours takes than when empty. */
function growth(verb: Verb, times: Times, base: Times): number {
  return median(times["headcni-ipam"][verb]) / median(base["headcni-ipam"][verb]);
}

function row(size: number, times: Times, base: Times): string {
  const cells = (["ADD", "DEL"] as const).flatMap((verb) => {
    const ours = median(times["headcni-ipam"][verb]);
    const theirs = median(times["host-local"][verb]);
    const numbers = [ours.toFixed(1), theirs.toFixed(1)];
    return [...numbers, (ours / theirs).toFixed(2), growth(verb, times, base).toFixed(2)];
  });
  return [`${size}`, ...cells].map((cell) => cell.padStart(11)).join("");
}

const directory = await Deno.makeTempDir();
const LINKS = `${directory}/bin`;

await Deno.mkdir(LINKS);
await Deno.symlink(PROGRAM, `${LINKS}/headcni-ipam`);
try {
  const addresses = shuffled();
  for (const size of SIZES) {
    await Deno.mkdir(`${directory}/${size}`);
    await fillOurs(`${directory}/${size}/headcni-ipam`, addresses.slice(0, size));
    await fillHostLocal(`${directory}/${size}/host-local`, addresses.slice(0, size));
  }
  const times = SIZES.map((): Times => ({
    "headcni-ipam": { ADD: [], DEL: [] },
    "host-local": { ADD: [], DEL: [] },
  }));
  for (let round = -WARM_UP; round < ROUNDS; round++) measureRound(directory, round, times);
  const [base] = times;
  if (base === undefined) throw new Error("Cannot compare: nothing was measured");
  const worst = Math.max(
    ...times.flatMap((one) => [growth("ADD", one, base), growth("DEL", one, base)]),
  );
  const columns = ["given out", "ADD ours", "host-local", "ratio", "growth"];
  print([
    `ADD and DEL in ${SUBNET}, milliseconds, median of ${ROUNDS} interleaved runs each:`,
    [...columns, "DEL ours", ...columns.slice(2)].map((text) => text.padStart(11)).join(""),
    ...times.map((one, index) => row(SIZES[index] ?? 0, one, base)),
    `growth of ours, worst: ${worst.toFixed(2)} (target: at most ${TARGET_RATIO}) ${
      worst <= TARGET_RATIO ? "met" : "MISSED"
    }`,
  ]);
} finally {
  await Deno.remove(directory, { recursive: true });
}
