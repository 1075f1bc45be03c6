/** Hashes as they are written in pins and integrity fields. */

/** The SHA-256 of `bytes` in lower-case hexadecimal, as `sha256sum` prints it. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** The SHA-512 of `bytes` as npm writes it: `sha512-` and base64. */
export async function npmIntegrity(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return `sha512-${new Uint8Array(await crypto.subtle.digest("SHA-512", bytes)).toBase64()}`;
}
