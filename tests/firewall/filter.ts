/** A packet filter of a test's own, with no node around it. */

import {
  ensureRuleset,
  type LoadOptions,
  type PodRules,
  RULESET,
  type Ruleset,
} from "../../lib/firewall/mod.ts";
import { parseAddress } from "../../lib/ip/mod.ts";
import { type Run, run } from "../../lib/sys/process.ts";
import { Sandbox } from "../netlink/fixture.ts";

/** A namespace with a connection to its packet filter. */
export class Filter implements Disposable {
  readonly sandbox = new Sandbox();
  readonly connection = this.sandbox.netfilter();
  /** How often `nft` was run. */
  runs = 0;

  readonly run: Run = (command, args, options = {}) => {
    this.runs++;
    const { clearEnv: _, ...rest } = options;
    return run("ip", ["netns", "exec", this.sandbox.name, command, ...args], rest);
  };

  /** `ensureRuleset` with `nft` run in the namespace. */
  load(ruleset: Ruleset = RULESET, options: LoadOptions = {}): Promise<string> {
    return ensureRuleset(this.connection, { ...options, ruleset, run: this.run });
  }

  /** `nft` in the namespace; what it prints. */
  nft(...command: readonly string[]): string {
    return this.sandbox.run("nft", ...command);
  }

  [Symbol.dispose](): void {
    this.connection[Symbol.dispose]();
    this.sandbox[Symbol.dispose]();
  }
}

/** A pod of its own for each number up to 60,000. */
export function pod(number: number): PodRules {
  return {
    hostInterface: `hcni${number}`,
    addresses: [
      parseAddress(`10.244.${3 + (number >> 8)}.${number & 255}`),
      parseAddress(`fd00:3::${number}`),
    ],
    masquerade: true,
    antiSpoof: true,
    hostPorts: [{ protocol: "tcp", hostPort: 8000 + number, containerPort: 80 }],
  };
}
