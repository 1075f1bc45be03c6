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
/** The bit that lets everybody change it. */
const WRITABLE_BY_ALL = 0o002;
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

/** Tightens what {@linkcode checkOwn} lets pass. */
function checkPrivate(path: string, kind: "file" | "directory"): Deno.FileInfo | undefined {
  const info = checkOwn(path, kind);
  if (((info?.mode ?? 0) & OPEN_TO_OTHERS) !== 0) Deno.chmodSync(path, modeOf(kind));
  return info;
}

function modeOf(kind: "file" | "directory"): number {
  return kind === "file" ? 0o600 : 0o700;
}

/** What is at `path`: of the right kind, ours, and changed by nobody else; or nothing. */
function checkOwn(path: string, kind: "file" | "directory"): Deno.FileInfo | undefined {
  const info = lstat(path);
  if (info === undefined) return undefined;
  const mode = (info.mode ?? 0) & 0o7777;
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
    const remedy = `Look at what is in it, then: chmod 0${modeOf(kind).toString(8)} ${path}`;
    throw refuse(path, reason, remedy);
  }
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

/**
 * Opens `path` to append to it; makes it, with permission bits `mode`, if there is nothing.
 *
 * A new file is made only where no name is, a link included; one that is there is looked at before
 * it is opened (a pipe would wait for a reader) and after (it may have been replaced meanwhile).
 *
 * @throws {FileError} if it is a link, no file, another's or writable by others, or if everybody
 * may put names into its directory.
 */
export function openToAppend(path: string, mode = 0o600): Deno.FsFile {
  try {
    const directory = path.replace(/\/[^/]*$/, "") || "/";
    if (((Deno.statSync(directory).mode ?? 0) & WRITABLE_BY_ALL) !== 0) {
      const remedy = `Choose another directory, or: chmod o-w ${directory}`;
      throw refuse(directory, "everybody may put names into it", remedy);
    }
    for (let attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
      const file = tryToAppend(path, mode);
      if (file !== undefined) return file;
    }
    throw refuse(path, "it is replaced all the time", `Look who does that: ls -l ${path}`);
  } catch (error) {
    throw fileError("append to file", path, error);
  }
}

/** Other processes make and rename the same log. */
const OPEN_ATTEMPTS = 5;

/** `undefined` if the name was given, taken or changed between two looks at it. */
function tryToAppend(path: string, mode: number): Deno.FsFile | undefined {
  try {
    if (checkOwn(path, "file") === undefined) {
      return Deno.openSync(path, { append: true, createNew: true, mode });
    }
    const file = Deno.openSync(path, { append: true });
    const [opened, named] = [file.statSync(), lstat(path)];
    if (opened.ino === named?.ino && opened.dev === named.dev) return file;
    file.close();
    return undefined;
  } catch (error) {
    const isRace = error instanceof Deno.errors.AlreadyExists ||
      error instanceof Deno.errors.NotFound;
    if (isRace) return undefined;
    throw error;
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
