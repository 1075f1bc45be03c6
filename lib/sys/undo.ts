/** Rolling back what was done when a later step fails. */

import { describeError, HeadcniError } from "./errors.ts";

/** One step that could not be undone. */
export interface UndoFailure {
  readonly label: string;
  readonly error: unknown;
}

/** Some steps could not be undone; all others were. */
export class UndoError extends HeadcniError {
  override readonly name = "UndoError";
  /** What is left behind, in the order in which undoing it was tried. */
  readonly failures: readonly UndoFailure[];

  constructor(failures: readonly UndoFailure[], total: number) {
    super({
      operation: "undo",
      subject: `${failures.length} of ${total} steps`,
      reason: failures.map(({ label, error }) => `${label}: ${describeError(error)}`).join("; "),
    });
    this.failures = failures;
  }
}

/** Options for {@linkcode UndoStack}. */
export interface UndoStackOptions {
  /**
   * Gets the {@linkcode UndoError} of a stack that leaves its scope, instead of it being
   * thrown. Pass one wherever an error may be on its way: see {@linkcode UndoStack}.
   */
  readonly onFailure?: (error: UndoError) => void;
}

interface Step {
  readonly label: string;
  readonly undo: () => unknown;
}

/**
 * The reverse of each step done so far, run last first unless the whole succeeds.
 *
 * Register the reverse before the step itself: a step that fails half-way may have left
 * something behind, and every reverse must accept that there is nothing to undo.
 *
 * Why not `AsyncDisposableStack`: it has no labels, so a failed rollback does not say what
 * was left behind; and what fails while it leaves its scope replaces the error that started
 * the rollback by a `SuppressedError`, when the caller has to act on the original. Here
 * `onFailure` takes the failures, and the original error goes on untouched.
 *
 * @example
 * ```ts
 * import { UndoStack } from "./undo.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const shell: string[] = [];
 * function attach(succeeds: boolean) {
 *   using undo = new UndoStack();
 *   undo.defer("delete veth", () => shell.push("ip link del hcni1"));
 *   shell.push("ip link add hcni1");
 *   if (succeeds) undo.commit();
 * }
 * attach(false);
 * assertEquals(shell, ["ip link add hcni1", "ip link del hcni1"]);
 * ```
 */
export class UndoStack implements Disposable, AsyncDisposable {
  readonly #onFailure: ((error: UndoError) => void) | undefined;
  #steps: Step[] = [];
  #closed = false;

  constructor(options: UndoStackOptions = {}) {
    this.#onFailure = options.onFailure;
  }

  /** How many steps would be undone now. */
  get size(): number {
    return this.#steps.length;
  }

  /**
   * Registers `undo`, named by `label` (`"delete veth hcni1"`) if it fails.
   *
   * @throws {TypeError} after commit or unwind, when nothing would ever run it.
   */
  defer(label: string, undo: () => unknown): void {
    if (this.#closed) throw new TypeError(`Cannot defer "${label}": the undo stack is closed`);
    this.#steps.push({ label, undo });
  }

  /** Keeps everything: nothing is undone from here on. */
  commit(): void {
    this.#take();
  }

  /**
   * Undoes all steps, last first, each after the one before it has ended. A failing step
   * does not stop the rest. The second call finds nothing to do.
   *
   * @throws {UndoError} if any step failed.
   */
  async unwind(): Promise<void> {
    const steps = this.#take();
    const failures: UndoFailure[] = [];
    for (const { label, undo } of steps) {
      try {
        await undo();
      } catch (error) {
        failures.push({ label, error });
      }
    }
    if (failures.length > 0) throw new UndoError(failures, steps.length);
  }

  /**
   * {@linkcode UndoStack.unwind} without waiting, for code that must not `await`.
   *
   * @throws {UndoError} if any step failed, or was asynchronous.
   */
  unwindSync(): void {
    const steps = this.#take();
    const failures: UndoFailure[] = [];
    for (const { label, undo } of steps) {
      try {
        const result = undo();
        if (result instanceof Promise) {
          // It runs on, unobserved; its rejection must not end the process.
          result.catch(() => {});
          throw new TypeError("Cannot wait for an asynchronous step: use `await using`");
        }
      } catch (error) {
        failures.push({ label, error });
      }
    }
    if (failures.length > 0) throw new UndoError(failures, steps.length);
  }

  [Symbol.dispose](): void {
    try {
      this.unwindSync();
    } catch (error) {
      this.#report(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.unwind();
    } catch (error) {
      this.#report(error);
    }
  }

  #take(): Step[] {
    const steps = this.#steps.reverse();
    this.#steps = [];
    this.#closed = true;
    return steps;
  }

  #report(error: unknown): void {
    if (this.#onFailure === undefined || !(error instanceof UndoError)) throw error;
    this.#onFailure(error);
  }
}
