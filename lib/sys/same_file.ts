/** Whether two paths lead to one file. */

/** Compares device and inode, links followed; a path that leads nowhere equals none. */
export function isSameFile(one: string, other: string): boolean {
  try {
    const [a, b] = [Deno.statSync(one), Deno.statSync(other)];
    return a.dev === b.dev && a.ino === b.ino && a.ino !== null;
  } catch (error) {
    // ENOTDIR, EACCES, ELOOP…: whatever it is, it is not the other one.
    if (error instanceof Error) return false;
    throw error;
  }
}
