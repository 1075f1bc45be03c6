/**
 * Replacing a file so that every reader, and every crash, sees the old or the new content.
 *
 * The steps, each for a reason:
 *
 * 1. Create a temporary file in the same directory, because rename(2) cannot cross file
 *    systems; with O_EXCL, so that a planted link is not followed; with the final mode
 *    before any content, so that a secret is never readable for a moment.
 * 2. Write, then fsync the file: otherwise a power loss after the rename may leave an
 *    empty file under the final name.
 * 3. rename(2) over the target. A symbolic link there is replaced, not written through.
 * 4. fsync the directory, which makes the rename itself durable.
 *
 * If any step up to 3 fails, the temporary file is removed and the target is untouched.
 */

import { FileError, fileError } from "./file_error.ts";

/** Options for {@linkcode writeFileAtomic}. */
export interface WriteFileOptions {
  /**
   * Permission bits of the file, whatever the umask is.
   *
   * @default {0o644}
   */
  readonly mode?: number;
}

const OPERATION = "write file";

/** NAME_MAX is 255 bytes; this leaves room for what is put around the name. */
const KEPT_NAME_CHARACTERS = 50;

/**
 * Writes `data` to `path`, whole or not at all. Returns after both are on disk.
 *
 * @throws {FileError} naming `path`, with code `NoSpace`, `ReadOnly`, ….
 */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: WriteFileOptions = {},
): void {
  const { mode = 0o644 } = options;
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  try {
    replace(path, bytes, mode);
  } catch (error) {
    throw writeError(path, error);
  }
  syncDirectory(path);
}

function replace(path: string, bytes: Uint8Array, mode: number): void {
  const temporary = temporaryPath(path);
  using file = Deno.openSync(temporary, { write: true, createNew: true, mode });
  try {
    // The umask has only taken bits away so far; put back what the caller asked for.
    Deno.chmodSync(temporary, mode);
    for (let written = 0; written < bytes.length;) {
      written += file.writeSync(bytes.subarray(written));
    }
    file.syncSync();
    Deno.renameSync(temporary, path);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
}

/**
 * A dot-file with a suffix nothing loads: containerd watches /etc/cni/net.d and reads
 * `*.conf`, `*.conflist` and `*.json` the moment they appear.
 */
function temporaryPath(path: string): string {
  const { directory, name } = split(path);
  const unique = crypto.randomUUID().slice(0, 8);
  return `${directory}/.${name.slice(0, KEPT_NAME_CHARACTERS)}.${unique}.tmp`;
}

function split(path: string): { directory: string; name: string } {
  const slash = path.lastIndexOf("/");
  const directory = slash === -1 ? "." : path.slice(0, slash) || "/";
  return { directory, name: path.slice(slash + 1) };
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // The error that brought us here is the one to tell.
  }
}

function writeError(path: string, cause: unknown): FileError {
  const error = fileError(OPERATION, path, cause);
  if (error.code !== "NotFound") return error;
  const { directory } = split(path);
  return new FileError({
    operation: OPERATION,
    path,
    code: "NotFound",
    reason: `the directory ${directory} does not exist`,
    remedy: `mkdir -p ${directory}`,
    cause,
  });
}

function syncDirectory(path: string): void {
  try {
    using directory = Deno.openSync(split(path).directory, { read: true });
    directory.syncSync();
  } catch (error) {
    // fsync(2): EINVAL means the file system cannot sync directories; nothing more to do.
    if (error instanceof Error && "code" in error && error.code === "EINVAL") return;
    throw fileError(OPERATION, path, error);
  }
}
