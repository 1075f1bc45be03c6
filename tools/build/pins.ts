/** The pinned parts of the toolchain: what they are and how to recognise them. */

import pins from "./pins.json" with { type: "json" };
import { type Target } from "./targets.ts";

/** A program on npm that was compiled with the pinned Deno, and so contains its runtime. */
export interface NpmCarrier {
  readonly package: string;
  readonly version: string;
  /** Path of the program inside the package's archive. */
  readonly file: string;
  /** `dist.integrity` of the archive. */
  readonly integrity: string;
}

/** A compile runtime (`denort`) whose bytes we know. */
export interface RuntimePin {
  readonly bytes: number;
  readonly sha256: string;
  readonly npm: NpmCarrier;
}

/** The Deno release everything is built with. */
export const PINNED_DENO: string = pins.deno;

const RUNTIME_PINS: Partial<Record<Target, RuntimePin>> = pins.runtimes;

/** The pinned runtime of `target`, `undefined` where none is pinned. */
export function runtimePin(target: Target): RuntimePin | undefined {
  return RUNTIME_PINS[target];
}
