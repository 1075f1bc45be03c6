/**
 * HTTP/1.1 as a client on a stream of bytes writes and reads it (RFC 9112).
 *
 * One request per connection. Bodies come chunked, with a length, or end with the
 * connection; anything else is refused. Every part has a limit, because the other side may
 * be another program than we think.
 */

import { ByteReader, type ByteSource, LineTooLongError } from "./byte_reader.ts";
import { SocketError, type SocketErrorKind } from "./socket_error.ts";

/** A request. Its path and header values must be printable ASCII. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** With its query, as it goes on the wire. */
  readonly path: string;
  /** `Host`, `Connection` and `Content-Length` are added. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly host: string;
  readonly body?: string;
}

/** Status and headers of an answer. */
export interface HttpHead {
  readonly status: number;
  /** By name in small letters; values of repeated ones are joined by `, `. */
  readonly headers: ReadonlyMap<string, string>;
}

const MAX_LINE_BYTES = 16_384;
const MAX_HEADERS = 100;
/** `100 Continue` and the like may come before the answer. */
const MAX_INTERIM_ANSWERS = 5;

/** The bytes of `request`. @throws {TypeError} for text that would change the message. */
export function encodeRequest(request: HttpRequest): Uint8Array {
  const { method, path, headers = {}, host, body } = request;
  const bytes = new TextEncoder().encode(body ?? "");
  if (!/^\/[\x21-\x7e]*$/.test(path)) {
    throw new TypeError(`Cannot request ${JSON.stringify(path)}: it is no path of a URL`);
  }
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close"];
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w-]+: [\x20-\x7e]*$/.test(`${name}: ${value}`)) {
      throw new TypeError(`Cannot send header ${JSON.stringify(name)}: it is not printable ASCII`);
    }
    lines.push(`${name}: ${value}`);
  }
  if (body !== undefined || method !== "GET") lines.push(`Content-Length: ${bytes.length}`);
  const head = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
  const message = new Uint8Array(head.length + bytes.length);
  message.set(head);
  message.set(bytes, head.length);
  return message;
}

/** An answer being read. */
export class HttpAnswer {
  readonly #reader: ByteReader;
  readonly #path: string;

  /** `path` is the socket, for errors. */
  constructor(source: ByteSource, path: string) {
    this.#reader = new ByteReader(source);
    this.#path = path;
  }

  /** Status and headers. @throws {SocketError} */
  async head(): Promise<HttpHead> {
    for (let interim = 0; interim <= MAX_INTERIM_ANSWERS; interim++) {
      const status = await this.#status();
      const headers = await this.#headers();
      // 101 would hand the connection over to another protocol, which nobody asked for.
      if (status >= 200) return { status, headers };
    }
    throw this.#fail("Malformed", "the answer never comes to its point");
  }

  /** The body's bytes as they come. Call it once, after {@linkcode HttpAnswer.head}. */
  body({ status, headers }: HttpHead): AsyncGenerator<Uint8Array, void, void> {
    if (status === 204 || status === 304) return this.#counted(0);
    const coding = headers.get("transfer-encoding");
    if (coding !== undefined) {
      if (coding.toLowerCase() === "chunked") return this.#chunked();
      throw this.#fail("Malformed", `it sends ${JSON.stringify(coding.slice(0, 60))}`);
    }
    const length = headers.get("content-length");
    if (length === undefined) return this.#untilEnd();
    if (!/^\d{1,15}$/.test(length)) throw this.#fail("Malformed", "its length is no number");
    return this.#counted(Number(length));
  }

  async #status(): Promise<number> {
    const line = await this.#line();
    const status = /^HTTP\/1\.[01] ([1-5]\d\d)( |$)/.exec(line)?.[1];
    if (status !== undefined) return Number(status);
    throw this.#fail("Malformed", `it answers ${JSON.stringify(line.slice(0, 60))}, not HTTP`);
  }

  async #headers(): Promise<ReadonlyMap<string, string>> {
    const headers = new Map<string, string>();
    for (let count = 0; count <= MAX_HEADERS; count++) {
      const line = await this.#line();
      if (line === "") return headers;
      const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
      if (name === undefined || value === undefined) {
        throw this.#fail("Malformed", `${JSON.stringify(line.slice(0, 60))} is no header`);
      }
      const key = name.toLowerCase();
      const before = headers.get(key);
      headers.set(key, before === undefined ? value : `${before}, ${value}`);
    }
    throw this.#fail("Malformed", `it has more than ${MAX_HEADERS} headers`);
  }

  async *#chunked(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const line = await this.#line();
      const digits = /^([0-9a-f]{1,8})[ \t]*(;.*)?$/i.exec(line)?.[1];
      if (digits === undefined) throw this.#fail("Malformed", "a chunk has no length");
      const length = parseInt(digits, 16);
      // The trailer is left unread: the connection ends with this answer.
      if (length === 0) return;
      yield* this.#counted(length);
      if (await this.#line() !== "") {
        throw this.#fail("Malformed", "a chunk is longer than it says");
      }
    }
  }

  async *#counted(length: number): AsyncGenerator<Uint8Array, void, void> {
    for (let left = length; left > 0;) {
      const bytes = await this.#reader.some(left);
      if (bytes === undefined) throw this.#endedEarly();
      left -= bytes.length;
      yield bytes;
    }
  }

  async *#untilEnd(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const bytes = await this.#reader.some(MAX_LINE_BYTES);
      if (bytes === undefined) return;
      yield bytes;
    }
  }

  async #line(): Promise<string> {
    try {
      const line = await this.#reader.line(MAX_LINE_BYTES);
      if (line !== undefined) return line;
    } catch (error) {
      if (!(error instanceof LineTooLongError)) throw error;
      throw this.#fail("Malformed", `a line of its answer is longer than ${MAX_LINE_BYTES} bytes`);
    }
    throw this.#endedEarly();
  }

  #endedEarly(): SocketError {
    return this.#fail("Broken", "the connection ended before the answer was complete");
  }

  #fail(kind: SocketErrorKind, reason: string): SocketError {
    return new SocketError({ kind, path: this.#path, reason });
  }
}
