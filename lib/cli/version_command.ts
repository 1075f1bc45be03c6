/** `headcni version`: what this program is. */

import { SUPPORTED_VERSIONS } from "../cni/version.ts";
import { type LibmnlSource, libmnlSource } from "../netlink/libmnl.ts";
import { readBuildInfo, runtimeVersions } from "../sys/build_info.ts";
import { HeadcniError } from "../sys/errors.ts";
import { type Invocation, type Output } from "./command.ts";
import { ExitCode } from "./exit_code.ts";

/** Prints the version; with `--json` as one object whose keys stay. */
export function run(invocation: Invocation, output: Output): number {
  const build = readBuildInfo();
  const runtime = runtimeVersions();
  const libmnl = findLibmnl();
  if (invocation.has("json")) {
    const facts = { ...build, ...runtime, libmnl, cniVersions: SUPPORTED_VERSIONS };
    output.stdout.write(JSON.stringify(facts, null, 2) + "\n");
    return ExitCode.ok;
  }
  output.stdout.write([
    `headcni ${build.version}`,
    `commit  ${build.commit}`,
    `target  ${build.target}`,
    `deno    ${runtime.deno} (v8 ${runtime.v8})`,
    `lock    ${build.lockHash}`,
    `libmnl  ${libmnl === null ? "none" : `${libmnl.source}, ${libmnl.path}`}`,
    `cni     ${SUPPORTED_VERSIONS.join(", ")}`,
    "",
  ].join("\n"));
  return ExitCode.ok;
}

/** The libmnl this node would use; `null` where there is none, as on other systems than Linux. */
function findLibmnl(): { readonly source: LibmnlSource; readonly path: string } | null {
  try {
    return libmnlSource();
  } catch (error) {
    if (!(error instanceof HeadcniError)) throw error;
    return null;
  }
}
