/**
 * HTTP to one server, over connections that are kept and used again.
 *
 * Redirects are not followed: a request may carry a key, and where it goes is the caller's
 * decision. Bodies are read whole, up to a limit.
 */

import { HeadcniError } from "./errors.ts";

/**
 * - `NotConnected`: no connection came about, so nothing was sent.
 * - `Broken`: the connection ended before the answer was complete; the request may have been
 *   carried out.
 * - `TooLarge`: the answer is larger than anything we asked for.
 */
export type HttpErrorKind = "NotConnected" | "Broken" | "TooLarge";

/** A request that got no usable answer. */
export class HttpError extends HeadcniError {
  override readonly name = "HttpError";
  readonly kind: HttpErrorKind;

  constructor(parts: { kind: HttpErrorKind; url: string; reason: string; cause?: unknown }) {
    super({ operation: "ask", subject: parts.url, reason: parts.reason, cause: parts.cause });
    this.kind = parts.kind;
  }
}

/** A request. */
export interface PooledRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  /** Values must be printable ASCII: what `fetch` says of others quotes them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer, complete. */
export interface PooledReply {
  readonly status: number;
  readonly text: string;
  /** The value of a header, `undefined` if absent. */
  header(name: string): string | undefined;
}

/** Connections to a server. Disposing of it closes them. */
export interface HttpPool extends Disposable {
  /**
   * Sends `request` and reads the answer, whatever its status. Waits until `signal` aborts.
   *
   * @throws {HttpError} if there is no answer; the signal's reason if it aborts.
   */
  send(request: PooledRequest, signal: AbortSignal): Promise<PooledReply>;
}

/** Options for {@linkcode openHttpPool}. */
export interface HttpPoolOptions {
  /** Certificates (PEM) to trust in addition to those of the system. */
  readonly caCertificates?: readonly string[];
  /** @default {33_554_432} */
  readonly maxBodyBytes?: number;
}

/** Idle connections are few and short-lived: a server has many nodes to serve. */
const POOL = { poolMaxIdlePerHost: 2, poolIdleTimeout: 60_000 };

/** Opens a pool; connections are made when they are needed. */
export function openHttpPool(options: HttpPoolOptions = {}): HttpPool {
  const { caCertificates = [], maxBodyBytes = 33_554_432 } = options;
  const client = Deno.createHttpClient({ ...POOL, caCerts: [...caCertificates] });
  return {
    async send(request, signal) {
      const { method, url, headers = {}, body = null } = request;
      try {
        const response = await fetch(url, {
          client,
          method,
          headers,
          body,
          signal,
          redirect: "manual",
        });
        const text = await readText(response, maxBodyBytes);
        const header = (name: string) => response.headers.get(name) ?? undefined;
        return { status: response.status, text, header };
      } catch (error) {
        signal.throwIfAborted();
        throw httpError(url, error);
      }
    },
    [Symbol.dispose]: () => client.close(),
  };
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) {
      const reason = `the answer is larger than ${maxBytes} bytes`;
      throw new HttpError({ kind: "TooLarge", url: response.url, reason });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What `fetch` says, without the URL it repeats and the layers it went through. */
function httpError(url: string, error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  const reason = error.message
    .replace(/^error sending request [^:]*\S*?\)?: (?=client error)/s, "")
    .replace(/^.*?client error \(\w+\): /s, "");
  const kind = error.message.includes("client error (Connect)") ? "NotConnected" : "Broken";
  return new HttpError({ kind, url, reason, cause: error });
}
