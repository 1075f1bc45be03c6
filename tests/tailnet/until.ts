/** Waiting with an end, and measuring how long it took. */

/** Noisy machines take their time. */
const PATIENCE_MS = 90_000;
const POLL_MS = 100;

/** Options for {@linkcode until}. */
export interface UntilOptions {
  readonly patienceMs?: number;
  /** Between two looks: longer where looking costs something. @default {100} */
  readonly pollMs?: number;
  /** What to say when it does not come about. */
  readonly explain?: () => string | Promise<string>;
}

/** Waits until `probe` gives something. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  options: UntilOptions = {},
): Promise<T> {
  const { patienceMs = PATIENCE_MS, pollMs = POLL_MS, explain = () => "" } = options;
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`Cannot go on: not so after ${patienceMs / 1000} s: ${what}\n${await explain()}`);
}

/** Prints a line of the report. */
export function report(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`  tailnet: ${line}\n`));
}

/** Runs `work` for all of `items`, a few at a time. */
export async function forAll<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async () => {
    for (let item; (item = rest.shift()) !== undefined;) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
