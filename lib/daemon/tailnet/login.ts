/** Lets the node into the tailnet with a key minted for it alone. */

import type { Headscale, MintedKey } from "../../headscale/mod.ts";
import type { Log } from "../../sys/log.ts";
import type { Secret } from "../../sys/secret.ts";
import type { LocalApi, PrefsEdit } from "../../tailscale/mod.ts";

/** Who the node belongs to. */
export interface Owner {
  /** Name of a user of Headscale; created if there is none. */
  readonly user: string;
  /** Tags of the node; from Headscale 0.28 on it belongs to them instead of the user. */
  readonly tags: readonly string[];
}

/** What a login works with. */
export interface LoginContext {
  readonly api: Pick<LocalApi, "editPrefs" | "start" | "loginInteractive">;
  readonly headscale: Pick<Headscale, "features" | "ensureUser" | "mintKey" | "expireKey">;
  readonly owner: Owner;
  /** Keeps the key out of what is passed on of tailscaled's log. */
  readonly conceal: (key: Secret) => void;
  readonly log: Log;
}

/**
 * Begins a login; the state of tailscaled tells how it goes on. A key that could not be handed
 * over is ended at once.
 *
 * @throws {HeadscaleError} {@linkcode LocalApiError}
 */
export async function login(
  { edit, interactive }: { readonly edit: PrefsEdit; readonly interactive: boolean },
  context: LoginContext,
): Promise<void> {
  const { api, headscale, log } = context;
  const minted = await mint(context);
  context.conceal(minted.key);
  try {
    await api.editPrefs(edit);
    await api.start({ authKey: minted.key });
    if (interactive) await api.loginInteractive();
  } catch (error) {
    await headscale.expireKey(minted).catch((reason) => {
      log.warn("an unused pre-auth key could not be ended; it ends by itself in ten minutes", {
        id: minted.id,
        error: reason,
      });
    });
    throw error;
  }
  log.info("logging in with a key for this node only", { keyId: minted.id });
}

async function mint({ headscale, owner }: LoginContext): Promise<MintedKey> {
  const { tags } = owner;
  const { ownerlessTags } = await headscale.features();
  if (ownerlessTags && tags.length > 0) return await headscale.mintKey({ tags });
  const user = await headscale.ensureUser(owner.user);
  return await headscale.mintKey({ user, tags });
}
