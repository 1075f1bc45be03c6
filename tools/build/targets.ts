/** What `deno compile` can produce, and what the release workflow ships. */

/** The targets of a release. Deno has no runtime for 386, arm, s390x, ppc64le or riscv64. */
export const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
] as const;

/** One of {@linkcode TARGETS}. */
export type Target = typeof TARGETS[number];

/** Whether `text` names a target we can build. */
export function isTarget(text: string): text is Target {
  return TARGETS.some((target) => target === text);
}

/** Debian's name of the processor of a Linux target, `undefined` for other systems. */
export function debianArchitecture(target: Target): "amd64" | "arm64" | undefined {
  switch (target) {
    case "x86_64-unknown-linux-gnu":
      return "amd64";
    case "aarch64-unknown-linux-gnu":
      return "arm64";
    default:
      return undefined;
  }
}

/** Where the build puts the program for `target`; the host's own has the plain name. */
export function outputName(target: Target, host: string): string {
  const suffix = target.includes("windows") ? ".exe" : "";
  return target === host ? `headcni${suffix}` : `headcni-${target}${suffix}`;
}
