/** The face a container runtime sees: one call, one verb, one JSON value. */

import { dispatch, type PluginIo, type VerbTable } from "./dispatch.ts";
import { type NetworkConfig } from "./network_config.ts";
import { SUPPORTED_VERSIONS } from "./version.ts";

/** Which plugin was called: the network plugin, or the IPAM plugin under its own name. */
export type PluginFace = "main" | "ipam";

/** Whether other plugins are to be run; without these keys nothing of `chain/` is loaded. */
function isChain({ raw }: NetworkConfig): boolean {
  return [raw.delegate, raw.plugins].some((value) => value !== undefined && value !== null);
}

const VERBS: Readonly<Record<PluginFace, VerbTable>> = {
  main: {
    ADD: {
      since: "0.1.0",
      about: "ADD",
      load: async (config) =>
        isChain(config)
          ? (await import("./chain/run_add.ts")).add
          : (await import("./native/add.ts")).add,
    },
    DEL: {
      since: "0.1.0",
      about: "DEL",
      load: async (config) =>
        isChain(config)
          ? (await import("./chain/run_del.ts")).del
          : (await import("./native/del.ts")).del,
    },
    CHECK: {
      since: "0.4.0",
      about: "CHECK",
      load: async (config) =>
        isChain(config)
          ? (await import("./chain/run_check.ts")).check
          : (await import("./native/check.ts")).check,
    },
    GC: {
      since: "1.1.0",
      load: async (config) =>
        isChain(config)
          ? (await import("./chain/run_gc.ts")).gc
          : (await import("./native/gc.ts")).gc,
    },
    STATUS: {
      since: "1.1.0",
      load: async (config) =>
        isChain(config)
          ? (await import("./chain/run_status.ts")).status
          : (await import("./native/status.ts")).status,
    },
  },
  ipam: {
    ADD: {
      since: "0.1.0",
      about: "ADD",
      load: async () => (await import("./ipam_verbs.ts")).add,
    },
    DEL: {
      since: "0.1.0",
      about: "DEL",
      load: async () => (await import("./ipam_verbs.ts")).del,
    },
    CHECK: {
      since: "0.4.0",
      about: "CHECK",
      load: async () => (await import("./ipam_verbs.ts")).check,
    },
    GC: { since: "1.1.0", load: async () => (await import("./ipam_verbs.ts")).gc },
    STATUS: { since: "1.1.0", load: async () => (await import("./ipam_verbs.ts")).status },
  },
};

const ABOUT: Readonly<Record<PluginFace, string>> = {
  main: "headcni, a CNI network plugin",
  ipam: "headcni-ipam, a CNI IPAM plugin",
};

/** Answers one call of the plugin and returns the exit code. */
export async function runPlugin(face: PluginFace, io: PluginIo): Promise<number> {
  if (io.env("CNI_COMMAND") === undefined) {
    // A person typed the name of the IPAM plugin; CNI programs then say what they are.
    io.stderr.write(`${ABOUT[face]}\nCNI protocol versions: ${SUPPORTED_VERSIONS.join(", ")}\n`);
    return 0;
  }
  return await dispatch(VERBS[face], io);
}
