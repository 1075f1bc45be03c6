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

/** The middle cost of a chain. */
export function costOf(rounds: Rounds, verb: Verb): Cost {
  const of = (key: keyof Cost) =>
    median(rounds.map(({ add, del }) => {
      return verb === "ADD" ? add[key] : verb === "DEL" ? del[key] : add[key] + del[key];
    }));
  return { wallMs: of("wallMs"), cpuMs: of("cpuMs") };
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
    const own = costOf(chains[target.own], target.verb);
    const peer = costOf(chains[target.peer], target.verb);
    const ratio = own.wallMs / peer.wallMs;
    return { ...target, ratio, cpuRatio: own.cpuMs / peer.cpuMs, isMet: ratio <= target.atMost };
  });
}
