/** Pre-auth keys: what a new node shows to be let in. */

import type { Clock } from "../sys/clock.ts";
import { Secret } from "../sys/secret.ts";
import { HeadscaleError } from "./errors.ts";
import type { Features } from "./features.ts";
import type { CallOptions, Requests } from "./requests.ts";
import type { HeadscaleUser } from "./users.ts";

/** Long enough for a node to start, short enough that a stolen key is worth little. */
export const KEY_LIFETIME_MS = 10 * 60_000;

/** What a key is to be for. */
export interface KeyWish {
  /**
   * Who owns the node. Headscale from 0.28 on needs none for a node with tags, and is not told
   * one: such a node belongs to its tags.
   */
  readonly user?: HeadscaleUser;
  /** Tags of the node: `tag:k8s-node`. */
  readonly tags?: readonly string[];
}

/** A key for one node, valid for {@linkcode KEY_LIFETIME_MS}. */
export interface MintedKey {
  readonly id: string;
  readonly key: Secret;
  /** Whom it was minted for; needed to expire it before 0.28. */
  readonly user: HeadscaleUser | undefined;
  readonly expiresAtMs: number;
}

/**
 * Mints a key: for one node, not ephemeral (Headscale would delete the node whenever it is away),
 * for ten minutes.
 *
 * Not retried once it may have been sent: the key nobody got would be valid for ten minutes.
 */
export async function mintKey(
  requests: Requests,
  wish: KeyWish,
  options: CallOptions & { readonly features: Features; readonly clock: Pick<Clock, "now"> },
): Promise<MintedKey> {
  const { features, clock } = options;
  const tags = wish.tags ?? [];
  const user = features.ownerlessTags && tags.length > 0 ? undefined : wish.user;
  if (user === undefined && !(features.ownerlessTags && tags.length > 0)) {
    throw new HeadscaleError({
      kind: "Unsupported",
      operation: "mint a pre-auth key",
      reason: "this Headscale needs a user to mint it for",
      remedy: "Name a user in the configuration",
    });
  }
  const expiresAtMs = clock.now() + KEY_LIFETIME_MS;
  return await requests.ask({
    operation: "mint a pre-auth key",
    method: "POST",
    path: "/api/v1/preauthkey",
    body: {
      ...(user === undefined ? {} : { user: user[features.keyUser] }),
      reusable: false,
      ephemeral: false,
      // Without it the key is born expired: the zero time is before now.
      expiration: new Date(expiresAtMs).toISOString(),
      ...(tags.length === 0 ? {} : { aclTags: tags }),
    },
    idempotent: false,
    read: (answer) => {
      const key = answer.required("preAuthKey");
      return { id: key.text("id"), key: new Secret(key.text("key")), user, expiresAtMs };
    },
  }, options);
}

/** Ends a key before its time, because it was not used. One that is gone is no error. */
export async function expireKey(
  requests: Requests,
  minted: MintedKey,
  options: CallOptions & { readonly features: Features },
): Promise<void> {
  const { features } = options;
  const body = features.expiresKeysById
    ? { id: minted.id }
    : { user: minted.user?.[features.keyUser] ?? "", key: minted.key.expose() };
  try {
    await requests.ask({
      operation: "expire pre-auth key",
      subject: minted.id,
      method: "POST",
      path: "/api/v1/preauthkey/expire",
      body,
      idempotent: true,
      secrets: [minted.key],
      read: () => undefined,
    }, options);
  } catch (error) {
    if (!(error instanceof HeadscaleError) || error.kind !== "NotFound") throw error;
  }
}
