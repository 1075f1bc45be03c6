/**
 * Running the program of another CNI plugin: the one place that does.
 *
 * It is found by name in `CNI_PATH` and executed directly, never by a shell. It gets the
 * variables the specification names for its verb and no other `CNI_…` of our own call, the
 * rest of our environment (plugins look for iptables in `PATH`), and its configuration on
 * standard input. It is stopped at its deadline.
 */

import { type Clock, systemClock } from "../sys/clock.ts";
import { describeError } from "../sys/errors.ts";
import { denoFiles, type Files, type FileStat } from "../sys/files.ts";
import { type Run, run as runProcess, type RunResult } from "../sys/process.ts";
import { ProcessError } from "../sys/process_error.ts";
import { DelegateError } from "./errors.ts";
import { isJsonObject, type JsonObject } from "../sys/json_reader.ts";

/** The verbs of the specification. */
export type Command = "ADD" | "DEL" | "CHECK" | "GC" | "STATUS" | "VERSION";

/** One run of a plugin. */
export interface PluginExecution {
  readonly command: Command;
  /** Its name, which is that of a file. */
  readonly type: string;
  /** How errors call it. @default {type} */
  readonly label?: string;
  /** `CNI_PATH` as a list. */
  readonly path: readonly string[];
  /** Variables of the specification beside `CNI_COMMAND`. */
  readonly env: Readonly<Record<string, string>>;
  readonly config: JsonObject;
  readonly timeoutMs: number;
}

/** How programs are named and recognised on a system. */
export interface ProgramNaming {
  /** File names a plugin of this type may have, best first. */
  names(type: string): readonly string[];
  /** Whether a name contains what separates directories. */
  isPath(type: string): boolean;
  /** Whether the system would execute such a file. */
  isExecutable(stat: FileStat): boolean;
}

/** What running a plugin touches. */
export interface ExecPorts {
  /** @default {run of lib/sys/process.ts} */
  readonly run?: Run;
  /** @default {denoFiles} */
  readonly files?: Pick<Files, "stat">;
  /** @default {UNIX_NAMING} */
  readonly naming?: ProgramNaming;
  /** @default {systemClock} */
  readonly clock?: Pick<Clock, "sleep">;
}

/** Linux, macOS and their like. */
export const UNIX_NAMING: ProgramNaming = {
  names: (type) => [type],
  isPath: (type) => type.includes("/"),
  isExecutable: ({ mode }) => (mode & 0o111) !== 0,
};

/** A plugin that is told to stop gets this long, then it is killed; at once if it changes nothing. */
const STOP_GRACE_MS = 300;
const HARMLESS: readonly Command[] = ["STATUS", "VERSION"];

/** A program that is being replaced cannot be executed; installers take moments (ETXTBSY). */
const BUSY_RETRIES = 5;
const BUSY_PAUSE_MS = 100;

/** Our own call's, which must not leak into the plugin's. */
const OWN_VARIABLES = /^CNI_/;

/**
 * The path of the plugin called `type`: the first file of that name in `path`.
 *
 * @throws {DelegateError} if there is none, or if it cannot be executed. A name with a slash
 * would run any program of the machine (CVE-2021-20206).
 */
export function findPlugin(
  type: string,
  path: readonly string[],
  ports: Pick<ExecPorts, "files" | "naming"> & { readonly label?: string } = {},
): string {
  const { files = denoFiles, naming = UNIX_NAMING, label = JSON.stringify(type) } = ports;
  const fail = (reason: string, remedy?: string) =>
    new DelegateError({ plugin: label, reason, mayHaveRun: false, remedy });
  if (type === "" || type === "." || type === ".." || type.includes("\0") || naming.isPath(type)) {
    throw fail("the type of a plugin is the name of a file");
  }
  const candidates = path.flatMap((directory) =>
    naming.names(type).map((name) => `${directory}/${name}`)
  );
  for (const candidate of candidates) {
    const stat = files.stat(candidate);
    if (stat?.kind !== "file") continue;
    if (naming.isExecutable(stat)) return candidate;
    throw fail(`${candidate} is not executable`, `chmod +x ${candidate}`);
  }
  throw fail(
    `it is in none of CNI_PATH (${path.join(", ") || "empty"})`,
    "Install the plugin there, or correct its type",
  );
}

/**
 * Runs a plugin: what it printed on standard output.
 *
 * @throws {DelegateError} with the plugin's own number and words if it has any.
 */
export async function executePlugin(
  execution: PluginExecution,
  ports: ExecPorts = {},
): Promise<string> {
  const { command, type, path, config, env, timeoutMs, label = type } = execution;
  const { run = runProcess } = ports;
  const program = findPlugin(type, path, { ...ports, label });
  const start = () =>
    run(program, [], {
      stdin: JSON.stringify(config),
      env: { ...env, CNI_COMMAND: command },
      passEnv: (name) => !OWN_VARIABLES.test(name),
      timeoutMs,
      stopGraceMs: HARMLESS.includes(command) ? 0 : STOP_GRACE_MS,
    });
  try {
    const ending = await untilNotBusy(start, ports.clock ?? systemClock);
    if (ending.code === 0) return ending.stdout;
    throw pluginError(label, ending);
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error;
    const { reason, remedy, cause, kind } = error;
    const mayHaveRun = kind === "Deadline" || kind === "OutputTooLarge";
    throw new DelegateError({ plugin: label, reason, remedy, cause, mayHaveRun });
  }
}

async function untilNotBusy(
  start: () => Promise<RunResult>,
  clock: Pick<Clock, "sleep">,
): Promise<RunResult> {
  for (let attempt = 0;; attempt++) {
    try {
      return await start();
    } catch (error) {
      const isBusy = error instanceof ProcessError && /text file busy/i.test(error.reason);
      if (!isBusy || attempt === BUSY_RETRIES) throw error;
      await clock.sleep(BUSY_PAUSE_MS * 2 ** attempt);
    }
  }
}

/** The error object the plugin printed; without one, whatever it said. */
function pluginError(
  plugin: string,
  ending: Pick<RunResult, "code" | "signal" | "stdout" | "stderr">,
): DelegateError {
  const printed = parseJson(ending.stdout);
  if (isJsonObject(printed) && typeof printed.msg === "string") {
    const { code, msg, details } = printed;
    return new DelegateError({
      plugin,
      reason: msg || "it failed without a message",
      code: typeof code === "number" && Number.isSafeInteger(code) && code >= 0 ? code : undefined,
      details: typeof details === "string" && details !== "" ? details : undefined,
    });
  }
  const said = shorten(ending.stderr) || shorten(ending.stdout) || "it printed nothing";
  const how = ending.signal === undefined
    ? `it ended with status ${ending.code}`
    : `${ending.signal} ended it`;
  return new DelegateError({ plugin, reason: `${how}: ${said}` });
}

/** The JSON value a plugin printed. @throws {DelegateError} quoting what it printed instead. */
export function parsePrinted(plugin: string, stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch (error) {
    const said = shorten(stdout);
    const reason = said === ""
      ? "it printed nothing instead of a result"
      : `its result is no JSON (${describeError(error)}); it printed ${said}`;
    throw new DelegateError({ plugin, reason });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One line of a text from outside, not too long. */
function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}
