/** `headcni ipam import`. */

import { importHostLocal, type ImportReport, readHostLocal } from "../../ipam/host_local.ts";
import { withStore } from "../../store/open_store.ts";
import { systemClock } from "../../sys/clock.ts";
import { denoFiles } from "../../sys/files.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { UsageError } from "../usage_error.ts";
import { printJson, storeOptions } from "./context.ts";

/** Imports a directory of host-local; the parser has checked the format. */
export async function run(invocation: Invocation, output: Output): Promise<number> {
  const directory = invocation.positionals[1] ?? "";
  const name = invocation.value("network");
  const found = readHostLocal(denoFiles, directory);
  if (name !== undefined && found.length > 1) {
    throw new UsageError("--network", `${directory} holds ${found.length} networks`);
  }
  const sources = found.map((source) => ({ ...source, name: name ?? source.name }));
  const reports = await withStore(storeOptions(invocation, output), (store) => {
    const work = () =>
      store.transaction(() =>
        sources.map((source) => importHostLocal(store, source, systemClock.now()))
      );
    return invocation.has("dry-run") ? store.rehearse(work) : work();
  });
  if (invocation.has("json")) printJson(output, reports);
  else output.stdout.write(reports.map(text).join(""));
  const isClean = reports.every(({ duplicates, junk }) => duplicates.length + junk.length === 0);
  return isClean ? ExitCode.ok : ExitCode.findings;
}

function text({ network, imported, present, duplicates, warnings, junk }: ImportReport): string {
  return [
    `${network}: ${imported} imported, ${present} already there, ` +
    `${duplicates.length} held by others, ${junk.length} junk`,
    ...duplicates.map((line) => `  not imported: ${line}`),
    ...warnings.map((line) => `  note: ${line}`),
    ...junk.map((line) => `  junk: ${line}`),
    "",
  ].join("\n");
}
