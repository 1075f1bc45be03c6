/** What we promise beside Debian's plugins, and whether a run keeps it. Pure. */

import { median } from "../report.ts";
import { type ChainName } from "./chains.ts";
import { type Cost } from "./runner.ts";

/** What is measured of a chain: the two calls, and both together. */
export type Verb = "ADD" | "DEL" | "ADD+DEL";

/** All costs of one chain at one fill, one entry per round. */
export type Rounds = readonly { readonly add: Cost; readonly del: Cost }[];

/** Everything measured at one fill. */
export interface Measured {
  readonly attachments: number;
  readonly chains: Readonly<Record<ChainName, Rounds>>;
  readonly empty: readonly Cost[];
}

/** One promise: ours costs at most `atMost` times what the peer does. */
export interface Target {
  readonly own: ChainName;
  readonly peer: ChainName;
  readonly verb: Verb;
  readonly atMost: number;
  /** Only at this fill; else at every one. */
  readonly attachments?: number;
}

/** The promises, by wall time. */
export const TARGETS: readonly Target[] = [
  { own: "plain", peer: "ptp", verb: "ADD", atMost: 1.3 },
  { own: "plain", peer: "ptp", verb: "DEL", atMost: 0.75 },
  { own: "plain", peer: "ptp", verb: "ADD+DEL", atMost: 0.8 },
  { own: "plain", peer: "bridge", verb: "ADD+DEL", atMost: 0.8 },
  { own: "ports", peer: "bridgePorts", verb: "ADD", atMost: 0.7 },
  { own: "ports", peer: "bridgePorts", verb: "ADD+DEL", atMost: 0.5 },
  { own: "all", peer: "ptpAll", verb: "ADD", atMost: 0.5 },
  { own: "all", peer: "ptpAll", verb: "ADD+DEL", atMost: 0.4 },
  { own: "plain", peer: "ptp", verb: "ADD", atMost: 0.2, attachments: 16_000 },
];

/** What ADD may cost beside a program that does nothing, in milliseconds. */
export const MOST_OVER_EMPTY_MS = 9;

/** What the meta-plugin may add to its delegate, in starts of a program that does nothing. */
export const MOST_OVER_DELEGATE = 2;

/** What a call through the meta-plugin costs on top of calling bridge directly. */
export function overDelegate(
  { chains: { delegate, bridge }, empty }: Measured,
  verb: Verb,
): Cost & { readonly starts: number } {
  const over = (key: keyof Cost) =>
    delegate.flatMap((round, index) => {
      const direct = bridge[index];
      if (direct === undefined) return [];
      return [roundCost(round, verb)[key] - roundCost(direct, verb)[key]];
    });
  const wall = over("wallMs");
  const starts = wall.map((ms, index) => ms / (empty[index]?.wallMs ?? NaN));
  return { wallMs: median(wall), cpuMs: median(over("cpuMs")), starts: median(starts) };
}

/** What one round cost. */
function roundCost({ add, del }: Rounds[number], verb: Verb): Cost {
  if (verb !== "ADD+DEL") return verb === "ADD" ? add : del;
  return { wallMs: add.wallMs + del.wallMs, cpuMs: add.cpuMs + del.cpuMs };
}

/** The middle cost of a chain. */
export function costOf(rounds: Rounds, verb: Verb): Cost {
  const costs = rounds.map((round) => roundCost(round, verb));
  return {
    wallMs: median(costs.map(({ wallMs }) => wallMs)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
  };
}

/**
 * The middle of the rounds' ratios: what runs a second apart runs on the same machine, and a
 * virtual one may be half as fast a minute later.
 */
function ratioOf(own: Rounds, peer: Rounds, of: { verb: Verb; key: keyof Cost }): number {
  return median(own.flatMap((round, index) => {
    const other = peer[index];
    if (other === undefined) return [];
    return [roundCost(round, of.verb)[of.key] / roundCost(other, of.verb)[of.key]];
  }));
}

/** A promise and what became of it. */
export interface Verdict extends Target {
  readonly ratio: number;
  readonly cpuRatio: number;
  readonly isMet: boolean;
}

/** The promises that hold at this fill; a stricter one replaces the general one. */
export function judge(measured: Measured): Verdict[] {
  const { attachments, chains } = measured;
  const special = TARGETS.filter((target) => target.attachments === attachments);
  const isReplaced = (one: Target) =>
    special.some(({ own, peer, verb }) =>
      own === one.own && peer === one.peer && verb === one.verb
    );
  const general = TARGETS.filter((one) => one.attachments === undefined && !isReplaced(one));
  return [...general, ...special].map((target) => {
    const [own, peer] = [chains[target.own], chains[target.peer]];
    const ratio = ratioOf(own, peer, { verb: target.verb, key: "wallMs" });
    const cpuRatio = ratioOf(own, peer, { verb: target.verb, key: "cpuMs" });
    return { ...target, ratio, cpuRatio, isMet: ratio <= target.atMost };
  });
}
