/**
 * Where the time of ADD and DEL goes, without a clock inside the program.
 *
 * `deno task bench:phases [--rounds N]`. The program is stopped at ever later places: by an input
 * it must refuse, or by a fail point that kills it (`lib/sys/failpoint.ts`). How much longer the
 * next place takes is the price of what lies between. Rounds are interleaved; a small phase on a
 * noisy machine may come out below zero.
 */

import { compileEmpty } from "../tools/build/empty_program.ts";
import { BenchNode, type BenchPod, callEnvironment, type Cost } from "./cni/runner.ts";
import { checkNeeds } from "./needs.ts";
import { markdownTable, median, print } from "./report.ts";
import { describeMachine, describeRun } from "./results_file.ts";

const PROGRAM = Deno.env.get("HEADCNI_BINARY") ??
  new URL("../dist/headcni", import.meta.url).pathname;
const DEFAULT_ROUNDS = 20;
const WARM_UP = 2;

/** A place to stop at, and what has been done when it is reached. */
interface Stop {
  readonly done: string;
  readonly command: "VERSION" | "ADD" | "DEL";
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Added to the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
}

function killAt(command: "ADD" | "DEL", point: string, done: string): Stop {
  return { done, command, env: { HEADCNI_FAILPOINT: `${point}:kill` } };
}

const NO_NETNS = { CNI_NETNS: "/run/netns/hcnb-none" };

const START: Stop = { done: "start, load the plugin's face, answer", command: "VERSION" };

const STOPS: Readonly<Record<"ADD" | "DEL", readonly Stop[]>> = {
  ADD: [
    START,
    { done: "load ADD, read the configuration", command: "ADD", config: { mtu: -1 } },
    { done: "open the C library", command: "ADD", env: NO_NETNS },
    killAt("ADD", "allocate.begin", "open namespaces, netlink sockets, the store"),
    killAt("ADD", "allocate.committed", "choose an address, commit it to disk"),
    killAt("ADD", "add.addresses", "close the store"),
    killAt("ADD", "add.veth", "make the veth"),
    killAt("ADD", "add.filter", "probe the packet filter, add the pod"),
    killAt("ADD", "add.host", "set up the host's end"),
    killAt("ADD", "add.container", "set up the container's end"),
    killAt("ADD", "add.routes", "route to the pod"),
    { done: "tell the result, end", command: "ADD" },
  ],
  DEL: [
    START,
    killAt("DEL", "del.interface", "load DEL, read the store, delete the interface"),
    killAt("DEL", "del.filter", "remove the pod from the packet filter"),
    killAt("DEL", "del.flows", "forget its connections"),
    { done: "release its addresses, end", command: "DEL" },
  ],
};

class Phases {
  readonly #node: BenchNode;
  readonly #pod: BenchPod;
  readonly #config: Readonly<Record<string, unknown>>;

  constructor(node: BenchNode, dataDir: string) {
    this.#node = node;
    this.#pod = { name: node.addPod(), containerId: "phases".padEnd(64, "0") };
    const network = { cniVersion: "1.0.0", name: "headcni", type: "headcni" };
    this.#config = { ...network, pod_cidr: "10.97.0.0/16", dataDir };
  }

  /** One run up to `stop`; the pod is as it was afterwards. */
  async cost(stop: Stop): Promise<Cost> {
    if (stop.command === "DEL") await this.#call({ done: "", command: "ADD" });
    const cost = await this.#call(stop);
    await this.#call({ done: "", command: "DEL" });
    return cost;
  }

  async #call({ command, env = {}, config = {} }: Stop): Promise<Cost> {
    return await this.#node.run(PROGRAM, {
      env: { ...callEnvironment(command, this.#pod), ...env },
      input: JSON.stringify({ ...this.#config, ...config }),
      mayFail: true,
    });
  }
}

/** Each phase is the middle of the rounds' differences: the machine's speed changes with time. */
function phaseTable(stops: readonly Stop[], costs: readonly Cost[][], empty: readonly Cost[]) {
  const middle = (of: readonly Cost[], key: keyof Cost) => median(of.map((cost) => cost[key]));
  const totals = (of: readonly Cost[]) => [middle(of, "wallMs"), middle(of, "cpuMs")];
  const format = (amounts: readonly number[]) => amounts.map((amount) => amount.toFixed(1));
  const [wall = "", cpu = ""] = format(totals(empty));
  const rows = [["an empty compiled program", wall, cpu, wall, cpu]];
  for (const [index, { done }] of stops.entries()) {
    const [before, reached] = [costs[index - 1] ?? empty, costs[index] ?? []];
    const differences = reached.map(({ wallMs, cpuMs }, round) => ({
      wallMs: wallMs - (before[round]?.wallMs ?? NaN),
      cpuMs: cpuMs - (before[round]?.cpuMs ?? NaN),
    }));
    rows.push([done, ...format(totals(differences)), ...format(totals(reached))]);
  }
  return markdownTable(["", "wall ms", "processor ms", "wall so far", "processor so far"], rows);
}

async function main(): Promise<void> {
  checkNeeds();
  const at = Deno.args.indexOf("--rounds");
  const rounds = at < 0 ? DEFAULT_ROUNDS : Number(Deno.args[at + 1]);
  const directory = await Deno.makeTempDir();
  try {
    const emptyProgram = await compileEmpty(directory);
    using node = new BenchNode("");
    const phases = new Phases(node, `${directory}/data`);
    const empty: Cost[] = [];
    const costs = { ADD: STOPS.ADD.map((): Cost[] => []), DEL: STOPS.DEL.map((): Cost[] => []) };
    for (let round = -WARM_UP; round < rounds; round++) {
      const started = await node.run(emptyProgram);
      if (round >= 0) empty.push(started);
      for (const command of ["ADD", "DEL"] as const) {
        for (const [index, stop] of STOPS[command].entries()) {
          const cost = await phases.cost(stop);
          if (round >= 0) costs[command][index]?.push(cost);
        }
      }
    }
    print([await describeRun("bench:phases"), "", describeMachine()]);
    for (const command of ["ADD", "DEL"] as const) {
      print(["", `### ${command}`, "", ...phaseTable(STOPS[command], costs[command], empty)]);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

if (import.meta.main) await main();
