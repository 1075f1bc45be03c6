/**
 * What the way between two pods can carry: ours beside Debian's bridge, interleaved.
 *
 * `deno task bench:path [--rounds N] [--save]`. Throughput with iperf3, one TCP stream; round
 * trips with ping, one after the other. Both sides have the same MTU. Ours is routed through the
 * node, with source check and connection tracking; a bridge only switches.
 */

import { type Chain, OWN_NETWORK, PEER_NETWORK, type Plugin } from "./cni/chains.ts";
import { BenchNode } from "./cni/runner.ts";
import { checkNeeds } from "./needs.ts";
import { markdownTable, median, print } from "./report.ts";
import { describeMachine, describeRun, saveRun } from "./results_file.ts";

const PROGRAM = Deno.env.get("HEADCNI_BINARY") ??
  new URL("../dist/headcni", import.meta.url).pathname;
const DEFAULT_ROUNDS = 16;
const SECONDS = 1;
const PINGS = 20_000;
const MTU = 1500;
/** Ours may lose so much and no more; latency likewise, the other way round. */
const TARGET_RATIO = 0.95;

/** Two pods of one node. */
class Pair implements Disposable {
  readonly title: string;
  readonly #node: BenchNode;
  readonly #client: string;
  readonly #address: string;
  readonly #server: Deno.ChildProcess;

  constructor(parts: { title: string; node: BenchNode; names: string[]; address: string }) {
    const [client = "", server = ""] = parts.names;
    this.title = parts.title;
    this.#node = parts.node;
    this.#client = client;
    this.#address = parts.address;
    this.#server = inPod(server, ["iperf3", "--server"], { stdout: "null", stderr: "null" })
      .spawn();
  }

  /** Gigabits per second. */
  throughput(): number {
    const args = ["iperf3", "--client", this.#address, "--time", String(SECONDS), "--json"];
    const { end } = JSON.parse(output(this.#client, args));
    return end.sum_received.bits_per_second / 1e9;
  }

  /** Microseconds per round trip: ping's own average has too few digits for a veth. */
  roundTripUs(): number {
    const text = output(this.#client, ["ping", "-q", "-f", "-c", String(PINGS), this.#address]);
    const [, received, totalMs] = / (\d+) received, .* time (\d+)ms/.exec(text) ?? [];
    if (Number(received) !== PINGS) throw new Error(`Cannot measure, packets were lost: ${text}`);
    return Number(totalMs) * 1000 / PINGS;
  }

  [Symbol.dispose](): void {
    this.#server.kill();
    this.#node[Symbol.dispose]();
  }
}

function inPod(name: string, command: readonly string[], options: Deno.CommandOptions = {}) {
  const args = [`--net=/run/netns/${name}`, "--", ...command];
  return new Deno.Command("nsenter", { ...options, args, stdin: "null" });
}

function output(name: string, command: readonly string[]): string {
  const { success, stdout, stderr } = inPod(name, command).outputSync();
  const text = new TextDecoder();
  if (success) return text.decode(stdout);
  throw new Error(`Cannot run ${command.join(" ")}: ${text.decode(stderr)}${text.decode(stdout)}`);
}

async function attachPair(title: string, chain: Chain): Promise<Pair> {
  const node = new BenchNode(PROGRAM.replace(/\/[^/]*$/, ""));
  const names = [node.addPod(), node.addPod()];
  let address = "";
  for (const name of names) {
    const { result } = await node.add(chain, { name, containerId: name });
    address = (result as { ips: { address: string }[] }).ips[0]?.address.replace(/\/.*/, "") ?? "";
  }
  return new Pair({ title, node, names, address });
}

function chainOf(network: string, plugin: Plugin): Chain {
  return { title: plugin.type, network, plugins: [{ ...plugin, mtu: MTU }] };
}

interface Comparison {
  readonly unit: string;
  /** Ours and the peer's, one per round. */
  readonly values: readonly number[][];
  /** Above one is better. */
  readonly compare: (own: number, peer: number) => number;
}

/** The ratio is the middle of the rounds' ratios: the machine's speed changes with time. */
function row(what: string, measured: Comparison): string[] {
  const { unit, values: [own = [], peer = []], compare } = measured;
  const ratio = median(own.map((value, round) => compare(value, peer[round] ?? NaN)));
  const amounts = [own, peer].map((values) => `${median(values).toFixed(1)} ${unit}`);
  const verdict = ratio >= TARGET_RATIO ? "met" : "**MISSED**";
  return [what, ...amounts, ratio.toFixed(2), `≥ ${TARGET_RATIO}`, verdict];
}

async function main(): Promise<void> {
  checkNeeds();
  const at = Deno.args.indexOf("--rounds");
  const rounds = at < 0 ? DEFAULT_ROUNDS : Number(Deno.args[at + 1]);
  const directory = await Deno.makeTempDir();
  try {
    const ipam = { type: "host-local", subnet: "10.98.0.0/24", dataDir: `${directory}/peers` };
    const bridge = { type: "bridge", bridge: "cni0", isGateway: true, ipMasq: true, ipam };
    const headcni = { type: "headcni", pod_cidr: "10.98.0.0/24", dataDir: `${directory}/own` };
    using own = await attachPair("headcni", chainOf(OWN_NETWORK, headcni));
    using peer = await attachPair("bridge", chainOf(PEER_NETWORK, bridge));
    const measured = { throughput: [[], []] as number[][], roundTrip: [[], []] as number[][] };
    for (let round = 0; round < rounds; round++) {
      const order = [own, peer].map((pair, index) => ({ pair, index }));
      for (const { pair, index } of round % 2 === 0 ? order : order.toReversed()) {
        measured.throughput[index]?.push(pair.throughput());
        measured.roundTrip[index]?.push(pair.roundTripUs());
      }
    }
    const { throughput, roundTrip } = measured;
    const title = await describeRun("bench:path");
    const lines = [
      `${describeMachine()} Median of ${rounds} interleaved rounds, MTU ${MTU}.`,
      "",
      ...markdownTable(["pod to pod", "headcni", "bridge", "ratio", "target", ""], [
        row("throughput, one TCP stream", {
          unit: "Gbit/s",
          values: throughput,
          compare: (own, peer) => own / peer,
        }),
        row("round trip, ping without a pause", {
          unit: "µs",
          values: roundTrip,
          compare: (own, peer) => peer / own,
        }),
      ]),
    ];
    print([title, "", ...lines]);
    if (Deno.args.includes("--save")) await saveRun(title, lines);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

if (import.meta.main) await main();
