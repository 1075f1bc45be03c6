/** Carries out `headcni tailnet`; the work is the daemon's, loaded when it is called. */

import { untilSignalled } from "../sys/signals.ts";
import { type Invocation, type Output, type Run } from "./command.ts";
import { ExitCode } from "./exit_code.ts";
import { printJson } from "./ipam/context.ts";
import type { TailnetStatus } from "../daemon/tailnet_face.ts";

const face = () => import("../daemon/tailnet_face.ts");

function optionsOf(invocation: Invocation, output: Output) {
  return { configPath: invocation.value("config"), env: output.env };
}

/** `headcni tailnet run`. */
export const RUN: { run: Run } = {
  run: async (invocation, output) => {
    const { runTailnet } = await face();
    await untilSignalled((signal) => runTailnet(optionsOf(invocation, output), signal));
    return ExitCode.ok;
  },
};

/** `headcni tailnet status`. */
export const STATUS: { run: Run } = {
  run: async (invocation, output) => {
    const { tailnetStatus } = await face();
    const status = await tailnetStatus(optionsOf(invocation, output));
    if (invocation.has("json")) printJson(output, status);
    else output.stdout.write(statusText(status, output));
    return status.conditions.length === 0 ? ExitCode.ok : ExitCode.findings;
  },
};

/** `headcni tailnet leave`. */
export const LEAVE: { run: Run } = {
  run: async (invocation, output) => {
    const { leaveTailnet } = await face();
    const { done, failures } = await leaveTailnet(optionsOf(invocation, output));
    const told = failures.map(({ message, remedy }) => ({ message, remedy: remedy ?? null }));
    if (invocation.has("json")) printJson(output, { done, failures: told });
    else {
      const lines = done.length === 0 ? ["nothing to put back"] : done;
      output.stdout.write(lines.map((line) => `${line}\n`).join(""));
    }
    for (const { message } of failures) output.stderr.write(`headcni: ${message}\n`);
    return failures.length === 0 ? ExitCode.ok : ExitCode.failure;
  },
};

function statusText(status: TailnetStatus, { paint }: Output): string {
  const { node, tunnel } = status;
  const isolation = status.isolation === "none" ? "" : `, isolation ${status.isolation}`;
  return [
    `mode     ${status.mode}${isolation}`,
    `pods     ${status.podCIDRs.join(", ")}`,
    `tunnel   ${tunnel.name}${tunnel.mtu === null ? ", not there" : `, MTU ${tunnel.mtu}`}`,
    `node     ${
      node === null ? "unknown" : `${node.id}, ${node.state}, ${node.addresses.join(", ")}`
    }`,
    ...status.peers.map(({ name, routes, path, online }) =>
      `peer     ${name}: ${routes.join(", ") || "no routes"}, ` +
      `${online ? "online" : "offline"}${path === null ? "" : `, ${path}`}`
    ),
    ...status.conditions.flatMap(({ code, severity, message, remedy }) => [
      `${severity === "error" ? paint.error(severity) : severity}  ${code}: ${message}`,
      ...(remedy === null ? [] : [`         ${remedy}`]),
    ]),
    ...status.pending.map((step) => `to do    ${step}`),
    status.working ? "pods of other nodes can be reached" : "pods of other nodes cannot be reached",
    "",
  ].join("\n");
}
