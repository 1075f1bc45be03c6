/**
 * A few calls of the plugin with nothing real behind them: no kernel, no root. V8 compiles a
 * function when it is first called, so afterwards just those that ADD and DEL need are compiled,
 * and they are what the code cache should hold.
 */

import { RehearsalLibraries } from "./libraries.ts";

/** The part of the plugin's script that is called. */
export interface Plugin {
  runPlugin(face: "main" | "ipam", io: unknown, place: { files: string }): Promise<number>;
}

const PORT = { hostPort: 8080, containerPort: 80, protocol: "tcp" };
const RATES = { ingressRate: 1e8, ingressBurst: 8e6, egressRate: 1e8, egressBurst: 8e6 };

/** What pods ask for; each is added and deleted. */
const PODS: readonly Readonly<Record<string, unknown>>[] = [
  { pod_cidr: "10.244.0.0/24" },
  {
    pod_cidr: "10.244.0.0/24,fd00:244::/64",
    mtu: 1400,
    runtimeConfig: { portMappings: [PORT], bandwidth: RATES },
  },
];

/** Adds and deletes pods. `directory` is for the store. @throws {Error} if a call fails. */
export async function rehearse(plugin: Plugin, directory: string): Promise<void> {
  const restore = pretend();
  try {
    for (const [index, pod] of PODS.entries()) {
      const config = {
        cniVersion: "1.0.0",
        name: "net",
        type: "headcni",
        dataDir: directory,
        ...pod,
      };
      const containerId = `pod${index}`;
      const added = await call(plugin, { command: "ADD", config, containerId });
      await call(plugin, {
        command: "DEL",
        config: { ...config, prevResult: JSON.parse(added) },
        containerId,
      });
    }
  } finally {
    restore();
  }
}

async function call(
  plugin: Plugin,
  { command, config, containerId }: { command: string; config: unknown; containerId: string },
): Promise<string> {
  const variables: Readonly<Record<string, string>> = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerId,
    CNI_NETNS: "/run/netns/pod",
    CNI_IFNAME: "eth0",
    CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web",
    CNI_PATH: "/opt/cni/bin",
  };
  let stdout = "";
  let stderr = "";
  const io = {
    env: (name: string) => variables[name],
    readStdin: () => JSON.stringify(config),
    stdout: { write: (text: string) => void (stdout += text) },
    stderr: { write: (text: string) => void (stderr += text) },
  };
  const code = await plugin.runPlugin("main", io, { files: "file:///none" });
  if (code !== 0) throw new Error(`Cannot rehearse ${command}: ${stdout}${stderr}`);
  return stdout;
}

/** Puts stand-ins where the plugin reaches the kernel; returns what takes them away again. */
function pretend(): () => void {
  const libraries = new RehearsalLibraries();
  const { Command, dlopen, readTextFileSync, writeTextFileSync, statSync } = Deno;
  const isSetting = (path: unknown) => String(path).startsWith("/proc/sys/net/");
  Object.assign(Deno, {
    // Nothing is run: who builds may be root, and it is their machine.
    Command: class {
      constructor(program: string) {
        throw new Error(`Cannot run ${program} in a rehearsal`);
      }
    },
    dlopen: (path: string) => ({ symbols: libraries.open(path) }),
    readTextFileSync: (path: string) => isSetting(path) ? "1\n" : readTextFileSync(path),
    writeTextFileSync: (path: string, text: string) => {
      if (!isSetting(path)) writeTextFileSync(path, text);
    },
    // Device and inode of a namespace, by its descriptor.
    statSync: (path: string) => {
      const fd = /^\/proc\/self\/fd\/(\d+)$/.exec(path)?.[1];
      return fd === undefined ? statSync(path) : { dev: 1, ino: Number(fd) };
    },
  });
  return () =>
    Object.assign(Deno, { Command, dlopen, readTextFileSync, writeTextFileSync, statSync });
}
