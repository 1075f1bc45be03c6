/** Keys and tokens that do not end up in a log by accident. */

import { HeadcniError } from "./errors.ts";
import { fileError } from "./file_error.ts";

const MASK = "***";

/**
 * Text that shows itself only to those who ask for it by {@linkcode Secret.expose}. As a
 * string, in JSON, in a log, in a debugger's print-out it is `***`.
 *
 * In tests compare with {@linkcode Secret.equals}: to `assertEquals` all secrets are alike.
 *
 * @example
 * ```ts
 * import { Secret } from "./secret.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const key = new Secret("hskey-api-1");
 * assertEquals(JSON.stringify({ key, text: `${key}` }), '{"key":"***","text":"***"}');
 * assertEquals(key.expose(), "hskey-api-1");
 * ```
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself. Search for calls of this to see where secrets leave the program. */
  expose(): string {
    return this.#value;
  }

  /**
   * Whether both hold the same text. Takes the same time wherever they differ, so that an
   * attacker cannot find it out character by character; the length is not hidden.
   */
  equals(other: Secret): boolean {
    const encoder = new TextEncoder();
    const ours = encoder.encode(this.#value);
    const theirs = encoder.encode(other.#value);
    let difference = ours.length ^ theirs.length;
    for (let i = 0; i < ours.length; i++) difference |= (ours[i] ?? 0) ^ (theirs[i] ?? 0);
    return difference === 0;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.for("Deno.customInspect")](): string {
    return `Secret ${MASK}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Secret ${MASK}`;
  }
}

/** `text` with every occurrence of a secret, plain or URL-encoded, replaced by `***`. */
export function redact(text: string, secrets: Iterable<Secret>): string {
  const needles = [...secrets]
    .flatMap((secret) => [secret.expose(), encodeURIComponent(secret.expose())])
    .filter((needle) => needle !== "")
    // Longest first: a secret may contain another one.
    .sort((a, b) => b.length - a.length);
  return needles.reduce((redacted, needle) => redacted.replaceAll(needle, MASK), text);
}

/** A secret file that others have access to, or that holds no secret. */
export class SecretFileError extends HeadcniError {
  override readonly name = "SecretFileError";
}

const OPERATION = "read secret file";

/** No key or token is longer; a larger file is the wrong file. */
const MAX_BYTES = 65_536;

/**
 * The secret in the file `path`, without the newline editors put at the end.
 *
 * @throws {SecretFileError} if group or others have access, if it is empty, too large or no
 *   regular file.
 * @throws {FileError} if it cannot be read.
 */
export function readSecretFile(path: string): Secret {
  const text = readPrivateText(path).replace(/\r?\n$/, "");
  if (text === "") throw refuse(path, "it is empty");
  return new Secret(text);
}

function readPrivateText(path: string): string {
  try {
    // Before opening: opening a named pipe would wait for a writer.
    if (!Deno.statSync(path).isFile) throw refuse(path, "it is not a regular file");
    using file = Deno.openSync(path, { read: true });
    // What was opened is what is checked: the name may point elsewhere by now.
    const { mode, size } = file.statSync();
    const bits = (mode ?? 0) & 0o777;
    if ((bits & 0o077) !== 0) {
      throw refuse(
        path,
        `group or others have access to it (mode ${bits.toString(8).padStart(4, "0")})`,
        `chmod 600 ${path}, or for a Kubernetes secret volume: defaultMode: 0400`,
      );
    }
    if (size > MAX_BYTES) throw refuse(path, `it is larger than ${MAX_BYTES} bytes`);
    const bytes = new Uint8Array(size);
    return new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  } catch (error) {
    if (error instanceof SecretFileError) throw error;
    throw fileError(OPERATION, path, error);
  }
}

function refuse(path: string, reason: string, remedy?: string): SecretFileError {
  return new SecretFileError({
    operation: OPERATION,
    subject: path,
    reason,
    ...(remedy === undefined ? {} : { remedy }),
  });
}
