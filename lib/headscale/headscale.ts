/** A Headscale server, and all this program wants of it. */

import type { Prefix } from "../ip/prefix.ts";
import { type Clock, systemClock } from "../sys/clock.ts";
import { denoFiles, type Files } from "../sys/files.ts";
import { type HttpPool, openHttpPool } from "../sys/http_pool.ts";
import { discardLog, type Log } from "../sys/log.ts";
import type { Secret } from "../sys/secret.ts";
import { checkApiKey } from "./api_key.ts";
import { type Approval, approveRoutes, type OwnNode, withdrawRoutes } from "./approve.ts";
import { isHeadscaleError } from "./errors.ts";
import { detectFeatures, type Features } from "./features.ts";
import {
  deleteNode,
  expireNode,
  getNode,
  type HeadscaleNode,
  listNodes,
  renameNode,
  setNodeTags,
} from "./nodes.ts";
import { ensurePolicy, type PolicyOutcome, readPolicy } from "./policy.ts";
import type { PolicyWish } from "./policy_merge.ts";
import { expireKey, type KeyWish, type MintedKey, mintKey } from "./pre_auth_keys.ts";
import { type CallOptions, Requests, type RequestsOptions } from "./requests.ts";
import { parseServerUrl } from "./server_url.ts";
import { ensureUser, type HeadscaleUser, listUsers } from "./users.ts";

/** Options for {@linkcode openHeadscale}. */
export interface HeadscaleOptions
  extends Pick<RequestsOptions, "random" | "record" | "deadlineMs" | "attemptMs"> {
  /** `https://headscale.example.com`. */
  readonly url: string;
  readonly apiKey: Secret;
  /** A file with the certificate (PEM) of a CA of your own. */
  readonly caFile?: string | undefined;
  /** @default {discardLog} */
  readonly log?: Log;
  /** @default {systemClock} */
  readonly clock?: Clock;
  /** @default {denoFiles} */
  readonly files?: Pick<Files, "readText">;
  /** @default {openHttpPool} */
  readonly openPool?: typeof openHttpPool;
}

/**
 * Opens the server at `url`. Nothing is sent yet: a server that is away now may be back later.
 *
 * @throws {ServerUrlError} if the URL cannot be Headscale's.
 * @throws {ApiKeyError} if the key cannot be one.
 * @throws {FileError} if the file of the CA cannot be read.
 */
export function openHeadscale(options: HeadscaleOptions): Headscale {
  const { apiKey, caFile, log = discardLog, clock = systemClock, files = denoFiles } = options;
  const { base, isClear } = parseServerUrl(options.url);
  checkApiKey(apiKey, "the configuration");
  if (isClear) {
    log.warn("The API key goes to Headscale in clear: use https", { url: base });
  }
  const caCertificates = caFile === undefined ? [] : [files.readText(caFile)];
  const pool = (options.openPool ?? openHttpPool)({ caCertificates });
  const requests = new Requests({ ...options, base, clock, pool });
  return new Headscale({ requests, pool, clock });
}

/**
 * A Headscale server. Every method takes a `signal`, ends within the deadline, and throws
 * {@linkcode HeadscaleError}. Disposing of it closes the connections.
 */
export class Headscale implements Disposable {
  readonly #requests: Requests;
  readonly #pool: HttpPool;
  readonly #clock: Clock;
  #features: Features | undefined;

  constructor(parts: { requests: Requests; pool: HttpPool; clock: Clock }) {
    this.#requests = parts.requests;
    this.#pool = parts.pool;
    this.#clock = parts.clock;
  }

  [Symbol.dispose](): void {
    this.#pool[Symbol.dispose]();
  }

  /** What this server can do; asked once. {@linkcode Headscale.forget} asks again. */
  async features(options: CallOptions = {}): Promise<Features> {
    this.#features ??= await detectFeatures(this.#requests, options);
    return this.#features;
  }

  /** To be called when the server may have been upgraded, after it was away, say. */
  forget(): void {
    this.#features = undefined;
  }

