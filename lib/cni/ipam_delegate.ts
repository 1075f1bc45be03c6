/**
 * Running another program as IPAM plugin (SPEC, section "Execution of delegated plugins").
 *
 * The configuration goes on unchanged on standard input, the environment with it; only the
 * verb may differ, for an ADD that failed is followed by a DEL. Our own IPAM is not run: the
 * network plugin calls `ipam_verbs.ts` instead.
 */

import { describeError } from "../sys/errors.ts";
import { denoFiles, type Files } from "../sys/files.ts";
import { type Run, run as runProcess } from "../sys/process.ts";
import { ProcessError } from "../sys/process_error.ts";
import { DelegateError } from "./errors.ts";
import { isJsonObject, type JsonObject } from "../sys/json_reader.ts";
import { type CniResult } from "./result.ts";
import { decodeResult } from "./result_decode.ts";
import { type CniVersion } from "./version.ts";

/** Which plugin to run, and what it is told. */
export interface Delegation {
  /** `ipam.type`. */
  readonly type: string;
  /** `CNI_PATH` as a list. */
  readonly path: readonly string[];
  /** The configuration as it came, goes on as it is. */
  readonly config: JsonObject;
  /** The version results are read in when they name none. */
  readonly version: CniVersion;
  /** The verb's own time; runtimes kill after minutes. @default {20_000} */
  readonly timeoutMs?: number;
}

/** What a delegation touches. */
export interface DelegatePorts {
  /** @default {run of lib/sys/process.ts} */
  readonly run?: Run;
  /** @default {denoFiles} */
  readonly files?: Pick<Files, "stat">;
}

/** Verbs that return nothing. */
export type QuietCommand = "DEL" | "CHECK" | "GC" | "STATUS";

/**
 * ADD by another plugin. If it fails, its DEL is called, since it may have done a part.
 *
 * @throws {DelegateError} with the other plugin's own number and words.
 */
export async function delegateAdd(
  delegation: Delegation,
  ports: DelegatePorts = {},
): Promise<CniResult> {
  const { type, version } = delegation;
  try {
    const stdout = await execute("ADD", delegation, ports);
    return decodeResult(parseOutput(type, stdout), { version, where: `result of ${type}` });
  } catch (error) {
    // What matters is why ADD failed; a DEL that fails too is tried again by the runtime.
    await execute("DEL", delegation, ports).catch(() => {});
    throw error;
  }
}

/** DEL, CHECK, GC or STATUS by another plugin. @throws {DelegateError} */
export async function delegate(
  command: QuietCommand,
  delegation: Delegation,
  ports: DelegatePorts = {},
): Promise<void> {
  await execute(command, delegation, ports);
}

/**
 * The path of the plugin called `type`: the first file of that name in `path`.
 *
 * @throws {DelegateError} if there is none. A name with a slash would run any program of the
 * machine (CVE-2021-20206).
 */
export function findPlugin(
  type: string,
  path: readonly string[],
  files: Pick<Files, "stat"> = denoFiles,
): string {
  const fail = (reason: string) => new DelegateError({ plugin: JSON.stringify(type), reason });
  if (type === "" || type.includes("/") || type === "." || type === "..") {
    throw fail("the type of a plugin is the name of a file");
  }
  const found = path.map((directory) => `${directory}/${type}`)
    .find((candidate) => files.stat(candidate)?.kind === "file");
  if (found === undefined) throw fail(`it is in none of CNI_PATH (${path.join(", ") || "empty"})`);
  return found;
}

async function execute(
  command: string,
  delegation: Delegation,
  ports: DelegatePorts,
): Promise<string> {
  const { type, path, config, timeoutMs = 20_000 } = delegation;
  const { run = runProcess, files = denoFiles } = ports;
  const program = findPlugin(type, path, files);
  try {
    const { code, stdout, stderr } = await run(program, [], {
      stdin: JSON.stringify(config),
      env: { CNI_COMMAND: command },
      timeoutMs,
    });
    if (code === 0) return stdout;
    throw pluginError(type, { code, stdout, stderr });
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error;
    throw new DelegateError({ plugin: type, reason: error.reason, cause: error.cause });
  }
}

/** The error object the plugin printed; without one, whatever it said. */
function pluginError(
  type: string,
  ending: { code: number; stdout: string; stderr: string },
): DelegateError {
  const printed = tryParse(ending.stdout);
  if (isJsonObject(printed) && typeof printed.msg === "string") {
    const { code, msg, details } = printed;
    return new DelegateError({
      plugin: type,
      reason: msg,
      code: typeof code === "number" && Number.isSafeInteger(code) && code >= 0 ? code : undefined,
      details: typeof details === "string" && details !== "" ? details : undefined,
    });
  }
  const said = shorten(ending.stderr) || shorten(ending.stdout) || "it printed nothing";
  return new DelegateError({
    plugin: type,
    reason: `it ended with status ${ending.code}: ${said}`,
  });
}

function parseOutput(type: string, stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch (error) {
    const said = shorten(stdout) || "nothing";
    const reason = `its result is no JSON (${describeError(error)}); it printed ${said}`;
    throw new DelegateError({ plugin: type, reason });
  }
}

function tryParse(text: string): unknown {
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
