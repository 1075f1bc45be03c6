/** Reads the npm packages out of `deno.lock` (version 5). */

/** A package as it is locked. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-512 of the archive, in hexadecimal. */
  readonly sha512: string;
  /** `name@version` of the packages it uses, sorted. */
  readonly dependencies: readonly string[];
}

/** What a lock file says about npm. */
export interface LockedPackages {
  /** Sorted by name and version; the same package with other peers appears once. */
  readonly packages: readonly LockedPackage[];
  /** `name@version` of the packages the program itself asks for, sorted. */
  readonly direct: readonly string[];
}

/** A lock file that is not what this reader knows. */
export class LockFileError extends Error {
  override readonly name = "LockFileError";
}

interface LockFile {
  readonly version: string;
  readonly specifiers?: Readonly<Record<string, string>>;
  readonly npm?: Readonly<Record<string, LockEntry>>;
}

interface LockEntry {
  readonly integrity?: string;
  readonly dependencies?: readonly string[];
}

/** Parses the text of a `deno.lock`; throws {@linkcode LockFileError} for another format. */
export function parseLockFile(text: string): LockedPackages {
  const lock: LockFile = JSON.parse(text);
  if (lock.version !== "5") {
    throw new LockFileError(`Cannot read deno.lock: its version is "${lock.version}", not "5"`);
  }
  const entries = Object.entries(lock.npm ?? {});
  const keys = entries.map(([key]) => key);
  const packages = new Map<string, LockedPackage>();
  for (const [key, entry] of entries) {
    const id = withoutPeers(key);
    const { name, version } = splitId(id);
    const dependencies = (entry.dependencies ?? []).map((wanted) => resolve(wanted, keys));
    const known = packages.get(id)?.dependencies ?? [];
    packages.set(id, {
      name,
      version,
      sha512: integrityHex(key, entry.integrity),
      dependencies: [...new Set([...known, ...dependencies])].sort(),
    });
  }
  return {
    packages: [...packages.keys()].sort().flatMap((id) => packages.get(id) ?? []),
    direct: directPackages(lock),
  };
}

/** `npm:prom-client@15` → `15.1.3` becomes `prom-client@15.1.3`. */
function directPackages(lock: LockFile): string[] {
  const ids = Object.entries(lock.specifiers ?? {})
    .filter(([specifier]) => specifier.startsWith("npm:"))
    .map(([specifier, version]) =>
      withoutPeers(`${splitId(specifier.slice("npm:".length)).name}@${version}`)
    );
  return [...new Set(ids)].sort();
}

/** A dependency is written as its name where only one version is locked, else as its key. */
function resolve(wanted: string, keys: readonly string[]): string {
  const key = keys.find((key) => key === wanted) ??
    keys.find((key) => splitId(key).name === wanted);
  if (key === undefined) {
    throw new LockFileError(`Cannot read deno.lock: "${wanted}" is used but not locked`);
  }
  return withoutPeers(key);
}

/** `a@1.0.0_b@2.0.0` is `a@1.0.0`, resolved beside `b@2.0.0`. */
function withoutPeers(key: string): string {
  const { name, version } = splitId(key);
  return `${name}@${version.split("_", 1)[0]}`;
}

function splitId(id: string): { name: string; version: string } {
  const at = id.indexOf("@", 1);
  return at < 0 ? { name: id, version: "" } : { name: id.slice(0, at), version: id.slice(at + 1) };
}

function integrityHex(key: string, integrity: string | undefined): string {
  const base64 = /^sha512-([A-Za-z0-9+/]{86}==)$/.exec(integrity ?? "")?.[1];
  if (base64 === undefined) {
    throw new LockFileError(`Cannot read deno.lock: "${key}" has no sha512 integrity`);
  }
  return Uint8Array.fromBase64(base64).toHex();
}
