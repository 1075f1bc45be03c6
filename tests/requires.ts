/**
 * What a test needs from the machine it runs on.
 *
 * A test whose needs are not met is skipped and says why. With HEADCNI_TEST_STRICT=1
 * (set by `.ci/run`) it fails instead: a gate that skips what it should run proves
 * nothing. Only what depends on the kernel and cannot be installed, and what is built with Go
 * where there is none, stays a skip.
 */

import { goPart, GoPartError, NoGoError } from "../tools/go_parts/build_part.ts";

/** One requirement. */
export interface Need {
  /** Why it is not met, `undefined` when it is. */
  missing(): string | undefined;
  /** A property of the kernel: its absence is a skip even in strict mode. */
  readonly ofKernel?: boolean;
  /** The gate runs on machines without it, too: likewise. */
  readonly mayBeAbsent?: boolean;
}

/** The test changes the network, mounts or users of the machine. */
export const root: Need = {
  missing: () => Deno.uid() === 0 ? undefined : "it needs root",
};

/** Directories of programs that may not be in `PATH`; CNI plugins never are. */
const MORE_DIRECTORIES = ["/usr/sbin", "/sbin", "/usr/lib/cni"];

/** The test runs `name`, which Debian has in `debianPackage`. */
export function tool(name: string, debianPackage: string = name): Need {
  return {
    missing: () => {
      const directories = (Deno.env.get("PATH") ?? "").split(":").concat(MORE_DIRECTORIES);
      return directories.some((directory) => isFile(`${directory}/${name}`))
        ? undefined
        : `it needs ${name} (apt-get install ${debianPackage})`;
    },
  };
}

/** The test uses something only some kernels have; `probe` finds out. */
export function kernel(feature: string, probe: () => boolean): Need {
  return {
    ofKernel: true,
    missing: () => probe() ? undefined : `this kernel has no ${feature}`,
  };
}

/** A program built from a Go module. */
export interface BuiltPart extends Need {
  /** Where it is; empty when it could not be had, and the tests that need it do not run. */
  readonly path: string;
}

/**
 * The test runs the program `name` of `version`, a part of `tools/go_parts/parts.ts`; it is built
 * here if it is not in the cache: `const headscale = await part("headscale", "0.29.2");`.
 */
export async function part(name: string, version: string): Promise<BuiltPart> {
  try {
    const path = await goPart(name, version);
    return { path, missing: () => undefined };
  } catch (error) {
    if (!(error instanceof GoPartError)) throw error;
    const reason = `it needs ${name} ${version}: ${error.reason} (${error.remedy ?? "no remedy"})`;
    // Where there is Go, a part that cannot be built is a failure of the gate.
    return { path: "", missing: () => reason, mayBeAbsent: error instanceof NoGoError };
  }
}

/**
 * Options for a test that needs `needs`: `Deno.test({ ...requires(root), name, fn })`.
 *
 * Prints the reason when the test is to be skipped; throws it in strict mode.
 */
export function requires(...needs: readonly Need[]): { readonly ignore: boolean } {
  let ignore = false;
  for (const need of needs) {
    const reason = need.missing();
    if (reason === undefined) continue;
    const mayBeAbsent = need.ofKernel === true || need.mayBeAbsent === true;
    if (!mayBeAbsent && Deno.env.get("HEADCNI_TEST_STRICT") === "1") {
      throw new Error(`Cannot skip a test that must run here: ${reason}`);
    }
    Deno.stderr.writeSync(new TextEncoder().encode(`skip: ${reason}\n`));
    ignore = true;
  }
  return { ignore };
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
