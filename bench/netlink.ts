/**
 * lib/netlink beside `ip`, in the same interleaved run: what a CNI ADD does to the network, and
 * long lists.
 *
 * ```sh
 * deno run -A bench/netlink.ts   # as root
 * ```
 *
 * The comparison is between the two ways a plugin has: call the kernel itself, or run `ip`. The
 * times of `ip` therefore hold the start of its processes; for ADD there are two, because a batch
 * stays in one namespace, just as we need two sockets.
 */

import { createNetns, deleteNetns } from "../lib/netlink/named_netns.ts";
import {
  addRoute,
  createVeth,
  deleteLink,
  listLinks,
  listRoutes,
  type NetlinkConnection,
  type Netns,
  openConnection,
} from "../lib/netlink/mod.ts";
import { RT_TABLE_MAIN, RTN_BLACKHOLE } from "../lib/netlink/constants/rtnetlink.ts";
import { parseAddress, Prefix } from "../lib/ip/mod.ts";
import { addPod, HOST_COMMANDS, POD_COMMANDS } from "./netlink_add.ts";
import { median, print } from "./report.ts";

const ROUNDS = 40;
const COLD_ROUNDS = 20;
const LIST_ROUNDS = 15;
const ROUTES = 10_000;
const LINKS = 2_000;

