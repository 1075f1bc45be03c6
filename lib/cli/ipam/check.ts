/** `headcni ipam check`. */

import { FINDING_KINDS } from "../../ipam/compare.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { findingObject, type Look, look } from "./comparison.ts";
import { printJson, storeOptions } from "./context.ts";

/** Prints counts; with `--details` every finding. */
export async function run(invocation: Invocation, output: Output): Promise<number> {
  const seen = await look(storeOptions(invocation, output), invocation.value("network"));
  if (invocation.has("json")) {
    const { held, used, unseen, damage, findings } = seen;
    const counts = Object.fromEntries(countsOf(seen));
    const list = findings.map(findingObject);
    printJson(output, { held, used, unseen, ...counts, damage, findings: list });
  } else output.stdout.write(text(seen, invocation.has("details")));
  const isClean = seen.findings.length === 0 && seen.damage.length === 0;
  return isClean ? ExitCode.ok : ExitCode.findings;
}

function countsOf({ findings }: Look): [string, number][] {
  return FINDING_KINDS.map((kind) => [
    kind,
    findings.filter((finding) => finding.kind === kind).length,
  ]);
}

function text(seen: Look, isDetailed: boolean): string {
  const counts = countsOf(seen).map(([kind, count]) => `${count} ${kind}`).join(", ");
  const lines = [
    `${seen.held} held, ${seen.used} in use in namespaces: ${counts}`,
    ...seen.damage.map((problem) => `store: ${problem}`),
  ];
  if (seen.unseen > 0) {
    lines.push(`the namespaces of ${seen.unseen} processes could not be looked into`);
  }
  if (isDetailed) {
    for (const { kind, address, network, detail } of seen.findings) {
      lines.push(`${kind.padEnd(9)} ${address} in network ${network}: ${detail}`);
    }
  } else if (seen.findings.length > 0) lines.push("See which: headcni ipam check --details");
  return lines.join("\n") + "\n";
}
