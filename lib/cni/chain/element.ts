/** One plugin of a chain, ready to be called. */

import { type JsonObject } from "../../sys/json_reader.ts";
import { type CniVersion } from "../version.ts";

/** A plugin and what it is told, the previous result apart. */
export interface ChainElement {
  readonly position: number;
  readonly type: string;
  /** How errors call it: `portmap (plugins[1])`. */
  readonly label: string;
  /** The version it is spoken to in. */
  readonly version: CniVersion;
  readonly config: JsonObject;
}

/** Types that run in this process; the values say what they are. */
const IN_PROCESS = { headcni: "network", "headcni-ipam": "ipam" } as const;

/** What of ours a plugin of this type is; `undefined` for a program. */
export function ownPart(type: string): "network" | "ipam" | undefined {
  return type === "headcni" || type === "headcni-ipam" ? IN_PROCESS[type] : undefined;
}