function run(program: string, ...args: readonly string[]): void {
  const { success, stderr } = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
  }).outputSync();
  if (!success) {
    throw new Error(`Cannot run ${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  }
}

function timeMs(fn: () => void): number {
  const start = performance.now();
  fn();
  return performance.now() - start;
}

/** Medians of two rivals that take turns, neither always first. */
function race(rounds: number, ours: () => number, theirs: () => number): [number, number] {
  const times: [number[], number[]] = [[], []];
  for (let round = -2; round < rounds; round++) {
    const order = round % 2 === 0 ? [0, 1] as const : [1, 0] as const;
    for (const side of order) {
      const elapsed = side === 0 ? ours() : theirs();
      if (round >= 0) times[side].push(elapsed);
    }
  }
  return [median(times[0]), median(times[1])];
}

interface Line {
  readonly what: string;
  readonly ours: number;
  readonly theirs: number;
  readonly target?: number;
}

function format({ what, ours, theirs, target }: Line): string {
  const ratio = ours / theirs;
  const verdict = target === undefined
    ? ""
    : `${target.toFixed(1)}  ${ratio <= target ? "met" : "MISSED"}`;
  const cells = [ours, theirs].map((time) => `${time.toFixed(2)} ms`.padStart(10));
  return `${what.padEnd(44)}${cells.join("")}${ratio.toFixed(2).padStart(8)}   ${verdict}`;
}

/** The two namespaces of the race, one playing the host. */
class Stage implements Disposable {
  readonly host: Netns = createNetns("hcnt-bench-host");
  readonly pod: Netns = createNetns("hcnt-bench-pod");
  readonly directory: string = Deno.makeTempDirSync();
  readonly connection: NetlinkConnection = openConnection({ netns: this.host });

  constructor() {
    Deno.writeTextFileSync(`${this.directory}/host`, `${HOST_COMMANDS.join("\n")}\n`);
    Deno.writeTextFileSync(`${this.directory}/pod`, `${POD_COMMANDS.join("\n")}\n`);
  }

  /** Not part of the times: deleting a veth is the kernel's business. */
  clear(): void {
    this.connection.execute(deleteLink({ name: "hcni0" }));
  }

  ours(): number {
    const elapsed = timeMs(() => addPod("/run/netns/hcnt-bench-host", "/run/netns/hcnt-bench-pod"));
    this.clear();
    return elapsed;
  }

  /** The same in a process that has done nothing yet: libraries not loaded, code not compiled. */
  oursCold(): number {
    const { stdout, success } = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--node-modules-dir=none"],
        new URL("netlink_add.ts", import.meta.url).pathname,
        ...["/run/netns/hcnt-bench-host", "/run/netns/hcnt-bench-pod"],
      ],
    }).outputSync();
    if (!success) throw new Error("Cannot measure a new process: it failed");
    this.clear();
    return Number(new TextDecoder().decode(stdout));
  }

  theirs(): number {
    const elapsed = timeMs(() => {
      run("ip", "-n", "hcnt-bench-host", "-batch", `${this.directory}/host`);
      run("ip", "-n", "hcnt-bench-pod", "-batch", `${this.directory}/pod`);
    });
    this.clear();
    return elapsed;
  }

  [Symbol.dispose](): void {
    this.connection[Symbol.dispose]();
    this.host[Symbol.dispose]();
    this.pod[Symbol.dispose]();
    deleteNetns("hcnt-bench-host");
    deleteNetns("hcnt-bench-pod");
    Deno.removeSync(this.directory, { recursive: true });
  }
}

function benchAdd(): Line[] {
  using stage = new Stage();
  const theirs = () => stage.theirs();
  const [warm, ipWarm] = race(ROUNDS, () => stage.ours(), theirs);
  const [cold, ipCold] = race(COLD_ROUNDS, () => stage.oursCold(), theirs);
  return [
    { what: "ADD sequence / 2 × ip -batch", ours: warm, theirs: ipWarm, target: 0.6 },
    { what: "the same, first in its process", ours: cold, theirs: ipCold },
  ];
}

/** Runs `bench` in a namespace that goes away. */
function inNamespace(name: string, bench: (connection: NetlinkConnection) => Line): Line {
  using netns = createNetns(name);
  try {
    using connection = openConnection({ netns });
    return bench(connection);
  } finally {
    deleteNetns(name);
  }
}

function benchRoutes(): Line {
  return inNamespace("hcnt-bench-routes", (connection) => {
    const first = parseAddress("10.0.0.0");
    connection.batch(
      Array.from({ length: ROUTES }, (_, n) =>
        addRoute({
          destination: new Prefix(first.offset(BigInt(n) * 256n), 24),
          type: RTN_BLACKHOLE,
        })),
    );
    const list = () => {
      const { length } = listRoutes(connection, { family: 4, table: RT_TABLE_MAIN });
      if (length !== ROUTES) throw new Error(`Cannot measure: ${length} routes`);
    };
    const [ours, theirs] = race(
      LIST_ROUNDS,
      () => timeMs(list),
      () => timeMs(() => run("ip", "-n", "hcnt-bench-routes", "-json", "route")),
    );
    return { what: "10,000 routes / ip -json route", ours, theirs, target: 1.0 };
  });
}

function benchLinks(): Line {
  return inNamespace("hcnt-bench-links", (connection) => {
    connection.batch(
      Array.from(
        { length: LINKS / 2 },
        (_, n) => createVeth({ name: `left${n}`, peer: { name: `right${n}` } }),
      ),
    );
    const [ours, theirs] = race(
      LIST_ROUNDS,
      () => timeMs(() => listLinks(connection)),
      () => timeMs(() => run("ip", "-n", "hcnt-bench-links", "-json", "link")),
    );
    return { what: "2,000 links / ip -json link", ours, theirs };
  });
}

const lines = [...benchAdd(), benchRoutes(), benchLinks()];
print([
  `medians of ${ROUNDS} (ADD), ${COLD_ROUNDS} (first in its process) and ${LIST_ROUNDS} (lists) interleaved runs`,
  "times of ip include the start of its processes; ours are inside a running process,",
  "which for the second line has not loaded libraries or compiled code before",
  "",
  `${"ours / theirs".padEnd(44)}${"ours".padStart(10)}${"ip".padStart(10)}   ratio   target`,
  ...lines.map(format),
]);
Deno.exit(lines.some(({ ours, theirs, target = Infinity }) => ours / theirs > target) ? 1 : 0);
