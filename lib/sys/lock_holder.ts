/** Who holds a lock, for a message to a person. */

import { procTable } from "./process_table.ts";

/** A process, as a person would look for it. */
export interface LockHolder {
  readonly pid: number;
  /** The name of its program; `undefined` if it ended meanwhile. */
  readonly program: string | undefined;
}

/**
 * A holder of a flock(2) on the file `path`; `undefined` if there is none, or it cannot be seen:
 * a process of another container has no number here.
 */
export function findLockHolder(path: string): LockHolder | undefined {
  try {
    const { ino } = Deno.statSync(path);
    // One line per lock; those who wait are marked with an arrow (proc_locks(5)). Of the file it
    // has the inode, and a device that need not be the one stat(2) tells: so look at the process.
    const pids = Deno.readTextFileSync("/proc/locks").split("\n").flatMap((line) => {
      const [, kind, , , pid, file] = line.trim().split(/\s+/);
      return kind === "FLOCK" && file?.split(":")[2] === String(ino) ? [Number(pid)] : [];
    });
    const pid = pids.find((candidate) => hasOpen(candidate, path));
    return pid === undefined ? undefined : { pid, program: procTable.find(pid)?.name };
  } catch {
    return undefined; // what it would have told is an addition to a message
  }
}

function hasOpen(pid: number, path: string): boolean {
  const real = Deno.realPathSync(path);
  const directory = `/proc/${pid}/fd`;
  try {
    return [...Deno.readDirSync(directory)].some(({ name }) =>
      Deno.readLinkSync(`${directory}/${name}`) === real
    );
  } catch {
    return false; // it ended, or is not ours to look at
  }
}
