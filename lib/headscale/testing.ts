/**
 * A server that answers as a test says, on the loopback, for tests of what goes wrong.
 *
 * @module
 */

import { Secret } from "../sys/secret.ts";
import type { Features } from "./features.ts";
import { type Headscale, type HeadscaleOptions, openHeadscale } from "./headscale.ts";

/** What arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The JSON of the body, `undefined` if there was none. */
  readonly body: unknown;
  readonly authorization: string | undefined;
}

/** Answers a request: with JSON, or with any response. */
export type Answer = (seen: SeenRequest) => unknown | Promise<unknown>;

/** A server that does as it is told. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** How many connections were made. */
  readonly connections: number;
}

/** Starts a server; `answers` is by `METHOD /path`, and `*` answers everything else. */
export function startScriptedServer(answers: Readonly<Record<string, Answer>>): ScriptedServer {
  const seen: SeenRequest[] = [];
  const clients = new Set<number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request, info) => {
      clients.add(info.remoteAddr.port);
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const one: SeenRequest = {
        method: request.method,
        path: pathname + search,
        body: text === "" ? undefined : JSON.parse(text),
        authorization: request.headers.get("authorization") ?? undefined,
      };
      seen.push(one);
      const answer = answers[`${request.method} ${pathname}`] ?? answers["*"];
      const result = await answer?.(one) ?? grpcError(404, { code: 5, message: "Not Found" });
      return result instanceof Response ? result : Response.json(result);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    get connections() {
      return clients.size;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An error as versions up to 0.29 send it. */
export function grpcError(status: number, error: { code: number; message: string }): Response {
  return Response.json({ ...error, details: [] }, { status });
}

/** An error as 0.30 sends it. */
export function problem(status: number, detail: string, errors: readonly unknown[] = []): Response {
  const body = JSON.stringify({ title: "Title", status, detail, errors });
  return new Response(body, { status, headers: { "content-type": "application/problem+json" } });
}

/** The API description of a server with `features`, as far as we read it. */
export function apiDescription(features: Features): unknown {
  const paths: Record<string, unknown> = {
    "/api/v1/preauthkey": { get: {}, ...(features.ownerlessTags ? { delete: {} } : {}) },
    ...(features.routes === "set"
      ? { "/api/v1/node/{nodeId}/approve_routes": { post: {} } }
      : { "/api/v1/node/{nodeId}/routes": { get: {} } }),
    ...(features.checksPolicy ? { "/api/v1/policy/check": { post: {} } } : {}),
    ...(features.allowsWithoutRules ? { "/api/v1/health": { get: {} } } : {}),
  };
  const user = { type: "string", ...(features.keyUser === "id" ? { format: "uint64" } : {}) };
  const expire = features.expiresKeysById ? { id: {} } : { user: {}, key: {} };
  const definitions = {
    v1CreatePreAuthKeyRequest: { properties: { user } },
    v1ExpirePreAuthKeyRequest: { properties: expire },
  };
  return { swagger: "2.0", paths, definitions };
}

/** Features as of 0.29. */
export const CURRENT_FEATURES: Features = {
  routes: "set",
  keyUser: "id",
  expiresKeysById: true,
  ownerlessTags: true,
  checksPolicy: true,
  allowsWithoutRules: true,
};

/** Features as of 0.25. */
export const OLD_FEATURES: Features = {
  routes: "rows",
  keyUser: "name",
  expiresKeysById: false,
  ownerlessTags: false,
  checksPolicy: false,
  allowsWithoutRules: false,
};

/** A key that must never be seen. */
export const CANARY = "hskey-api-canary-0123456789abcdef";

/** The client of `server`, patient, with waits as short as can be. */
export function openScripted(
  server: ScriptedServer,
  options: Partial<HeadscaleOptions> = {},
): Headscale {
  return openHeadscale({
    url: server.url,
    apiKey: new Secret(CANARY),
    random: () => 0n,
    deadlineMs: 30_000,
    ...options,
  });
}

/** A node as versions from 0.28 on send it. */
export function wireNode(changes: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    id: "7",
    nodeKey: "nodekey:07",
    name: "worker-7",
    givenName: "worker-7",
    user: { id: "1", name: "k8s" },
    ipAddresses: ["100.64.0.7", "fd7a:115c:a1e0::7"],
    tags: [],
    online: true,
    expiry: null,
    availableRoutes: [],
    approvedRoutes: [],
    subnetRoutes: [],
    ...changes,
  };
}

/** Whether `part` comes out of `whole` by leaving characters out: nothing of it was lost. */
export function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const character of part) {
    at = whole.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
