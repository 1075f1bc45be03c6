/** One call of tailscaled's LocalAPI: the request as it wants it, failures by kind. */

import { type Clock, DeadlineError, withDeadline } from "../sys/clock.ts";
import type { HttpRequest } from "../sys/http_message.ts";
import { redact, type Secret } from "../sys/secret.ts";
import { SocketError, type SocketErrorKind } from "../sys/socket_error.ts";
import { type RequestUnix, type UnixResponse } from "../sys/unix_http.ts";
import { LocalApiError, type LocalApiErrorKind } from "./errors.ts";
import { redactKeys } from "./redact_keys.ts";

/** tailscaled answers to no other name (`ipn/localapi`: a guard against DNS rebinding). */
const HOST = "local-tailscaled.sock";
const PREFIX = "/localapi/v0/";

/** The status of a tailnet of 10,000 peers is about 15 MB. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;
const MAX_ERROR_BYTES = 65_536;

/** How to reach tailscaled. */
export interface LocalPlace {
  readonly socketPath: string;
  readonly request: RequestUnix;
  readonly clock: Pick<Clock, "sleep">;
}

/** A call. */
export interface LocalCall {
  /** What it does, as a verb phrase: begins the error. */
  readonly operation: string;
  readonly method: HttpRequest["method"];
  /** Below `/localapi/v0/`, with its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Taken out of whatever an error says. */
  readonly secrets?: readonly Secret[];
}

/**
 * The text tailscaled answers with.
 *
 * @throws {LocalApiError}
 */
export async function callLocal(place: LocalPlace, call: LocalCall): Promise<string> {
  const { operation, timeoutMs, signal } = call;
  try {
    return await withDeadline(timeoutMs, async (stop) => {
      using response = await openLocal(place, call, stop);
      return await response.text(MAX_ANSWER_BYTES);
    }, { operation, clock: place.clock, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    throw asLocalError(place, call, error);
  }
}

/**
 * The answer of tailscaled once it has accepted the call; its body is still to be read, for
 * as long as `signal` allows.
 *
 * @throws {LocalApiError} {@linkcode SocketError}, or the signal's reason.
 */
export async function openLocal(
  place: LocalPlace,
  call: LocalCall,
  signal: AbortSignal,
): Promise<UnixResponse> {
  const { method, path, body } = call;
  const request = {
    method,
    path: `${PREFIX}${path}`,
    host: HOST,
    ...(body === undefined ? {} : {
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  };
  const response = await place.request(place.socketPath, request, { signal });
  if (response.status >= 200 && response.status < 300) return response;
  using refused = response;
  throw refusal(call, refused.status, await refused.text(MAX_ERROR_BYTES));
}

/** `error`, thrown on `call`, as a {@linkcode LocalApiError}; a signal's reason as it is. */
export function asLocalError(place: LocalPlace, call: LocalCall, error: unknown): unknown {
  const { operation } = call;
  if (error instanceof DeadlineError) {
    const reason = `tailscaled gave no answer within ${error.limitMs} ms`;
    return new LocalApiError({ kind: "Deadline", operation, reason, cause: error });
  }
  if (!(error instanceof SocketError)) return error;
  const kind = KIND_OF[error.kind];
  const remedy = remedyFor(kind);
  return new LocalApiError({
    kind,
    operation,
    reason: kind === "NotRunning"
      ? `tailscaled is not running: ${error.reason} (${place.socketPath})`
      : `${error.reason} (${place.socketPath})`,
    ...(remedy === undefined ? {} : { remedy }),
    cause: error,
  });
}

const KIND_OF: Readonly<Record<SocketErrorKind, LocalApiErrorKind>> = {
  Missing: "NotRunning",
  Refused: "NotRunning",
  Denied: "Denied",
  Unusable: "NotRunning",
  Broken: "Broken",
  Malformed: "BadAnswer",
  TooLarge: "BadAnswer",
};

function remedyFor(kind: LocalApiErrorKind): string | undefined {
  switch (kind) {
    case "NotRunning":
      return "Start it (systemctl start tailscaled), or set tailscale.socket to where it listens";
    case "Denied":
      return "Run as root, or name this user: tailscale set --operator=USER";
    case "Unsupported":
      return "Use tailscaled 1.80 or newer, with all its features built in";
    default:
      return undefined;
  }
}

function refusal(call: LocalCall, status: number, text: string): LocalApiError {
  const kind = kindOfStatus(status);
  const remedy = remedyFor(kind);
  const said = messageOf(redactKeys(redact(text, call.secrets ?? [])));
  return new LocalApiError({
    kind,
    status,
    operation: call.operation,
    reason: `tailscaled answers ${status}${said === "" ? "" : `: ${said}`}`,
    ...(remedy === undefined ? {} : { remedy }),
  });
}

function kindOfStatus(status: number): LocalApiErrorKind {
  if (status === 401 || status === 403) return "Denied";
  // Every path used here exists in all versions we know; what is missing was left out.
  if (status === 404 || status === 405 || status === 501) return "Unsupported";
  return status >= 500 ? "Failed" : "Refused";
}

const MAX_MESSAGE = 400;

/** Errors are plain text, `{"Error":"…"}` or `{"error":"…"}`, depending on the call. */
function messageOf(text: string): string {
  // deno-lint-ignore no-control-regex
  const line = textOf(text).replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return line.length <= MAX_MESSAGE ? line : `${line.slice(0, MAX_MESSAGE)}…`;
}

function textOf(text: string): string {
  try {
    const { Error: upper, error: lower } = JSON.parse(text);
    const said: unknown = upper ?? lower;
    return typeof said === "string" ? said : text;
  } catch {
    return text;
  }
}
