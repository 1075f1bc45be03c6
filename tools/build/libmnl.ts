/**
 * Finds the libmnl shared library to embed, for nodes that have none.
 *
 * The copy installed on the build machine serves when it is for the right
 * processor. Otherwise Debian's package is fetched with apt into a private list
 * directory: that needs no root, installs nothing, and works for a foreign
 * processor without adding an architecture to the machine.
 */

import { BuildError, say } from "./build_error.ts";
import { cacheDirectory } from "./cache.ts";
import { capture, lastLine } from "./command.ts";
import { elfArchitecture } from "./elf.ts";

/** Where Debian and others keep the library. */
const MULTIARCH = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;

type Architecture = keyof typeof MULTIARCH;

/** The name the library is linked and embedded by. */
export const LIBMNL_SONAME = "libmnl.so.0";

/** The bytes of a libmnl for `architecture`. */
export async function findLibmnl(architecture: Architecture): Promise<Uint8Array<ArrayBuffer>> {
  const multiarch = MULTIARCH[architecture];
  const cached = `${cacheDirectory("libmnl")}/${architecture}.so`;
  for (
    const path of [
      `/usr/lib/${multiarch}/${LIBMNL_SONAME}`,
      `/usr/lib64/${LIBMNL_SONAME}`,
      `/usr/lib/${LIBMNL_SONAME}`,
      cached,
    ]
  ) {
    const bytes = await readLibrary(path, architecture);
    if (bytes === undefined) continue;
    say(`libmnl: ${path}`);
    return bytes;
  }
  const fetched = await fetchFromDebian(architecture);
  await Deno.writeFile(cached, fetched);
  return fetched;
}

async function readLibrary(
  path: string,
  architecture: Architecture,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const bytes = await Deno.readFile(path);
    return elfArchitecture(bytes) === architecture ? bytes : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function fetchFromDebian(architecture: Architecture): Promise<Uint8Array<ArrayBuffer>> {
  say(`libmnl: fetching Debian's libmnl0 for ${architecture} (nothing is installed)`);
  const directory = await Deno.makeTempDir({ dir: cacheDirectory("libmnl") });
  try {
    await Deno.mkdir(`${directory}/lists/partial`, { recursive: true });
    await Deno.mkdir(`${directory}/archives/partial`, { recursive: true });
    const settings = [
      `APT::Architecture=${architecture}`,
      `APT::Architectures=${architecture}`,
      `Dir::State::lists=${directory}/lists`,
      "Dir::State::status=/dev/null",
      `Dir::Cache=${directory}`,
      "APT::Sandbox::User=root",
      "Acquire::Languages=none",
    ].flatMap((setting) => ["-o", setting]);
    await aptGet([...settings, "-qq", "update"], directory);
    await aptGet([...settings, "-qq", "download", "libmnl0"], directory);
    const archive = [...Deno.readDirSync(directory)].find((file) => file.name.endsWith(".deb"));
    if (archive === undefined) throw notFetched("apt-get download left no package");
    const unpacked = await capture("dpkg-deb", ["-x", `${directory}/${archive.name}`, directory]);
    if (!unpacked.ok) throw notFetched(lastLine(unpacked.stderr));
    const bytes = await readLibrary(
      `${directory}/usr/lib/${MULTIARCH[architecture]}/${LIBMNL_SONAME}`,
      architecture,
    );
    if (bytes === undefined) throw notFetched(`${archive.name} holds no ${LIBMNL_SONAME}`);
    return bytes;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function aptGet(args: readonly string[], cwd: string): Promise<void> {
  const { ok, stderr } = await capture("apt-get", args, { cwd });
  if (!ok) throw notFetched(lastLine(stderr));
}

function notFetched(reason: string): BuildError {
  return new BuildError(
    `Cannot fetch libmnl from Debian: ${reason}`,
    "Install it yourself (apt-get install libmnl0, or your distribution's libmnl) and build again",
  );
}
