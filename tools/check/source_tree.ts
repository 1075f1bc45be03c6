/** Which files belong to the tree: what git tracks, and what it would track if added. */

/** A tree that cannot be checked at all; unlike a problem in it. */
export class CheckError extends Error {
  override readonly name = "CheckError";
}

/**
 * Paths of the files below `root`, sorted, with `/`.
 *
 * Untracked files count, ignored ones do not: a rule must fail before the commit,
 * and must not look into `dist/`. A tracked file that was deleted is left out.
 */
export async function listFiles(root: string): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  if (!success) {
    throw new CheckError(`Cannot list the files of "${root}": ${decoder.decode(stderr).trim()}`);
  }
  const paths = new Set(decoder.decode(stdout).split("\0").filter((path) => path !== ""));
  const present = await Promise.all(
    [...paths].map(async (path) => await isFile(`${root}/${path}`) ? path : undefined),
  );
  return present.filter((path) => path !== undefined).sort();
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
