/**
 * `deno task parts`: builds the real peers of the tests (headscale, tailscaled, tailscale) from
 * the Go module proxy into the cache, and prints where each one is.
 *
 * Tests call {@linkcode goPart} themselves; this is for building ahead of time.
 */

import { goPart } from "./go_parts/build_part.ts";
import { GO_PARTS } from "./go_parts/parts.ts";
import { HeadcniError } from "../lib/sys/errors.ts";

const USAGE = `Usage: deno task parts [NAME…]

Builds what the tests run against, if it is not in the cache yet: ${
  GO_PARTS.map(({ name, version }) => `${name} ${version}`).join(", ")
}.
With names, such as tailscaled, only these.

Environment: HEADCNI_CACHE (where to keep them; default ~/.cache/headcni), GOPROXY, GOTOOLCHAIN.
`;

async function main(names: readonly string[]): Promise<number> {
  const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));
  const known = new Set(GO_PARTS.map(({ name }) => name));
  if (names.some((name) => !known.has(name))) {
    print(USAGE);
    return names.includes("--help") ? 0 : 2;
  }
  for (const { name, version } of GO_PARTS) {
    if (names.length > 0 && !names.includes(name)) continue;
    try {
      print(`${name} ${version}: ${await goPart(name, version)}\n`);
    } catch (error) {
      if (!(error instanceof HeadcniError)) throw error;
      print(`${error.message}\n${error.remedy === undefined ? "" : `${error.remedy}\n`}`);
      return 1;
    }
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
