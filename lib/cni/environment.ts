/** The parameters a runtime passes by environment (SPEC, section "Parameters"). */

import { EnvironmentError } from "./errors.ts";

/** The verbs that need to know which interface of which container they are about. */
export type AttachmentCommand = "ADD" | "DEL" | "CHECK";

/** Which interface of which container a call is about. */
export interface CallParameters {
  readonly containerId: string;
  /** Path of the network namespace; empty on DEL when it is gone. */
  readonly netns: string;
  readonly ifname: string;
  /** `CNI_ARGS` as it came; see `cni_args.ts`. */
  readonly args: string;
  /** Directories to look for other plugins in. */
  readonly path: readonly string[];
  /** The caller insists on a namespace that is our own (an extension of the Go library). */
  readonly allowOwnNetns: boolean;
}

type Environment = (name: string) => string | undefined;

/** Variables that must be there, per verb; the rest may be missing. */
const REQUIRED: Readonly<Record<AttachmentCommand, readonly string[]>> = {
  ADD: ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"],
  DEL: ["CNI_CONTAINERID", "CNI_IFNAME"],
  CHECK: ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"],
};

/**
 * Whether `text` may be a container id or a network name. SPEC, "Parameters": starts with an
 * alphanumeric character, then `_`, `.`, `-` as well.
 *
 * Not a regular expression: compiling one takes longer than a pod's address takes to be found.
 */
export function isIdentifier(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (isAlphanumeric(character) || index > 0 && "_.-".includes(character)) continue;
    return false;
  }
  return text !== "";
}

function isAlphanumeric(character: string): boolean {
  return character >= "a" && character <= "z" || character >= "A" && character <= "Z" ||
    character >= "0" && character <= "9";
}

/**
 * Reads and checks the variables of `command`; an empty one counts as missing.
 *
 * @throws {EnvironmentError} naming every variable that is missing or wrong.
 */
export function readParameters(command: AttachmentCommand, env: Environment): CallParameters {
  const value = (name: string): string => env(name) ?? "";
  const missing = REQUIRED[command].filter((name) => value(name) === "");
  if (missing.length > 0) {
    throw new EnvironmentError(missing, `${command} needs ${missing.length > 1 ? "them" : "it"}`);
  }
  const containerId = value("CNI_CONTAINERID");
  if (!isIdentifier(containerId)) {
    throw new EnvironmentError(
      ["CNI_CONTAINERID"],
      `${JSON.stringify(containerId)} does not start with a letter or digit and go on with ` +
        "letters, digits, _, . or -",
    );
  }
  const ifname = value("CNI_IFNAME");
  const problem = ifnameProblem(ifname);
  if (problem !== undefined) {
    throw new EnvironmentError(["CNI_IFNAME"], `${JSON.stringify(ifname)} ${problem}`);
  }
  return {
    containerId,
    netns: value("CNI_NETNS"),
    ifname,
    args: value("CNI_ARGS"),
    path: pluginDirectories(env),
    allowOwnNetns: /^(1|true)$/i.test(value("CNI_NETNS_OVERRIDE")),
  };
}

/**
 * `CNI_PATH` as a list; empty parts, which would mean the current directory, are left out.
 * `separator` is a semicolon on Windows.
 */
export function pluginDirectories(env: Environment, separator: string = ":"): readonly string[] {
  return (env("CNI_PATH") ?? "").split(separator).filter((directory) => directory !== "");
}

/** What the specification passes by environment, `CNI_COMMAND` apart; then the Go library's. */
const VARIABLES = [
  "CNI_CONTAINERID",
  "CNI_NETNS",
  "CNI_IFNAME",
  "CNI_ARGS",
  "CNI_PATH",
  "CNI_NETNS_OVERRIDE",
] as const;

/** The variables of a call that go on to a plugin it delegates to, if they are set. */
export function cniVariables(env: Environment): Record<string, string> {
  return Object.fromEntries(VARIABLES.flatMap((name) => {
    const value = env(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** What the kernel's `dev_valid_name()` has against `name`, as a phrase. */
function ifnameProblem(name: string): string | undefined {
  // The usual "eth0" needs none of what follows, and pays for none of it.
  if (name.length <= 15 && isIdentifier(name)) return undefined;
  const bytes = new TextEncoder().encode(name);
  if (bytes.length > 15) return "is longer than 15 bytes";
  if (name === "." || name === "..") return "is a directory";
  // The set of Go's unicode.IsSpace, which runtimes check with; \s has U+FEFF on top.
  // The kernel looks at bytes and takes 0xA0 for white space: "à" ends with it in UTF-8.
  if (/[/:\0]|(?!\uFEFF)\s|\u0085/.test(name) || bytes.includes(0xa0)) {
    return "contains a slash, a colon or white space";
  }
  // dev_alloc_name() would put a number in its place.
  if (name.includes("%")) return "contains a percent sign";
  return undefined;
}
