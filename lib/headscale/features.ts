/**
 * What this Headscale can do, found out from the description of its API.
 *
 * Not from its version: binaries people build themselves call themselves `dev`, and before 0.27
 * there is no call that tells the version at all.
 */

import type { JsonView } from "../sys/json_view.ts";
import { HeadscaleError, isHeadscaleError } from "./errors.ts";
import type { CallOptions, Requests } from "./requests.ts";

/** What differs between the versions we speak, 0.23 to 0.30. */
export interface Features {
  /**
   * How routes are approved: `set` replaces the set of a node (`approve_routes`, from 0.26),
   * `rows` switches one route each (`/api/v1/routes`, up to 0.25).
   */
  readonly routes: "set" | "rows";
  /** How a pre-auth key names its user: by name up to 0.25, by id from 0.26. */
  readonly keyUser: "name" | "id";
  /** Pre-auth keys are expired by id (0.28); before, by user and the key itself. */
  readonly expiresKeysById: boolean;
  /** A key with tags needs no user, and its nodes belong to none (0.28). */
  readonly ownerlessTags: boolean;
  /** A policy can be checked without setting it (0.29). */
  readonly checksPolicy: boolean;
  /** A policy without rules allows everything (0.27); before, it denies everything. */
  readonly allowsWithoutRules: boolean;
}

/** From 0.30 on the API is described by OpenAPI 3; all it lists is as of 0.29 or newer. */
const MODERN: Features = {
  routes: "set",
  keyUser: "id",
  expiresKeysById: true,
  ownerlessTags: true,
  checksPolicy: true,
  allowsWithoutRules: true,
};

/** Descriptions of the API: up to 0.29, and from 0.30 on. */
const DOCUMENTS = ["/swagger/v1/openapiv2.json", "/api/v1/openapi.json"] as const;

/** Asks the server what it can do. @throws {HeadscaleError} */
export async function detectFeatures(
  requests: Requests,
  options: CallOptions = {},
): Promise<Features> {
  const operation = "find out what Headscale can do";
  for (const path of DOCUMENTS) {
    try {
      const call = { operation, method: "GET", path, idempotent: true, authorized: false } as const;
      return await requests.ask({ ...call, read: featuresOf }, options);
    } catch (error) {
      if (!isHeadscaleError(error, "NotFound")) throw error;
    }
  }
  throw new HeadscaleError({
    kind: "Unsupported",
    operation,
    reason: `it serves neither ${DOCUMENTS.join(" nor ")}`,
    remedy: "Check that the URL is Headscale's own, and that a proxy in front passes these paths",
  });
}

/**
 * The features an API description stands for.
 *
 * @throws {HeadscaleError} for a Headscale before 0.23, whose nodes are still called machines.
 */
export function featuresOf(document: JsonView): Features {
  const paths = document.required("paths");
  const has = (path: string) => paths.object(path) !== undefined;
  const approves = has("/api/v1/node/{nodeId}/approve_routes");
  if (!approves && !has("/api/v1/node/{nodeId}/routes")) {
    throw new HeadscaleError({
      kind: "Unsupported",
      operation: "use this Headscale",
      reason: "its API has no nodes with routes; it is older than 0.23, or no Headscale",
      remedy: "Upgrade it to 0.26 or newer",
    });
  }
  if (document.optionalText("openapi") !== undefined) return MODERN;
  const property = (request: string, name: string) =>
    document.object("definitions")?.object(request)?.object("properties")?.object(name);
  return {
    routes: approves ? "set" : "rows",
    keyUser: property("v1CreatePreAuthKeyRequest", "user")?.optionalText("format") === "uint64"
      ? "id"
      : "name",
    expiresKeysById: property("v1ExpirePreAuthKeyRequest", "id") !== undefined,
    ownerlessTags: paths.object("/api/v1/preauthkey")?.object("delete") !== undefined,
    checksPolicy: has("/api/v1/policy/check"),
    allowsWithoutRules: has("/api/v1/health"),
  };
}
