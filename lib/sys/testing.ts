/**
 * Stand-ins for the effects of `lib/sys`, for tests of any folder.
 *
 * @module
 */

import type { Clock, SleepOptions } from "./clock.ts";
import { libc } from "./libc.ts";
import { type Log, logTo } from "./log.ts";
import { formatText } from "./log_format.ts";
import type { LogRecord } from "./log_record.ts";

// It stays open for good. Opened before the first test, no test is blamed for it.
if (Deno.build.os === "linux") libc();

export { MemoryFiles, type PlantedFailure } from "./memory_files.ts";

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  readonly #sleepers = new Set<Sleeper>();

  /** The wall clock starts at `now`, the monotonic one at zero. */
  constructor(options: { readonly now?: number } = {}) {
    this.#wallOffsetMs = options.now ?? 0;
  }

  /** How many sleeps are under way. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#wallOffsetMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  /** Sets the wall clock, as NTP or a person would; nobody wakes from it. */
  setTime(now: number): void {
    this.#wallOffsetMs = now - this.#elapsedMs;
  }

  after(ms: number, ring: () => void): () => void {
    const sleeper = { wakeAt: this.#elapsedMs + Math.max(0, ms), wake: ring };
    this.#sleepers.add(sleeper);
    return () => void this.#sleepers.delete(sleeper);
  }

  sleep(ms: number, options: SleepOptions = {}): Promise<void> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = { wakeAt: this.#elapsedMs + Math.max(0, ms), wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", () => {
        if (this.#sleepers.delete(sleeper)) reject(signal.reason);
      }, { once: true });
    });
  }

  /**
   * Moves time on by `ms`, waking each sleeper at its own moment and letting what it wakes
   * run, including new sleeps that end within `ms`.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsedMs + ms;
    await settle();
    for (;;) {
      const next = this.#earliest();
      if (next === undefined || next.wakeAt > target) break;
      this.#elapsedMs = next.wakeAt;
      this.#sleepers.delete(next);
      next.wake();
      await settle();
    }
    this.#elapsedMs = target;
  }

  /** Sets keep their order, so of equal times the sleep that began first wins. */
  #earliest(): Sleeper | undefined {
    let earliest: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (earliest === undefined || sleeper.wakeAt < earliest.wakeAt) earliest = sleeper;
    }
    return earliest;
  }
}

/** One turn of the event loop: every promise chain that can go on has gone on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** A log that keeps what it is told. */
export interface RecordingLog extends Log {
  readonly records: readonly LogRecord[];
  /** What was logged as text without the time: `level=WARN msg="…" key=value`. */
  lines(): string[];
}

/** A log of every level, for tests to look into. */
export function recordingLog(): RecordingLog {
  const records: LogRecord[] = [];
  const log = logTo((record) => records.push(record), { level: "DEBUG", now: () => 0 });
  const lines = () =>
    records.map((record) => formatText(record).trimEnd().replace(/^time=\S+ /, ""));
  return { ...log, records, lines };
}

/** A repeatable source of randomness for property tests. */
export interface SeededRandom {
  /** A whole number from 0 up to, not including, `limit`. */
  integer(limit: number): number;
  /** A number of `bits` random bits. */
  bigint(bits: number): bigint;
  /** One of `choices`, which is not empty. */
  pick<const T>(choices: readonly [T, ...T[]]): T;
}

/**
 * Randomness that is the same on every run with the same `seed`, so that a failure can be
 * repeated: print the seed with it. The generator is mulberry32; it is not for secrets.
 */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next32 = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return (mixed ^ mixed >>> 14) >>> 0;
  };
  const integer = (limit: number) => Math.floor(next32() / 2 ** 32 * limit);
  return {
    integer,
    bigint(bits) {
      let value = 0n;
      for (let have = 0; have < bits; have += 32) value = value << 32n | BigInt(next32());
      return BigInt.asUintN(bits, value);
    },
    pick: (choices) => choices[integer(choices.length)] ?? choices[0],
  };
}

/** A directory that is gone, with all in it, when it leaves its scope. */
export interface TemporaryDirectory extends Disposable {
  readonly path: string;
}

/** A new empty directory for one test: `using root = temporaryDirectory();`. */
export function temporaryDirectory(): TemporaryDirectory {
  const path = Deno.makeTempDirSync({ prefix: "headcni-test-" });
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

/**
 * Waits until this process holds no descriptor of `path`. An attempt at a lock that gave up
 * closes its file when its turn comes, which may be after the test that made it.
 */
export async function untilClosed(path: string): Promise<void> {
  const isOpen = () =>
    [...Deno.readDirSync("/proc/self/fd")].some(({ name }) => linkTarget(name) === path);
  for (let waited = 0; isOpen(); waited += 5) {
    if (waited > 10_000) throw new Error(`Cannot go on: ${path} stays open`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Where descriptor `name` leads; it may be closed while we look. */
function linkTarget(name: string): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/self/fd/${name}`);
  } catch {
    return undefined;
  }
}

/** A connection as a scripted server has it. */
export interface ScriptedConnection {
  /** What the client sent first, as text. */
  readonly request: string;
  /** Sends text in pieces of `size` bytes, each on its own. */
  send(text: string, size?: number): Promise<void>;
  /** Resolves when the client has closed, or the server is disposed of. */
  readonly closed: Promise<void>;
}

/** A unix socket that behaves as a test says; each connection ends when `serve` returns. */
export interface ScriptedServer extends AsyncDisposable {
  readonly path: string;
  /** First bytes of all requests so far. */
  readonly requests: readonly string[];
}

/** Listens in a new directory: `await using server = scriptedServer(async (c) => …);`. */
export function scriptedServer(
  serve: (connection: ScriptedConnection) => Promise<void>,
): ScriptedServer {
  const root = temporaryDirectory();
  const path = `${root.path}/server.sock`;
  const listener = Deno.listen({ transport: "unix", path });
  const requests: string[] = [];
  const open = new Set<Deno.UnixConn>();
  const work = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      answer(connection, serve, requests).finally(() => {
        if (open.delete(connection)) connection.close();
      });
    }
  })();
  return {
    path,
    requests,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of open) if (open.delete(connection)) connection.close();
      await work;
      await settle();
      root[Symbol.dispose]();
    },
  };
}

async function answer(
  connection: Deno.UnixConn,
  serve: (connection: ScriptedConnection) => Promise<void>,
  requests: string[],
): Promise<void> {
  const buffer = new Uint8Array(65_536);
  const read = async () => await connection.read(buffer).catch(() => null);
  const request = new TextDecoder().decode(buffer.subarray(0, await read() ?? 0));
  requests.push(request);
  const send = async (text: string, size = Infinity) => {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size);
      for (let sent = 0; sent < piece.length;) {
        sent += await connection.write(piece.subarray(sent));
      }
      if (size < bytes.length) await settle();
    }
  };
  const closed = (async () => {
    while (await read() !== null);
  })();
  // A client that goes away in the middle is part of the play.
  await serve({ request, send, closed }).catch(() => {});
}
