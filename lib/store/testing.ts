/**
 * Stand-ins for tests: a boot that a test controls, a store without waits for the disk.
 *
 * @module
 */

import { type BootClock } from "../sys/boot_clock.ts";
import { openDatabase } from "./database.ts";
import { migrate } from "./schema.ts";
import { Store } from "./store.ts";

/** A machine that a test lets run and restart. */
export class FakeBoot implements BootClock {
  #boots = 1;
  #uptimeMs = 0;

  bootId(): string {
    return `boot-${this.#boots}`;
  }

  readonly uptimeMs = (): number => this.#uptimeMs;

  /** Time passes. */
  advance(ms: number): void {
    this.#uptimeMs += ms;
  }

  /** The machine restarts: time since boot begins at zero. */
  restart(): void {
    this.#boots++;
    this.#uptimeMs = 0;
  }
}

/**
 * A store at `path` (by default in memory), opened without lock and without waiting for the
 * disk: what a test of rules needs, and a power loss does not matter to it.
 */
export function openTestStore(bootClock: BootClock, path: string = ":memory:"): Store {
  const db = openDatabase(path, { synchronous: "OFF" });
  migrate(db);
  return new Store(db, { bootClock, close: () => db[Symbol.dispose]() });
}
