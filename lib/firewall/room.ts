/**
 * The packet filter inside the namespace of an isolated tailscaled: a small table of its own.
 *
 * The node masquerades packets of pods for the tailnet to its end of the cable; in here they
 * become the node's tailnet address, which every peer can answer. Packets between pods keep
 * theirs.
 */

import type { Prefix } from "../ip/mod.ts";
import type { NetlinkConnection } from "../netlink/mod.ts";
import { listChainNames } from "../netlink/nftables_objects.ts";
import { type Run, run } from "../sys/process.ts";
import { findNft } from "./nft_program.ts";
import { TABLE } from "./ruleset.ts";

/** What the table is about. */
export interface RoomSpec {
  /** Path of the namespace. */
  readonly netnsPath: string;
  readonly tunnel: string;
  /** Networks of the cable, one per family. */
  readonly cable: readonly Prefix[];
}

/** An empty chain whose name tells this version from others. */
const MARKER = "room_1";
const TIMEOUT_MS = 20_000;

/** Whether the table is there, in this version. `connection`: netfilter, inside. */
export function isRoomLoaded(connection: NetlinkConnection): boolean {
  return listChainNames(connection, { family: "inet", table: TABLE }).includes(MARKER);
}

/**
 * Loads the table, replacing one that is there. ≈ `nsenter --net=PATH nft -f -`
 *
 * @throws {FirewallError} if `nft` is not installed.
 * @throws {ProcessError} if it refuses; then nothing has changed.
 */
export async function loadRoom(spec: RoomSpec, execute: Run = run): Promise<void> {
  const args = [`--net=${spec.netnsPath}`, findNft(), "-f", "-"];
  await execute("nsenter", args, { stdin: renderRoom(spec), timeoutMs: TIMEOUT_MS, check: true });
}

/** The text of the table. */
export function renderRoom({ tunnel, cable }: Omit<RoomSpec, "netnsPath">): string {
  const masquerade = cable.map((prefix) => {
    const source = `${prefix.family === 4 ? "ip" : "ip6"} saddr ${prefix.masked()}`;
    return `    oifname "${tunnel}" ${source} masquerade fully-random`;
  });
  return `table inet ${TABLE}
delete table inet ${TABLE}
table inet ${TABLE} {
  chain ${MARKER} {
  }
  chain forward {
    type filter hook forward priority -5; policy accept;
    oifname "${tunnel}" tcp flags syn / syn,rst tcp option maxseg size set rt mtu
  }
  chain postrouting {
    type nat hook postrouting priority 95; policy accept;
${masquerade.join("\n")}
  }
}
`;
}
