/**
 * HTTP over a unix socket.
 *
 * Not `fetch` with a client whose proxy is the socket: Deno honours `NO_PROXY` for it, and
 * with `NO_PROXY=*` in the environment it looks the made-up host name up in DNS and sends
 * the request, keys included, to whoever answers.
 */

import type { ByteSource } from "./byte_reader.ts";
import { encodeRequest, HttpAnswer, type HttpHead, type HttpRequest } from "./http_message.ts";
import { connectError, SocketError } from "./socket_error.ts";

/** A connection that carries bytes both ways. */
export interface ByteStream extends ByteSource {
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

/** Options for {@linkcode requestUnix}. */
export interface UnixRequestOptions {
  /** Ends the request, and later the body: reading rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** An answer whose body is still to be read. Disposing of it closes the connection. */
export interface UnixResponse extends HttpHead, Disposable {
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * The whole body as UTF-8.
   *
   * @throws {SocketError} `TooLarge` for more than `maxBytes`.
   */
  text(maxBytes: number): Promise<string>;
}

/** Sends a request over a unix socket; {@linkcode requestUnix}, or a test's own. */
export type RequestUnix = typeof requestUnix;

/**
 * Sends `request` over the unix socket `path` and reads status and headers of the answer.
 *
 * It waits as long as the other side likes: pass a signal.
 *
 * @throws {SocketError} if there is no usable answer.
 */
export async function requestUnix(
  path: string,
  request: HttpRequest,
  options: UnixRequestOptions = {},
): Promise<UnixResponse> {
  const { signal } = options;
  signal?.throwIfAborted();
  const message = encodeRequest(request);
  const stream = guarded(await connect(path), path, signal);
  try {
    for (let sent = 0; sent < message.length;) sent += await stream.write(message.subarray(sent));
  } catch (error) {
    // A server that refuses early may answer and close before it has read everything.
    if (!(error instanceof SocketError)) throw close(stream, error);
  }
  try {
    const answer = new HttpAnswer(stream, path);
    const head = await answer.head();
    const body = answer.body(head);
    return {
      ...head,
      body,
      text: (maxBytes) => collect(body, maxBytes, path),
      [Symbol.dispose]: () => stream.close(),
    };
  } catch (error) {
    throw close(stream, error);
  }
}

async function connect(path: string): Promise<Deno.UnixConn> {
  try {
    return await Deno.connect({ transport: "unix", path });
  } catch (error) {
    throw connectError(path, error);
  }
}

/** `connection`, closed by `signal`, and with errors that say what happened. */
function guarded(
  connection: Deno.UnixConn,
  path: string,
  signal: AbortSignal | undefined,
): ByteStream {
  let open = true;
  const shut = () => {
    signal?.removeEventListener("abort", shut);
    if (open) connection.close();
    open = false;
  };
  signal?.addEventListener("abort", shut, { once: true });
  // It may have been aborted while the connection was made.
  if (signal?.aborted) shut();
  const attempt = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      signal?.throwIfAborted();
      return await action();
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = "the connection broke";
      throw new SocketError({ kind: "Broken", path, reason, cause });
    }
  };
  return {
    read: (buffer) => attempt(() => connection.read(buffer)),
    write: (bytes) => attempt(() => connection.write(bytes)),
    close: shut,
  };
}

function close(stream: ByteStream, error: unknown): unknown {
  stream.close();
  return error;
}

async function collect(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  path: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const bytes of body) {
    size += bytes.length;
    if (size > maxBytes) {
      const reason = `its answer is larger than ${maxBytes} bytes`;
      throw new SocketError({ kind: "TooLarge", path, reason });
    }
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
