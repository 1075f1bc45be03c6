/** Asks tailscaled and Headscale; a failure is an answer, too. */

import { type Headscale, type HeadscaleNode } from "../../headscale/mod.ts";
import { HeadcniError } from "../../sys/errors.ts";
import type { LocalApi } from "../../tailscale/mod.ts";
import type { Answer, Problem, TailscaledView } from "./observed.ts";

/** State and settings of tailscaled. */
export async function askTailscaled(
  api: Pick<LocalApi, "status" | "prefs">,
  signal?: AbortSignal,
): Promise<Answer<TailscaledView>> {
  return await answer(async () => {
    const options = signal === undefined ? {} : { signal };
    const [status, prefs] = await Promise.all([api.status(options), api.prefs(options)]);
    return { status, prefs };
  });
}

/** All nodes Headscale knows. */
export async function askHeadscale(
  headscale: Pick<Headscale, "nodes">,
  signal?: AbortSignal,
): Promise<Answer<readonly HeadscaleNode[]>> {
  return await answer(() => headscale.nodes({ signal }));
}

async function answer<T>(work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof HeadcniError)) throw error;
    return { ok: false, problem: problemOf(error) };
  }
}

/** An error as a problem. */
export function problemOf(error: HeadcniError): Problem {
  const kind = "kind" in error && typeof error.kind === "string" ? error.kind : error.name;
  return { kind, message: error.message, remedy: error.remedy };
}
