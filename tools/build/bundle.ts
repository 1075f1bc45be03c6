/**
 * Bundles the module graph: one small entry and one chunk per lazily loaded face.
 *
 * Compiling the graph as it is would embed whole npm packages (154 MB instead of
 * 90) and start three times slower. Names are kept (no minifying): a stack trace
 * from a user's node has to be readable, and it measured the same. The plugin's script
 * (`plugin_script.ts`) is the exception: there half a millisecond counts, and every error of
 * the plugin is caught and told in words.
 */

import { BuildError } from "./build_error.ts";
import { capture, PACKAGES_FROM_CACHE } from "./command.ts";
import { registryError } from "./npm_runtime.ts";

/** What deno and npm print when a registry is out of reach. */
const UNREACHABLE =
  /error sending request|dns error|Connection refused|timed out|error trying to connect|Failed caching npm package|client error \(Connect\)/i;

/** Bundles `entry` into `outputDirectory` and returns the path of the entry's chunk. */
export async function bundle(entry: string, outputDirectory: string): Promise<string> {
  await Deno.remove(outputDirectory, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await denoBundle(["--code-splitting", `--outdir=${outputDirectory}`, entry]);
  const chunks = [...Deno.readDirSync(outputDirectory)].map((file) => file.name);
  const name = entry.replace(/^.*\//, "").replace(/\.ts$/, ".js");
  if (!chunks.includes(name)) {
    throw new BuildError(
      `Cannot find ${name} in the bundle: it has ${chunks.join(", ")}`,
      "Report this as a bug",
    );
  }
  return `${outputDirectory}/${name}`;
}

/** Bundles `entry` and all it imports, dynamically too, into the one CommonJS file `output`. */
export async function bundleScript(entry: string, output: string): Promise<void> {
  await denoBundle(["--format=cjs", "--minify", `--output=${output}`, entry]);
}

async function denoBundle(args: readonly string[]): Promise<void> {
  const { ok, stderr } = await capture(Deno.execPath(), [
    "bundle",
    "--quiet",
    PACKAGES_FROM_CACHE,
    "--frozen",
    "--platform=deno",
    ...args,
  ]);
  if (!ok) throw bundleError(stderr);
}

function bundleError(output: string): BuildError {
  // deno-lint-ignore no-control-regex -- colour codes are what is removed here
  const plain = output.replaceAll(/\x1b\[[0-9;]*m/g, "").replace(/^Stack backtrace:.*/ms, "")
    .trim();
  if (UNREACHABLE.test(plain)) return registryError("the npm packages of deno.lock", plain);
  return new BuildError(`Cannot bundle the program:\n${plain}`, "Correct the error above");
}
