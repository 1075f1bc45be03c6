/** Bytes of a stream, asked for by line or by number, however the other side cut them up. */

/** The one method of a connection or file that is needed; `null` is the end. */
export interface ByteSource {
  read(buffer: Uint8Array): Promise<number | null>;
}

/** How much is asked for at a time. */
const CHUNK_BYTES = 16_384;

const NEWLINE = 0x0a;

/** A line is longer than its reader allows. */
export class LineTooLongError extends RangeError {
  override readonly name = "LineTooLongError";
}

/** Reads ahead in chunks and hands out what is asked for. */
export class ByteReader {
  readonly #source: ByteSource;
  #buffer: Uint8Array = new Uint8Array(0);

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /**
   * The next line without its LF or CRLF, decoded as Latin-1, which maps every byte to a
   * character; `undefined` at the end of the stream, where a line without an end is dropped.
   *
   * @throws {LineTooLongError} if it has more than `maxBytes`; no more is read then.
   */
  async line(maxBytes: number): Promise<string | undefined> {
    let searched = 0;
    for (;;) {
      const end = this.#buffer.indexOf(NEWLINE, searched);
      if ((end === -1 ? this.#buffer.length : end) > maxBytes) {
        throw new LineTooLongError(`Cannot read a line: it has more than ${maxBytes} bytes`);
      }
      if (end !== -1) {
        const line = latin1(this.#buffer.subarray(0, end));
        this.#buffer = this.#buffer.subarray(end + 1);
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      searched = this.#buffer.length;
      if (!await this.#more()) return undefined;
    }
  }

  /** At least one and at most `maxBytes` bytes; `undefined` at the end of the stream. */
  async some(maxBytes: number): Promise<Uint8Array | undefined> {
    if (this.#buffer.length === 0 && !await this.#more()) return undefined;
    const taken = this.#buffer.slice(0, maxBytes);
    this.#buffer = this.#buffer.subarray(taken.length);
    return taken;
  }

  async #more(): Promise<boolean> {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const count = await this.#source.read(chunk);
    if (count === null) return false;
    const joined = new Uint8Array(this.#buffer.length + count);
    joined.set(this.#buffer);
    joined.set(chunk.subarray(0, count), this.#buffer.length);
    this.#buffer = joined;
    return true;
  }
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
