/**
 * Programs that outlived the process that started them.
 *
 * A runtime that loses patience kills us, not what we have started: that goes on in its session
 * and may finish, unseen, after somebody has cleaned up behind it. Linux only, by proc(5).
 */

import { systemClock } from "./clock.ts";
import { procTable } from "./process_table.ts";

/** Whose variables to look for. */
export type Variables = Readonly<Record<string, string>>;

/** How long a killed process may take to be gone; the kernel may hold it. */
const GONE_MS = 1000;
const POLL_MS = 5;

/**
 * Kills every process with all of `variables` in its environment that leads a session and whose
 * parent has not got them: the one that would wait for it is dead. Returns how many.
 */
export async function endOrphans(variables: Variables): Promise<number> {
  const orphans = procTable.list().filter(({ pid, parent, session }) =>
    pid === session && pid !== Deno.pid && hasVariables(pid, variables) &&
    !hasVariables(parent, variables)
  );
  for (const { pid } of orphans) procTable.signal(pid, "SIGKILL", { group: true });
  for (let waited = 0; waited < GONE_MS; waited += POLL_MS) {
    if (orphans.every(({ pid }) => procTable.find(pid) === undefined)) break;
    await systemClock.sleep(POLL_MS);
  }
  return orphans.length;
}

function hasVariables(pid: number, variables: Variables): boolean {
  let environment: string[];
  try {
    environment = Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
  } catch {
    return false; // it is gone, or not ours to see
  }
  return Object.entries(variables).every(([name, value]) =>
    environment.includes(`${name}=${value}`)
  );
}
