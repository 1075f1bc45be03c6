/** What a node of the rig is told. */

import { INNER_URL } from "../headscale/server.ts";
import { tailscaled } from "./needs.ts";

/** Variables every tailscaled of the rig needs: the relay speaks plain HTTP. */
export const ENVIRONMENT: Record<string, string> = {
  TS_DEBUG_USE_DERP_HTTP: "true",
  TS_DISABLE_PORTMAPPER: "1",
};

/** Options of a `TailnetNode`. */
export interface NodeSpec {
  readonly mode: "host" | "daemon";
  readonly isolation?: "none" | "netns";
  /** Whether the machine has a tailscaled of its own beside ours. */
  readonly hostTailscaled?: boolean;
  /** Whether it has a tag, and sees to the policy. */
  readonly tagged?: boolean;
  /** Third byte of its pod network; its own number if absent. */
  readonly subnet?: number;
  /** Text of the API key; a new one if absent. */
  readonly apiKey?: string;
  /** Whether it knows where all pod networks are taken from, or has to learn them. */
  readonly base?: boolean;
}

/** The text of its `config.yaml`. */
export function nodeConfig(node: {
  readonly spec: NodeSpec;
  readonly number: number;
  readonly directory: string;
  readonly hostSocket: string;
  readonly cidr4: string;
  readonly cidr6: string;
}): string {
  const { directory } = node;
  const { mode, isolation = "none", base = false, tagged = false } = node.spec;
  const own = mode === "host" ? `  socket: ${node.hostSocket}` : `  isolation: ${isolation}
  binary: ${tailscaled.path}
  hostname: n${node.number}
  environment: ${JSON.stringify(ENVIRONMENT)}`;
  return `headscale:
  url: ${INNER_URL}
  apiKeyFile: ${directory}/api.key
${tagged ? '  tags: ["tag:k8s-node"]\n  policy: merge' : ""}
tailscale:
  mode: ${mode}
${own}
network:
  podCIDR:
    nodeLocal: ["${node.cidr4}", "${node.cidr6}"]
${base ? '    base: ["10.244.0.0/16", "fd44::/48"]' : ""}
stateDir: ${directory}/state
runtimeDir: ${directory}/run
log: { level: DEBUG }
`;
}
