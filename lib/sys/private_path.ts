/**
 * Files and directories that are nobody else's: owner, mode and kind checked, links refused.
 *
 * A root process that follows a link planted in its data directory writes wherever the
 * planter wants. Deno cannot open with O_NOFOLLOW, so the directory is checked first: where
 * nobody else may write, nobody else can swap a name between the check and the use.
 */

import { FileError, fileError } from "./file_error.ts";

/** Bits that let others change it. */
const WRITABLE_BY_OTHERS = 0o022;
/** Bits that let others do anything with it. */
const OPEN_TO_OTHERS = 0o077;

/** What is wrong with an existing path, as a {@linkcode FileError} would say it. */
function refuse(path: string, reason: string, remedy: string): FileError {
  return new FileError({
    operation: "trust",
    path,
    code: "PermissionDenied",
    reason,
    remedy,
  });
}

/**
 * Makes sure that `path` is a directory of mode 0700 of ours; creates it and its parents.
 *
 * One that others may read is tightened: Kubernetes creates host paths with mode 0755. One
 * that others may write, that belongs to somebody else or that is a link is refused, since
 * what is inside may not be ours.
 *
 * @throws {FileError}
 */
export function ensurePrivateDirectory(path: string): void {
  try {
    if (lstat(path) === undefined) {
      Deno.mkdirSync(path, { recursive: true, mode: 0o755 });
      Deno.chmodSync(path, 0o700);
    }
    checkPrivate(path, "directory");
  } catch (error) {
    throw fileError("prepare directory", path, error);
  }
}

/**
 * Checks that `path` is a regular file of ours that nobody else may change, and closes it
 * to readers. Returns its size, or `undefined` if there is nothing.
 *
 * @throws {FileError} if it is a link, another's, or writable by others.
 */
export function checkPrivateFile(path: string): number | undefined {
  try {
    return checkPrivate(path, "file")?.size;
  } catch (error) {
    throw fileError("inspect file", path, error);
  }
}

/** The names in a directory; none if it does not exist. @throws {FileError} */
export function listDirectory(path: string): ReadonlySet<string> {
  try {
    return new Set(Array.from(Deno.readDirSync(path), ({ name }) => name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Set();
    throw fileError("list directory", path, error);
  }
}

function checkPrivate(path: string, kind: "file" | "directory"): Deno.FileInfo | undefined {
  const info = lstat(path);
  if (info === undefined) return undefined;
  const [mode, wanted] = [(info.mode ?? 0) & 0o7777, kind === "file" ? 0o600 : 0o700];
  if (info.isSymlink) {
    const remedy = `Put the ${kind} itself there instead of the link: ls -l ${path}`;
    throw refuse(path, "it is a symbolic link, and links are not followed here", remedy);
  }
  if (kind === "file" ? !info.isFile : !info.isDirectory) {
    throw refuse(path, `it is not a ${kind}`, `Move it away: ls -ld ${path}`);
  }
  if (info.uid !== Deno.uid()) {
    const reason = `it belongs to user ${info.uid}, and this program runs as ${Deno.uid()}`;
    throw refuse(path, reason, `Look at what is in it, then: chown ${Deno.uid()} ${path}`);
  }
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    const reason = `its mode 0${mode.toString(8)} lets others change it`;
    const remedy = `Look at what is in it, then: chmod 0${wanted.toString(8)} ${path}`;
    throw refuse(path, reason, remedy);
  }
  if ((mode & OPEN_TO_OTHERS) !== 0) Deno.chmodSync(path, wanted);
  return info;
}

function lstat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * Gives the finished file `temporary` its name `path`, unless that name is taken; the name
 * `temporary` is gone either way. Durable when it returns.
 *
 * @returns whether `path` is the new file.
 * @throws {FileError}
 */
export function publishFile(temporary: string, path: string): boolean {
  try {
    // link(2) never replaces; rename(2) would throw away what another process just made.
    Deno.linkSync(temporary, path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw fileError("create file", path, error);
  } finally {
    Deno.removeSync(temporary);
    using directory = Deno.openSync(path.replace(/\/[^/]*$/, "") || "/", { read: true });
    directory.syncSync();
  }
}

/** Creates an empty file of mode 0600 that did not exist. @throws {FileError} */
export function createPrivateFile(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    throw fileError("create file", path, error);
  }
}

/** Finds out whether an existing file may be written, without writing. @throws {FileError} */
export function checkWritable(path: string): void {
  try {
    Deno.openSync(path, { read: true, write: true }).close();
  } catch (error) {
    throw fileError("write file", path, error);
  }
}
