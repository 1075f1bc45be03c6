/**
 * Finds the API key: in the file the configuration names, else among the credentials systemd
 * hands to the service (`LoadCredential=headscale-api-key:…`).
 */

import { HeadcniError } from "../sys/errors.ts";
import { readSecretFile, type Secret } from "../sys/secret.ts";

/** Name of the credential, and so of the file in systemd's directory. */
export const API_KEY_CREDENTIAL = "headscale-api-key";

/** There is no API key, or it cannot be one. */
export class ApiKeyError extends HeadcniError {
  override readonly name = "ApiKeyError";
}

/** Where to look. */
export interface ApiKeySource {
  /** The file named by the configuration. */
  readonly file?: string | undefined;
  /** `CREDENTIALS_DIRECTORY`, which systemd sets. */
  readonly credentialsDirectory?: string | undefined;
}

/**
 * The API key.
 *
 * @throws {ApiKeyError} if neither place is given, or the file does not hold a key.
 * @throws {SecretFileError} if others may read the file.
 * @throws {FileError} if it cannot be read.
 */
export function readApiKey(source: ApiKeySource): Secret {
  const { file, credentialsDirectory } = source;
  const path = file ??
    (credentialsDirectory === undefined
      ? undefined
      : `${credentialsDirectory}/${API_KEY_CREDENTIAL}`);
  if (path === undefined) {
    throw new ApiKeyError({
      operation: "find the API key of Headscale",
      reason: "the configuration names no file, and systemd passed no credential",
      remedy: "On the Headscale server: headscale apikeys create --expiration 90d; put what it " +
        "prints into a file of mode 0600 and name that in the configuration",
    });
  }
  const key = readSecretFile(path);
  checkApiKey(key, path);
  return key;
}

/**
 * A key is one word of printable ASCII. Anything else, a YAML file or two lines, would not only
 * be refused: `fetch` quotes a header it cannot send in its error.
 *
 * @throws {ApiKeyError} that does not show it.
 */
export function checkApiKey(key: Secret, subject: string): void {
  if (/^[\x21-\x7e]{8,512}$/.test(key.expose())) return;
  throw new ApiKeyError({
    operation: "use the API key in",
    subject,
    reason: "a key is one word of 8 to 512 printable ASCII characters, and this is not",
    remedy: "Put nothing but the key there: headscale apikeys create prints it",
  });
}
