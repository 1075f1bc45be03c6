/** The face a container runtime sees: one call, one verb, one JSON value. */

import { dispatch, type PluginIo, type VerbTable } from "./dispatch.ts";
import { SPEC_VERSION, SUPPORTED_VERSIONS } from "./version.ts";

/** Which plugin was called: the network plugin, or the IPAM plugin under its own name. */
export type PluginFace = "main" | "ipam";

/**
 * Standard input is not read: the answer does not depend on it, and a caller that
 * keeps the pipe open must not hang (the Go library does the same).
 */
function version(): unknown {
  return { cniVersion: SPEC_VERSION, supportedVersions: SUPPORTED_VERSIONS };
}

const VERBS: Readonly<Record<PluginFace, VerbTable>> = {
  main: { VERSION: version },
  ipam: { VERSION: version },
};

const ABOUT: Readonly<Record<PluginFace, string>> = {
  main: "headcni, a CNI network plugin",
  ipam: "headcni-ipam, a CNI IPAM plugin",
};

/** Answers one call of the plugin and returns the exit code. */
export function runPlugin(face: PluginFace, io: PluginIo): number {
  if (io.env("CNI_COMMAND") === undefined) {
    // A person typed the name of the IPAM plugin; CNI programs then say what they are.
    io.stderr.write(`${ABOUT[face]}\nCNI protocol versions: ${SUPPORTED_VERSIONS.join(", ")}\n`);
    return 0;
  }
  return dispatch(VERBS[face], io);
}
