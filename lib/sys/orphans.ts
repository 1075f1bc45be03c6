/**
 * Programs that outlived the process that started them.
 *
 * A runtime that loses patience kills us, not what we have started: that goes on in its session
 * and may finish, unseen, after somebody has cleaned up behind it. Linux only, by proc(5).
 */

import { type Clock, systemClock } from "./clock.ts";

/** Whose variables to look for. */
export type Variables = Readonly<Record<string, string>>;

/** What is known about a running process. */
interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/** How long a killed process may take to be gone; the kernel may hold it. */
const GONE_MS = 1000;
const POLL_MS = 5;

/**
 * Kills every process with all of `variables` in its environment that leads a session and whose
 * parent has not got them: the one that would wait for it is dead. Returns how many.
 */
export async function endOrphans(
  variables: Variables,
  clock: Pick<Clock, "sleep"> = systemClock,
): Promise<number> {
  const orphans = processes().filter((one) =>
    one.pid === one.session && one.pid !== Deno.pid && hasVariables(one.pid, variables) &&
    !hasVariables(one.parent, variables)
  );
  for (const { pid } of orphans) killSession(pid);
  for (let waited = 0; waited < GONE_MS; waited += POLL_MS) {
    if (!orphans.some(({ pid }) => isRunning(pid))) break;
    await clock.sleep(POLL_MS);
  }
  return orphans.length;
}

function processes(): ProcessFacts[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    const stat = /^\d+$/.test(name) ? readIfThere(`/proc/${name}/stat`) : undefined;
    // The name of the program, in parentheses, may contain anything.
    const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields === undefined) return [];
    return [{ pid: Number(name), parent: Number(fields[1]), session: Number(fields[3]) }];
  });
}

function hasVariables(pid: number, variables: Variables): boolean {
  const environment = (readIfThere(`/proc/${pid}/environ`) ?? "").split("\0");
  return Object.entries(variables).every(([name, value]) =>
    environment.includes(`${name}=${value}`)
  );
}

function killSession(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** A zombie has ended; somebody else has to reap it. */
function isRunning(pid: number): boolean {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat !== undefined && stat.at(stat.lastIndexOf(")") + 2) !== "Z";
}

/** A process may be gone between two looks, and others' are not ours to see. */
function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
