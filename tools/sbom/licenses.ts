/**
 * The licence of every npm package in `deno.lock`, as its `package.json` states it.
 *
 * Kept by hand on purpose: a new package is a decision, and its licence is part of it.
 */

/** SPDX identifier → packages under it. */
const PACKAGES_BY_LICENSE: Readonly<Record<string, readonly string[]>> = {
  "Apache-2.0": [
    "@kubernetes/client-node",
    "@opentelemetry/api",
    "b4a",
    "bare-buffer",
    "bare-events",
    "bare-fs",
    "bare-path",
    "bare-stream",
    "bare-url",
    "events-universal",
    "prom-client",
    "text-decoder",
  ],
  "BSD-2-Clause": [
    "webidl-conversions",
  ],
  ISC: [
    "once",
    "wrappy",
  ],
  MIT: [
    "@jsep-plugin/assignment",
    "@jsep-plugin/regex",
    "@types/js-yaml",
    "@types/node",
    "@types/node-fetch",
    "@types/stream-buffers",
    "agent-base",
    "async-function",
    "async-generator-function",
    "asynckit",
    "bintrees",
    "call-bind-apply-helpers",
    "combined-stream",
    "debug",
    "delayed-stream",
    "deno-std",
    "dunder-proto",
    "end-of-stream",
    "es-define-property",
    "es-errors",
    "es-object-atoms",
    "es-set-tostringtag",
    "fast-fifo",
    "form-data",
    "function-bind",
    "generator-function",
    "get-intrinsic",
    "get-proto",
    "gopd",
    "has-symbols",
    "has-tostringtag",
    "hasown",
    "hpagent",
    "ip-address",
    "ipaddr.js",
    "isomorphic-ws",
    "jose",
    "js-yaml",
    "jsep",
    "jsonpath-plus",
    "math-intrinsics",
    "mime-db",
    "mime-types",
    "ms",
    "node-fetch",
    "oauth4webapi",
    "openid-client",
    "pump",
    "rfc4648",
    "smart-buffer",
    "socks",
    "socks-proxy-agent",
    "streamx",
    "tar-fs",
    "tar-stream",
    "tdigest",
    "teex",
    "tr46",
    "undici-types",
    "whatwg-url",
    "ws",
  ],
  "Python-2.0": [
    "argparse",
  ],
  Unlicense: [
    "stream-buffers",
  ],
};

const LICENSES: ReadonlyMap<string, string> = new Map(
  Object.entries(PACKAGES_BY_LICENSE).flatMap(([license, names]) =>
    names.map((name) => [name, license] as const)
  ),
);

/** The SPDX identifier of the licence of an npm package, `undefined` when nobody looked it up. */
export function licenseOf(name: string): string | undefined {
  return LICENSES.get(name);
}
