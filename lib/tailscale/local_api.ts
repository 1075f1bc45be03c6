/**
 * tailscaled's LocalAPI over its unix socket: every call this program makes of it.
 *
 * Upstream calls the interface unstable; these paths and fields are the same from 1.80 to
 * 1.102, and all that is read goes through guards.
 */

import type { IpAddress } from "../ip/mod.ts";
import { type Clock, systemClock } from "../sys/clock.ts";
import { parseJsonView } from "../sys/json_view.ts";
import type { Secret } from "../sys/secret.ts";
import { type RequestUnix, requestUnix } from "../sys/unix_http.ts";
import { LocalApiError } from "./errors.ts";
import {
  asLocalError,
  callLocal,
  type LocalCall,
  type LocalPlace,
  openLocal,
} from "./local_call.ts";
import { parsePing, type PingResult, type PingType } from "./ping.ts";
import { encodeEdit, parsePrefs, type Prefs, type PrefsEdit } from "./prefs.ts";
import { parseStatus, type TailscaledStatus } from "./status.ts";
import { parseWhoIs, type WhoIs } from "./who_is.ts";

/** Where a tailscaled that somebody else runs listens. */
export const DEFAULT_SOCKET = "/var/run/tailscale/tailscaled.sock";

/** Options for {@linkcode LocalApi}. */
export interface LocalApiOptions {
  /** @default {"/var/run/tailscale/tailscaled.sock"} */
  readonly socketPath?: string;
  /** For calls that say nothing else. @default {10_000} */
  readonly timeoutMs?: number;
  readonly request?: RequestUnix;
  readonly clock?: Pick<Clock, "sleep">;
}

/** What every call takes. */
export interface CallOptions {
  readonly timeoutMs?: number;
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a call says beside its options. */
type Call = Pick<LocalCall, "operation" | "method" | "path" | "body" | "secrets">;

/**
 * A client of one tailscaled. It keeps no connection: each call opens one, so a tailscaled
 * that was restarted is met at the next call. Every call throws {@linkcode LocalApiError}, or
 * `JsonShapeError` for an answer of another shape.
 */
export class LocalApi {
  readonly socketPath: string;
  readonly #place: LocalPlace;
  readonly #timeoutMs: number;

  constructor(options: LocalApiOptions = {}) {
    const { socketPath = DEFAULT_SOCKET, timeoutMs = 10_000 } = options;
    const { request = requestUnix, clock = systemClock } = options;
    this.socketPath = socketPath;
    this.#place = { socketPath, request, clock };
    this.#timeoutMs = timeoutMs;
  }

  /** State, addresses, this node and, unless told otherwise, its peers. */
  async status(
    options: CallOptions & { readonly peers?: boolean } = {},
  ): Promise<TailscaledStatus> {
    const path = options.peers === false ? "status?peers=false" : "status";
    const operation = "read the status of tailscaled";
    return parseStatus(await this.#call({ operation, method: "GET", path }, options));
  }

  /** The settings. */
  async prefs(options: CallOptions = {}): Promise<Prefs> {
    const operation = "read the settings of tailscaled";
    return parsePrefs(await this.#call({ operation, method: "GET", path: "prefs" }, options));
  }

  /**
   * Changes settings and returns all of them as they are then. Routes and tags replace the
   * whole list: read, merge, write. A new control server counts from the next
   * {@linkcode LocalApi.start}.
   */
  async editPrefs(edit: PrefsEdit, options: CallOptions = {}): Promise<Prefs> {
    const operation = "change the settings of tailscaled";
    const body = encodeEdit(edit);
    return parsePrefs(
      await this.#call({ operation, method: "PATCH", path: "prefs", body }, options),
    );
  }

  /**
   * Begins anew with the settings as they are, dropping the connection to the control
   * server. Not for changing settings: {@linkcode LocalApi.editPrefs} does that without a
   * gap. `authKey` is kept for the login that follows.
   */
  async start(options: CallOptions & { readonly authKey?: Secret } = {}): Promise<void> {
    const { authKey } = options;
    await this.#call({
      operation: "start tailscaled's backend",
      method: "POST",
      path: "start",
      body: authKey === undefined ? {} : { AuthKey: authKey.expose() },
      secrets: authKey === undefined ? [] : [authKey],
    }, options);
  }

  /**
   * Logs in: with the key given to {@linkcode LocalApi.start}, else `status().authUrl` says
   * where a person has to. It returns at once; follow the status.
   */
  async loginInteractive(options: CallOptions = {}): Promise<void> {
    await this.#call(
      { operation: "log in to the tailnet", method: "POST", path: "login-interactive" },
      options,
    );
  }

  /** Leaves the tailnet: the control server expires the key, tailscaled forgets it. */
  async logout(options: CallOptions = {}): Promise<void> {
    await this.#call(
      { operation: "log out of the tailnet", method: "POST", path: "logout" },
      { timeoutMs: 30_000, ...options },
    );
  }

  /** Asks `address` for an answer through the tailnet, and which way it took. */
  async ping(
    address: IpAddress,
    options: CallOptions & { readonly type?: PingType } = {},
  ): Promise<PingResult> {
    const { type = "disco" } = options;
    const operation = `ping ${address}`;
    const path = `ping?ip=${encodeURIComponent(`${address}`)}&type=${type}`;
    return parsePing(await this.#call({ operation, method: "POST", path }, options));
  }

  /** Whose tailnet address `address` is; `undefined` if nobody's that is known. */
  async whoIs(address: IpAddress, options: CallOptions = {}): Promise<WhoIs | undefined> {
    const path = `whois?addr=${encodeURIComponent(`${address}`)}`;
    try {
      const operation = `find out whose ${address} is`;
      return parseWhoIs(await this.#call({ operation, method: "GET", path }, options));
    } catch (error) {
      if (error instanceof LocalApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Counters in Prometheus' text form. */
  async userMetrics(options: CallOptions = {}): Promise<string> {
    const operation = "read the metrics of tailscaled";
    return await this.#call({ operation, method: "GET", path: "usermetrics" }, options);
  }

  /** Why this machine would not forward packets, as tailscaled sees it; `undefined`: it would. */
  async checkIpForwarding(options: CallOptions = {}): Promise<string | undefined> {
    const operation = "check IP forwarding";
    return await this.#warning({ operation, method: "GET", path: "check-ip-forwarding" }, options);
  }

  /** Turns on the offloads that make forwarding UDP fast; what tailscaled says against it. */
  async setUdpGroForwarding(options: CallOptions = {}): Promise<string | undefined> {
    const operation = "turn on UDP GRO forwarding";
    const path = "set-udp-gro-forwarding";
    return await this.#warning({ operation, method: "POST", path }, options);
  }

  /**
   * Bytes of the notification bus, one JSON object per line, until `signal`; see
   * `watch_bus.ts`, which makes wake-ups of them.
   */
  async *busBytes(mask: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const call: LocalCall = {
      operation: "watch tailscaled",
      method: "GET",
      path: `watch-ipn-bus?mask=${mask}`,
      timeoutMs: Infinity,
    };
    try {
      using response = await openLocal(this.#place, call, signal);
      yield* response.body;
    } catch (error) {
      throw asLocalError(this.#place, call, error);
    }
  }

  async #warning(call: Call, options: CallOptions): Promise<string | undefined> {
    const answer = parseJsonView(await this.#call(call, options), "a warning of tailscaled");
    return answer.optionalText("Warning");
  }

  async #call(call: Call, options: CallOptions): Promise<string> {
    const { timeoutMs = this.#timeoutMs, signal } = options;
    return await callLocal(this.#place, { ...call, timeoutMs, signal });
  }
}
