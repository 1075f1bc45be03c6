/**
 * Turns an answer that is no success into an error with one meaning.
 *
 * Up to 0.29 errors come from grpc-gateway, `{code, message, details}`, and many of them are
 * status 500 with the meaning in the text; from 0.30 on they are RFC 9457 problem details,
 * `{title, status, detail, errors}`. A proxy in front may answer anything.
 */

import type { PooledReply } from "../sys/http_pool.ts";
import { redact, type Secret } from "../sys/secret.ts";
import { HeadscaleError, type HeadscaleErrorKind } from "./errors.ts";

/** Longer texts are cut: they are quoted in logs. */
const MAX_MESSAGE = 300;

/** What was asked, for the error. */
export interface Asked {
  readonly operation: string;
  readonly subject?: string | undefined;
}

/** The error `reply` stands for; `secrets` are masked in what the server said. */
export function errorOf(
  reply: PooledReply,
  asked: Asked,
  secrets: readonly Secret[],
): HeadscaleError {
  const said = oneLine(redact(messageOf(reply), secrets));
  const kind = kindOf(reply.status, said);
  const { reason, remedy } = prose(kind, reply, said);
  return new HeadscaleError({
    kind,
    status: reply.status,
    operation: asked.operation,
    ...(asked.subject === undefined ? {} : { subject: asked.subject }),
    reason,
    ...(remedy === undefined ? {} : { remedy }),
    retryAfterMs: retryAfterMs(reply),
  });
}

/** Plain Go errors are status 500 until 0.29: only the text tells what they mean. */
const MEANINGS: readonly (readonly [RegExp, HeadscaleErrorKind])[] = [
  [/not found/i, "NotFound"],
  // The policy is kept in a file, and there is none.
  [/reading policy from/, "NotFound"],
  [/UNIQUE constraint|already exists/i, "Exists"],
  [/update is disabled|setting policy|tag must|tag should|tags must/, "Refused"],
];

function kindOf(status: number, said: string): HeadscaleErrorKind {
  // Before 0.27 a key whose first part nobody knows is status 500 with this text.
  if (status === 401 || status === 403 || said === "Unauthorized") return "Unauthorized";
  if (status === 404) return "NotFound";
  if (status === 409) return "Exists";
  if (status === 429) return "Failed";
  if (status >= 400 && status < 500) return "Refused";
  if (status < 500) return "BadAnswer";
  return MEANINGS.find(([text]) => text.test(said))?.[1] ?? "Failed";
}

function prose(
  kind: HeadscaleErrorKind,
  reply: PooledReply,
  said: string,
): { reason: string; remedy?: string } {
  const quoted = said === "" ? `status ${reply.status}` : `status ${reply.status}, ${said}`;
  if (kind === "Unauthorized") {
    return {
      reason: `Headscale does not accept the API key (${quoted})`,
      remedy: "It may have expired: headscale apikeys list; headscale apikeys create makes another",
    };
  }
  if (reply.status >= 300 && reply.status < 400) {
    return {
      reason: `it redirects to ${redirection(reply)}, which is not followed`,
      remedy: "Configure the URL it redirects to, if it is Headscale's",
    };
  }
  return { reason: `Headscale answered ${quoted}` };
}

/** The server it redirects to; what stands behind that may be anything. */
function redirection(reply: PooledReply): string {
  return URL.parse(reply.header("location") ?? "")?.origin ?? "another path";
}

/** What the server said. */
function messageOf(reply: PooledReply): string {
  const parsed = parseObject(reply.text);
  if (parsed === undefined) return plainText(reply);
  const said = texts(parsed, ["message", "title", "detail"]);
  return [...said, ...problemErrors(parsed.errors)].join(": ");
}

/** After masking: a cut through a key would hide it from that. */
function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_MESSAGE ? line : `${line.slice(0, MAX_MESSAGE)}…`;
}

function plainText(reply: PooledReply): string {
  return /html/i.test(reply.header("content-type") ?? "") ? "an HTML page" : reply.text;
}

/** `errors` of problem details: each has a message and often the place in the request. */
function problemErrors(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error: unknown) => {
    if (!isObject(error)) return [];
    const [message, location] = [texts(error, ["message"]), texts(error, ["location"])];
    // Not `value`: it repeats what was sent.
    return message.map((text) => location.length === 0 ? text : `${location[0]}: ${text}`);
  });
}

function texts(object: Readonly<Record<string, unknown>>, keys: readonly string[]): string[] {
  return keys.map((key) => object[key]).filter((value) => typeof value === "string" && value !== "")
    .map(String);
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `Retry-After` in seconds, as proxies send it; a date is not worth reading. */
function retryAfterMs(reply: PooledReply): number | undefined {
  const seconds = reply.header("retry-after");
  return seconds !== undefined && /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
