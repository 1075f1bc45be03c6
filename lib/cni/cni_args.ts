/** `CNI_ARGS`: `KEY=VALUE` pairs separated by semicolons. */

/** The pairs by key; values are as they came. */
export type CniArgs = ReadonlyMap<string, string>;

/**
 * Reads `CNI_ARGS`. Lenient: a part that is no pair is left out, and unknown keys stay in.
 *
 * Runtimes put their own keys there for every plugin of a chain, so strictness only breaks
 * chains (the Go library needs `IgnoreUnknown=1` for the same effect), and a DEL must not
 * fail on what ADD was called with.
 *
 * @example
 * ```ts
 * import { parseCniArgs } from "./cni_args.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const args = parseCniArgs("IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=front-0");
 * assertEquals(args.get("K8S_POD_NAME"), "front-0");
 * ```
 */
export function parseCniArgs(text: string): CniArgs {
  const args = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    if (at > 0) args.set(part.slice(0, at), part.slice(at + 1));
  }
  return args;
}

/** The pod a call is for, as Kubernetes runtimes name it. */
export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** The pod named by `args`, `undefined` when the caller is no Kubernetes runtime. */
export function podOf(args: CniArgs): PodIdentity | undefined {
  const namespace = args.get("K8S_POD_NAMESPACE");
  const name = args.get("K8S_POD_NAME");
  if (!namespace || !name) return undefined;
  return { namespace, name, uid: args.get("K8S_POD_UID") || undefined };
}
