/** What the steps of the conformance suite share. */

import { type Headscale, openHeadscale } from "../../lib/headscale/mod.ts";
import { type RecordingLog, recordingLog } from "../../lib/sys/testing.ts";
import type { Secret } from "../../lib/sys/secret.ts";
import { TestTailscale } from "./node.ts";
import type { NodePrograms } from "./node.ts";
import type { TestHeadscale } from "./server.ts";

/** One server under test. */
export interface ConformanceCase extends Disposable {
  readonly server: TestHeadscale;
  readonly client: Headscale;
  readonly apiKey: Secret;
  readonly log: RecordingLog;
  readonly version: string;
  /** Whether routes are switched one by one, as up to 0.25. */
  readonly hasRouteRows: boolean;
  /** Starts a node called `name`, which is not logged in yet. */
  startNode(name: string): TestTailscale;
}

/** The tag of the nodes in the suite. */
export const TAG = "tag:k8s-node";

/** Opens the client of `server`. */
export function openCase(
  server: TestHeadscale,
  options: { readonly programs: NodePrograms; readonly version: string },
): ConformanceCase {
  const apiKey = server.createApiKey();
  const log = recordingLog();
  const client = openHeadscale({ url: server.url, apiKey, log, ...PATIENCE });
  return {
    server,
    client,
    apiKey,
    log,
    version: options.version,
    hasRouteRows: options.version === "0.25.1",
    startNode(name) {
      const node = new TestTailscale(server, name, options.programs);
      node.start();
      return node;
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

/** The machine is shared: an answer may take long for no reason of ours. */
export const PATIENCE = { attemptMs: 30_000, deadlineMs: 60_000 };

/** Waits until `holds`; fails with what it last saw otherwise. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  holds: (seen: T) => boolean,
): Promise<T> {
  for (const end = Date.now() + 60_000;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end) throw new Error(`Cannot wait longer: ${Deno.inspect(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
