/**
 * What a pod costs the packet filter, with 0, 2,000 and 16,000 pods there before it.
 *
 * Two columns: in a process that has done it often, and for the first time in a new process,
 * which is what a container runtime waits for. Works in a network namespace of its own. Run by
 * `deno task bench:firewall`, as root.
 */

import {
  addPod,
  ensureRuleset,
  isRulesetLoaded,
  podDifferences,
  type PodRules,
  removePod,
} from "../lib/firewall/mod.ts";
import { parseAddress } from "../lib/ip/mod.ts";
import { NETLINK_NETFILTER } from "../lib/netlink/constants/netlink.ts";
import {
  listLinks,
  type NetlinkConnection,
  openConnection,
  openNetns,
} from "../lib/netlink/mod.ts";
import { createNetns, deleteNetns, netnsPath } from "../lib/netlink/named_netns.ts";
import { run } from "../lib/sys/process.ts";
import { median, print } from "./report.ts";

const SIZES = [0, 2000, 16_000];
const WARM_ROUNDS = 200;
const COLD_ROUNDS = 10;

/** Dual-stack, masqueraded, checked, with a TCP and a UDP host port: eleven elements. */
function pod(number: number): PodRules {
  const hostPort = 1 + number;
  return {
    hostInterface: `hcni${number}`,
    addresses: [
      parseAddress("10.0.0.0").offset(BigInt(number)),
      parseAddress("fd00::").offset(BigInt(number)),
    ],
    masquerade: true,
    antiSpoof: true,
    hostPorts: [
      { protocol: "tcp", hostPort, containerPort: 80 },
      { protocol: "udp", hostPort, containerPort: 80 },
    ],
  };
}

type Times = Record<"probe" | "quick probe" | "add" | "check" | "remove", number>;

/** One pod in and out. */
function measure(connection: NetlinkConnection, number: number): Times {
  const rules = pod(number);
  const time = (action: () => unknown) => {
    const start = performance.now();
    action();
    return performance.now() - start;
  };
  return {
    "quick probe": time(() => isRulesetLoaded(connection, { quick: true })),
    probe: time(() => isRulesetLoaded(connection)),
    add: time(() => addPod(connection, rules)),
    check: time(() => podDifferences(connection, rules)),
    remove: time(() => removePod(connection, rules)),
  };
}

function medians(rounds: readonly Times[]): Times {
  const of = (key: keyof Times) => median(rounds.map((times) => times[key]));
  return {
    "quick probe": of("quick probe"),
    probe: of("probe"),
    add: of("add"),
    check: of("check"),
    remove: of("remove"),
  };
}

/** The child's part: everything for the first time, but netlink itself, which ADD has used. */
function measureCold(namespace: string): Times {
  using netns = openNetns(netnsPath(namespace));
  using route = openConnection({ netns });
  listLinks(route);
  using connection = openConnection({ netns, protocol: NETLINK_NETFILTER });
  return measure(connection, 50_000);
}

async function coldRound(namespace: string): Promise<Times> {
  const args = ["run", "--node-modules-dir=none", "-A", import.meta.filename ?? "", namespace];
  const { stdout } = await run(Deno.execPath(), args, { check: true });
  return JSON.parse(stdout);
}

function row(pods: number, warm: Times, cold: Times): string {
  const cells = (Object.keys(warm) as (keyof Times)[])
    .map((key) => `${key} ${warm[key].toFixed(2)} / ${cold[key].toFixed(2)}`);
  return `${String(pods).padStart(6)} pods   ${cells.join("   ")}`;
}

async function main(): Promise<void> {
  const namespace = `hcnt-${crypto.randomUUID().slice(0, 8)}`;
  using netns = createNetns(namespace);
  try {
    using connection = openConnection({ netns, protocol: NETLINK_NETFILTER });
    const start = performance.now();
    await ensureRuleset(connection, {
      run: (command, args, { clearEnv: _, ...options } = {}) =>
        run("ip", ["netns", "exec", namespace, command, ...args], options),
    });
    const load = (performance.now() - start).toFixed(0);
    print([`load ${load} ms; then milliseconds, often / for the first time in a process:`]);
    let there = 0;
    for (const size of SIZES) {
      for (; there < size; there++) addPod(connection, pod(there));
      const warm = Array.from({ length: WARM_ROUNDS }, () => measure(connection, 50_000));
      const cold: Times[] = [];
      for (let round = 0; round < COLD_ROUNDS; round++) cold.push(await coldRound(namespace));
      print([row(size, medians(warm), medians(cold))]);
    }
  } finally {
    deleteNetns(namespace);
  }
}

const [namespace] = Deno.args;
if (namespace === undefined) await main();
else print([JSON.stringify(measureCold(namespace))]);
