/** What a program writes, collected as it comes. */

/** Options for {@linkcode collectOutput}. */
export interface CollectOptions {
  readonly maxBytes: number;
  /** Called once when there is more; nothing further is read then. */
  readonly onOverflow: () => void;
}

/** Output so far. Disposing of it stops reading. */
export interface CollectedOutput extends Disposable {
  /** Resolves when no more can come. */
  readonly closed: Promise<void>;
  /** Bytes so far. */
  size(): number;
  /** Everything so far, as UTF-8. */
  text(): string;
}

/** Starts reading `stream`. */
export function collectOutput(
  stream: ReadableStream<Uint8Array>,
  options: CollectOptions,
): CollectedOutput {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;

  async function readAll(): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
      if (size > options.maxBytes) return options.onOverflow();
      chunks.push(value);
    }
  }

  return {
    // A pipe that breaks has nothing more to give; how the program ended says the rest.
    closed: readAll().catch(() => {}),
    size: () => size,
    text: () => decode(chunks),
    [Symbol.dispose]: () => void reader.cancel().catch(() => {}),
  };
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") +
    decoder.decode();
}
