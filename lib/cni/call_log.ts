/** What the log says about a call that has ended: one line, and one for each warning on its way. */

import { denoFiles } from "../sys/files.ts";
import { createLog } from "../sys/log.ts";
import { type Fields, type Level, LEVELS } from "../sys/log_record.ts";
import { type LogSink, openLogFile } from "../sys/log_sink.ts";
import { type CallEnd } from "./call_notes.ts";
import { parseCniArgs, podOf } from "./cni_args.ts";

/** Where and how much to log. */
export interface CallLogOptions {
  /** Empty means standard error. */
  readonly file: string;
  /** `logLevel` of the configuration; anything else than a level means `info`. */
  readonly level: string;
  readonly stderr: LogSink;
}

/** Writes the lines about `end`. What the file cannot take goes to standard error. */
export function logCall(end: CallEnd, { file, level, stderr }: CallLogOptions): void {
  if (file === "") return writeLines(end, level, stderr);
  const onFailure = (error: Error) => stderr.write(`headcni: ${error.message}\n`);
  try {
    denoFiles.makeDirectory(file.replace(/\/[^/]*$/, "") || "/");
  } catch {
    // Opening the file fails then, too, and tells why.
  }
  using sink = openLogFile(file, { fallback: stderr, onFailure });
  writeLines(end, level, sink);
}

function writeLines({ notes, failure }: CallEnd, wanted: string, sink: LogSink): void {
  const level = LEVELS.find((candidate) => candidate === wanted.toUpperCase()) ?? "INFO";
  const log = createLog({ sink, level }).with(aboutCall({ notes, failure }));
  for (const text of notes.said) log.warn(text.replace(/^headcni(-ipam)?: |\n$/g, ""));
  const facts = () => level === "DEBUG" ? { phases_ms: notes.phasesMs() } : {};
  if (failure !== undefined) {
    const { code, msg, details } = failure.told;
    return log.error(msg, () => ({ code, details, ...facts() }));
  }
  log[successLevel(notes.command)](`${notes.command} succeeded`, facts);
}

/** Runtimes ask for STATUS every few seconds. */
function successLevel(command: string): Lowercase<Extract<Level, "DEBUG" | "INFO">> {
  return command === "STATUS" ? "debug" : "info";
}

function aboutCall({ notes }: CallEnd): Fields {
  const { command, config, parameters, addresses } = notes;
  const pod = podOf(parseCniArgs(parameters?.args ?? ""));
  return {
    verb: command,
    network: config?.name,
    container: parameters?.containerId,
    ifname: parameters?.ifname,
    pod: pod === undefined ? undefined : `${pod.namespace}/${pod.name}`,
    addresses: addresses.length === 0 ? undefined : addresses.join(","),
    took_ms: notes.phasesMs().total,
  };
}
