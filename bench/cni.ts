/**
 * What a pod's network costs: ours beside Debian's plugins, in one interleaved run.
 *
 * `deno task bench:cni [--rounds N] [--save]`. Every round attaches and detaches one pod with
 * each chain, so whatever else the machine does hits all alike; medians are compared. Nodes and
 * pods are namespaces of the benchmark's own. The stores are filled with attachments that exist
 * nowhere else; the kernel's tables are not.
 */

import { compileEmpty } from "../tools/build/empty_program.ts";
import {
  type Chain,
  type ChainName,
  chains,
  type StorePlaces,
  SUBNET_FILE_TEXT,
} from "./cni/chains.ts";
import { fill } from "./cni/fill.ts";
import { reportLines } from "./cni/report_tables.ts";
import { BenchNode, type Cost } from "./cni/runner.ts";
import { type Measured } from "./cni/targets.ts";
import { checkNeeds } from "./needs.ts";
import { print } from "./report.ts";
import { describeMachine, describeRun, saveRun } from "./results_file.ts";

const PROGRAM = Deno.env.get("HEADCNI_BINARY") ??
  new URL("../dist/headcni", import.meta.url).pathname;

/** How many attachments exist, and the share of the rounds spent on it: peers get slow. */
const FILLS: readonly (readonly [attachments: number, share: number])[] = [
  [0, 1],
  [2_000, 0.5],
  [16_000, 0.3],
];

const DEFAULT_ROUNDS = 30;

/** Runs that are not counted: they load the packet filter and warm the caches. */
const WARM_UP = 2;

class Bench {
  readonly #own: BenchNode;
  readonly #ownPod: string;
  readonly #peers: BenchNode;
  readonly #peerPod: string;
  readonly #empty: string;
  readonly #chains: Readonly<Record<ChainName, Chain>>;
  #calls = 0;

  constructor(nodes: { own: BenchNode; peers: BenchNode }, empty: string, places: StorePlaces) {
    this.#own = nodes.own;
    this.#ownPod = nodes.own.addPod();
    this.#peers = nodes.peers;
    this.#peerPod = nodes.peers.addPod();
    this.#empty = empty;
    this.#chains = chains(places);
  }

  /** Measures all chains and the empty program at this fill. */
  async measure(attachments: number, rounds: number): Promise<Measured> {
    const names = Object.keys(this.#chains) as ChainName[];
    const costs = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
      [name in ChainName]: { add: Cost; del: Cost }[];
    };
    const empty: Cost[] = [];
    for (let round = -WARM_UP; round < rounds; round++) {
      for (const name of shuffled([...names, "empty" as const])) {
        if (name === "empty") {
          const cost = await this.#own.run(this.#empty);
          if (round >= 0) empty.push(cost);
        } else {
          const cost = await this.#attachAndDetach(this.#chains[name]);
          if (round >= 0) costs[name].push(cost);
        }
      }
    }
    return { attachments, chains: costs, empty };
  }

  async #attachAndDetach(chain: Chain): Promise<{ add: Cost; del: Cost }> {
    const isOwn = chain.plugins[0]?.type === "headcni";
    const node = isOwn ? this.#own : this.#peers;
    const name = isOwn ? this.#ownPod : this.#peerPod;
    const pod = { name, containerId: `bench${++this.#calls}`.padEnd(64, "0") };
    const { result, ...add } = await node.add(chain, pod);
    return { add, del: await node.del(chain, pod, result) };
  }
}

/**
 * In another order each round. A program starts several milliseconds faster right after one like
 * it than after twenty calls of iptables; in a fixed order each would always have the same
 * neighbour.
 */
function shuffled<T>(items: T[]): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}

function readArguments(args: readonly string[]): { rounds: number; save: boolean } {
  const at = args.indexOf("--rounds");
  const rounds = at < 0 ? DEFAULT_ROUNDS : Number(args[at + 1]);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error("Cannot use --rounds: it needs a positive number");
  }
  return { rounds, save: args.includes("--save") };
}

async function main(): Promise<void> {
  checkNeeds();
  const { rounds, save } = readArguments(Deno.args);
  const directory = await Deno.makeTempDir();
  try {
    const empty = await compileEmpty(directory);
    const places = {
      hostLocal: `${directory}/host-local`,
      headcni: `${directory}/headcni`,
      subnetFile: `${directory}/subnet.env`,
    };
    await Deno.writeTextFile(places.subnetFile, SUBNET_FILE_TEXT);
    const programs = PROGRAM.replace(/\/[^/]*$/, "");
    using own = new BenchNode(programs);
    using peers = new BenchNode(programs);
    const bench = new Bench({ own, peers }, empty, places);
    const all: Measured[] = [];
    let filled = 0;
    for (const [attachments, share] of FILLS) {
      await fill(places, filled, attachments);
      filled = attachments;
      all.push(await bench.measure(attachments, Math.max(1, Math.round(rounds * share))));
    }
    const title = await describeRun("bench:cni");
    const lines = [describeMachine(), "", ...reportLines(all)];
    print([title, "", ...lines]);
    if (save) await saveRun(title, lines);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

if (import.meta.main) await main();
