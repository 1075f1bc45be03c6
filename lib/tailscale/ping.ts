/** An answer through the tailnet (`ipnstate.PingResult` of Tailscale). */

import { type IpAddress, parseAddress } from "../ip/mod.ts";
import { parseJsonView } from "../sys/json_view.ts";

/**
 * - `disco`: the peer's tailscaled answers, below WireGuard.
 * - `TSMP`: it answers through the tunnel, but not its kernel.
 * - `ICMP`: the kernel behind the tunnel answers.
 * - `peerapi`: its HTTP server for peers answers.
 */
export type PingType = "disco" | "TSMP" | "ICMP" | "peerapi";

/** What came of a ping. */
export interface PingResult {
  /** Why there was no answer. */
  readonly problem: string | undefined;
  /** Tailnet address of the node that answered: of a router, if a pod was asked. */
  readonly nodeAddress: IpAddress | undefined;
  readonly nodeName: string;
  readonly latencyMs: number;
  /** The direct way, `address:port`; `undefined` when relayed. */
  readonly endpoint: string | undefined;
  /** Code of the relay the answer came by. */
  readonly relay: string | undefined;
}

/** The result in the JSON `text`. @throws {JsonShapeError} */
export function parsePing(text: string): PingResult {
  const view = parseJsonView(text, "an answer to a ping");
  return {
    problem: view.optionalText("Err"),
    nodeAddress: view.parsed("NodeIP", parseAddress),
    nodeName: view.optionalText("NodeName") ?? "",
    latencyMs: view.number("LatencySeconds") * 1000,
    endpoint: view.optionalText("Endpoint"),
    relay: view.optionalText("DERPRegionCode"),
  };
}
