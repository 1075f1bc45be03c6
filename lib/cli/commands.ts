/** The table of commands. What is not in it does not exist. */

import { type Command } from "./command.ts";
import { IPAM } from "./ipam_commands.ts";
import { TAILNET } from "./tailnet_commands.ts";

const HELP: Command = {
  name: "help",
  summary: "Explain a command",
  positionals: [{ name: "COMMAND", summary: "The command to explain", optional: true }],
  examples: [{ command: "headcni help version", does: "The same as headcni version --help" }],
};

const VERSION: Command = {
  name: "version",
  summary: "Print what this program is and what it was built from",
  description:
    "Prints the version, the commit and the parts of this program. Give its output with\n" +
    "every bug report.",
  flags: [{ name: "json", summary: "Print one JSON object" }],
  examples: [
    { command: "headcni version", does: "For people" },
    { command: "headcni version --json | jq -r .commit", does: "For programs" },
  ],
  load: () => import("./version_command.ts"),
};

const COMPLETION: Command = {
  name: "completion",
  summary: "Print a completion script for your shell",
  description: "Prints a script that teaches a shell to complete headcni's commands and flags.",
  positionals: [{
    name: "SHELL",
    summary: "The shell to complete for",
    choices: ["bash", "zsh", "fish"],
  }],
  examples: [
    {
      command: "source <(headcni completion bash)",
      does: "For this bash session",
    },
    {
      command: "headcni completion bash > /etc/bash_completion.d/headcni",
      does: "For every bash session on this machine",
    },
    {
      command: 'headcni completion zsh > "${fpath[1]}/_headcni"',
      does: "For zsh (compinit has to run after it)",
    },
    {
      command: "headcni completion fish > ~/.config/fish/completions/headcni.fish",
      does: "For fish",
    },
  ],
  load: () => import("./completion_command.ts"),
};

/** The program itself; the commands it lists are those that work. */
export const ROOT: Command = {
  name: "headcni",
  summary: "Pod network for Kubernetes nodes anywhere",
  description:
    "HeadCNI joins the pods of Kubernetes nodes anywhere (bare metal, edge, clouds, behind\n" +
    "NAT) into one network over Tailscale, coordinated by your own Headscale.",
  flags: [{ name: "version", summary: "The same as headcni version" }],
  examples: [
    { command: "headcni version", does: "What is installed here" },
    { command: "CNI_COMMAND=VERSION headcni", does: "What a container runtime asks first" },
  ],
  commands: [TAILNET, IPAM, VERSION, COMPLETION, HELP],
};
