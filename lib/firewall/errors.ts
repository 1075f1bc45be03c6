/** What can go wrong with the packet filter. */

import { type ErrorParts, HeadcniError } from "../sys/errors.ts";
import type { HostPort } from "./pod_rules.ts";

/** The ruleset cannot be loaded, or a pod's rules make no sense. */
export class FirewallError extends HeadcniError {
  override readonly name: string = "FirewallError";
}

/** The tables are not there, or not whole: {@linkcode ensureRuleset} and try again. */
export class RulesetMissingError extends FirewallError {
  override readonly name = "RulesetMissingError";

  constructor(parts: Pick<ErrorParts, "operation" | "subject" | "cause">) {
    super({ ...parts, reason: "the nft table inet headcni is not loaded, or was changed" });
  }
}

/** What a {@linkcode HostPortConflictError} is made of. */
export interface HostPortConflict {
  /** Who asked for the port. */
  readonly hostInterface: string;
  readonly hostPort: HostPort;
  /** Host interface of the pod that has it; `undefined` if somebody else made the entry. */
  readonly owner: string | undefined;
  /** Where the port leads now, as `nft` writes it: `10.244.3.7 . 80`. */
  readonly target: string;
}

/** A port of the node is already given to another pod. Nothing was changed. */
export class HostPortConflictError extends FirewallError {
  override readonly name = "HostPortConflictError";
  readonly conflict: HostPortConflict;

  constructor(conflict: HostPortConflict) {
    const { hostPort: { protocol, hostPort, hostIp }, owner, target, hostInterface } = conflict;
    const where = hostIp === undefined ? `${hostPort}` : `${hostPort} on ${hostIp}`;
    super({
      operation: "map host port",
      subject: `${protocol} ${where} to ${hostInterface}`,
      reason: `it leads to ${target.replace(" . ", " port ")}` +
        (owner === undefined ? ", an entry with no known owner" : ` (${owner})`),
      remedy: "Give the pods different host ports, or delete the pod that has it",
    });
    this.conflict = conflict;
  }
}
