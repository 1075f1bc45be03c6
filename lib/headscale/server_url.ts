/** The URL of the server, as the configuration has it. */

import { HeadcniError } from "../sys/errors.ts";

/** A URL that cannot be Headscale's. */
export class ServerUrlError extends HeadcniError {
  override readonly name = "ServerUrlError";
}

/** A URL, taken apart. */
export interface ServerUrl {
  /** Without a slash at the end. */
  readonly base: string;
  /** Whether what is sent can be read on the way: http to another machine. */
  readonly isClear: boolean;
}

/**
 * The server at `text`.
 *
 * @throws {ServerUrlError} if it is not http or https, or says more than where the server is.
 */
export function parseServerUrl(text: string): ServerUrl {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw refuse(masked(text), "it does not begin with https:// or http://");
  }
  if (url.username !== "" || url.password !== "") {
    throw refuse(masked(text), "it holds a user or password; the API key is enough");
  }
  if (url.search !== "" || url.hash !== "") throw refuse(text, "it has a query or a fragment");
  return {
    base: `${url.origin}${url.pathname.replace(/\/+$/, "")}`,
    isClear: url.protocol === "http:" && !isLoopback(url.hostname),
  };
}

/** `text` without the password it may hold. */
function masked(text: string): string {
  return text.replace(/^(.*\/\/)?.*@/, "$1…@");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}

function refuse(subject: string, reason: string): ServerUrlError {
  return new ServerUrlError({
    operation: "use",
    subject: `${subject} as the URL of Headscale`,
    reason,
    remedy: "Name the server alone: https://headscale.example.com",
  });
}
