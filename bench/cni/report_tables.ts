/** A run as Markdown. */

import { markdownTable, median } from "../report.ts";
import { type ChainName, chains, NOWHERE } from "./chains.ts";
import { type Cost } from "./runner.ts";
import {
  costOf,
  judge,
  type Measured,
  MOST_OVER_DELEGATE,
  MOST_OVER_EMPTY_MS,
  overDelegate,
  type Verb,
} from "./targets.ts";

const VERBS: readonly Verb[] = ["ADD", "DEL", "ADD+DEL"];

/** Everything measured, and what became of the promises. */
export function reportLines(all: readonly Measured[]): string[] {
  return all.flatMap((measured) => [
    `### ${measured.attachments.toLocaleString("en")} attachments in the store, ` +
    `median of ${measured.empty.length}`,
    "",
    ...costTable(measured),
    "",
    ...verdictTable(measured),
    "",
  ]);
}

function costTable({ chains: measured, empty }: Measured): string[] {
  const titles = chains(NOWHERE);
  const rows = (Object.keys(titles) as ChainName[]).map((name) => {
    const cells = VERBS.map((verb) => {
      const { wallMs, cpuMs } = costOf(measured[name], verb);
      return `${wallMs.toFixed(1)} (${cpuMs.toFixed(1)})`;
    });
    return [titles[name].title, ...cells];
  });
  const wall = median(empty.map(({ wallMs }) => wallMs)).toFixed(1);
  const cpu = median(empty.map(({ cpuMs }) => cpuMs)).toFixed(1);
  rows.push(["an empty compiled program", `${wall} (${cpu})`, "", ""]);
  return markdownTable(["wall ms (processor ms)", ...VERBS], rows);
}

function verdictTable(measured: Measured): string[] {
  const titles = chains(NOWHERE);
  const rows = judge(measured).map(({ own, peer, verb, atMost, ratio, cpuRatio, isMet }) => [
    `${verb}: ${titles[own].title} / ${titles[peer].title}`,
    ratio.toFixed(2),
    cpuRatio.toFixed(2),
    `≤ ${atMost}`,
    isMet ? "met" : "**MISSED**",
  ]);
  if (measured.attachments === 0) rows.push(overEmpty(measured));
  rows.push(...(["ADD", "DEL"] as const).map((verb) => overBridge(measured, verb)));
  return markdownTable(["ratio", "wall", "processor", "target (wall)", ""], rows);
}

/** The overhead of the meta-plugin; the start of a program is most of it. */
function overBridge(measured: Measured, verb: Verb): string[] {
  const { wallMs, cpuMs, starts } = overDelegate(measured, verb);
  return [
    `${verb}: headcni delegate minus bridge, in empty programs`,
    `${wallMs.toFixed(1)} ms = ${starts.toFixed(1)}`,
    `${cpuMs.toFixed(1)} ms`,
    `≤ ${MOST_OVER_DELEGATE}`,
    starts <= MOST_OVER_DELEGATE ? "met" : "**MISSED**",
  ];
}

function overEmpty({ chains: measured, empty }: Measured): string[] {
  const over = (key: keyof Cost) =>
    median(measured.plain.map(({ add }, index) => add[key] - (empty[index]?.[key] ?? NaN)));
  const [wall, cpu] = [over("wallMs"), over("cpuMs")];
  return [
    "ADD: headcni minus an empty program",
    `${wall.toFixed(1)} ms`,
    `${cpu.toFixed(1)} ms`,
    `≤ ${MOST_OVER_EMPTY_MS} ms`,
    wall <= MOST_OVER_EMPTY_MS ? "met" : "**MISSED**",
  ];
}
