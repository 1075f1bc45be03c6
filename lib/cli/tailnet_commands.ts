/** The table of `headcni tailnet`. */

import { type Command, type Flag } from "./command.ts";
import { ExitCode } from "./exit_code.ts";

const CONFIG: Flag = {
  name: "config",
  summary: "The configuration; /etc/headcni/config.yaml if not given",
  value: { placeholder: "FILE" },
};
const JSON_FLAG: Flag = { name: "json", summary: "Print JSON" };

const RUN: Command = {
  name: "run",
  summary: "Keep this node in the tailnet, until it is told to end",
  description:
    "Logs in (daemon mode), advertises this node's pod networks, has Headscale approve them, and\n" +
    "repairs what others break: settings, rules, routes, the interface. Logs to standard error.\n" +
    "Packets flow on when it ends; start it again at any time.",
  flags: [CONFIG],
  examples: [{ command: "headcni tailnet run", does: "With /etc/headcni/config.yaml" }],
  load: async () => (await import("./tailnet_runs.ts")).RUN,
};

const STATUS: Command = {
  name: "status",
  summary: "Look at this node's tailnet: what is wrong, and what helps",
  description: "Asks tailscaled, Headscale and the kernel, and changes nothing. It needs no\n" +
    "running daemon.",
  flags: [CONFIG, JSON_FLAG],
  examples: [
    { command: "headcni tailnet status", does: "For people" },
    {
      command: "headcni tailnet status --json | jq -r '.conditions[].code'",
      does: "What is wrong, for programs",
    },
  ],
  exitCodes: [{ code: ExitCode.findings, meaning: "something is wrong" }],
  load: async () => (await import("./tailnet_runs.ts")).STATUS,
};

const LEAVE: Command = {
  name: "leave",
  summary: "Put back what was changed on this machine and in Headscale",
  description:
    "Host mode: settings of tailscaled, advertised routes and their approval are as before;\n" +
    "what somebody else changed since stays. Daemon mode: the node is deleted in Headscale and\n" +
    "its tailscaled ended. Rules and routes of ours are removed. End headcni tailnet run first.",
  flags: [CONFIG, JSON_FLAG],
  examples: [{ command: "headcni tailnet leave", does: "Before uninstalling" }],
  load: async () => (await import("./tailnet_runs.ts")).LEAVE,
};

/** `headcni tailnet`. */
export const TAILNET: Command = {
  name: "tailnet",
  summary: "Join this node's pods with those of other nodes",
  description:
    "Pods of all nodes reach each other through the tailnet, coordinated by Headscale. See\n" +
    "docs/tailnet.md.",
  examples: [{ command: "headcni tailnet status", does: "Is all well" }],
  commands: [RUN, STATUS, LEAVE],
};