  /** Whether it says that it and its database are well. Needs no key. */
  async isHealthy(options: CallOptions = {}): Promise<boolean> {
    try {
      return await this.#requests.ask({
        operation: "ask Headscale for its health",
        method: "GET",
        path: "/health",
        idempotent: false, // a server that says it is ill is not asked again
        authorized: false,
        read: (answer) => answer.optionalText("status") === "pass",
      }, options);
    } catch (error) {
      if (isHeadscaleError(error, "Failed")) return false;
      throw error;
    }
  }

  /** What it calls its version; `undefined` before 0.27, where it does not tell. Needs no key. */
  async version(options: CallOptions = {}): Promise<string | undefined> {
    try {
      return await this.#requests.ask({
        operation: "ask Headscale for its version",
        method: "GET",
        path: "/version",
        idempotent: true,
        authorized: false,
        read: (answer) => answer.optionalText("version"),
      }, options);
    } catch (error) {
      if (isHeadscaleError(error, "NotFound")) return undefined;
      throw error;
    }
  }

  /** All users. */
  async users(options: CallOptions = {}): Promise<readonly HeadscaleUser[]> {
    return await listUsers(this.#requests, options);
  }

  /** The user called `name`, created if there is none. */
  async ensureUser(name: string, options: CallOptions = {}): Promise<HeadscaleUser> {
    return await ensureUser(this.#requests, name, options);
  }

  /** A pre-auth key for one node and ten minutes. */
  async mintKey(wish: KeyWish, options: CallOptions = {}): Promise<MintedKey> {
    const features = await this.features(options);
    return await mintKey(this.#requests, wish, { ...options, features, clock: this.#clock });
  }

  /** Ends a pre-auth key that was not used. */
  async expireKey(minted: MintedKey, options: CallOptions = {}): Promise<void> {
    await expireKey(this.#requests, minted, await this.#withFeatures(options));
  }

  /** All nodes with their routes. */
  async nodes(options: CallOptions = {}): Promise<readonly HeadscaleNode[]> {
    return await listNodes(this.#requests, await this.#withFeatures(options));
  }

  /** The node `id`. @throws {HeadscaleError} `NotFound` if there is none. */
  async node(id: string, options: CallOptions = {}): Promise<HeadscaleNode> {
    return await getNode(this.#requests, id, await this.#withFeatures(options));
  }

  /** Ends the key of a node now. */
  async expireNode(id: string, options: CallOptions = {}): Promise<void> {
    await expireNode(this.#requests, id, options);
  }

  /** Deletes a node; returns whether there was one. */
  async deleteNode(id: string, options: CallOptions = {}): Promise<boolean> {
    return await deleteNode(this.#requests, id, options);
  }

  /** Renames a node in the tailnet's DNS. */
  async renameNode(
    change: { readonly id: string; readonly name: string },
    options: CallOptions = {},
  ): Promise<void> {
    await renameNode(this.#requests, change, options);
  }

  /** Replaces the tags of a node. */
  async setNodeTags(
    change: { readonly id: string; readonly tags: readonly string[] },
    options: CallOptions = {},
  ): Promise<void> {
    await setNodeTags(this.#requests, change, options);
  }

  /** Approves `mine` for our node, beside what is approved. @throws {RouteRefusedError} */
  async approve(
    request: { readonly own: OwnNode; readonly mine: readonly Prefix[] },
    options: CallOptions = {},
  ): Promise<Approval> {
    return await approveRoutes(this.#requests, request, await this.#withFeatures(options));
  }

  /** Takes the approval of `mine` back and leaves the rest. */
  async withdraw(
    request: { readonly own: OwnNode; readonly mine: readonly Prefix[] },
    options: CallOptions = {},
  ): Promise<Approval> {
    return await withdrawRoutes(this.#requests, request, await this.#withFeatures(options));
  }

  /** The text of the policy; `undefined` if there is none. */
  async policy(options: CallOptions = {}): Promise<string | undefined> {
    return await readPolicy(this.#requests, options);
  }

  /** Adds to the policy what a cluster needs, if the server lets us. @throws {PolicyError} */
  async ensurePolicy(
    wish: Omit<PolicyWish, "allowsWithoutRules">,
    options: CallOptions = {},
  ): Promise<PolicyOutcome> {
    return await ensurePolicy(this.#requests, wish, await this.#withFeatures(options));
  }

  async #withFeatures(options: CallOptions): Promise<CallOptions & { features: Features }> {
    return { ...options, features: await this.features(options) };
  }
}
