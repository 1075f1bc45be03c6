/** Secrets that must not be seen anywhere: looked for everywhere, all the time. */

import { assert, assertEquals } from "@std/assert";

/** Keys as Headscale writes them (0.28 and later): API keys, and those nodes log in with. */
const KEYS = /hskey-(?:api|auth)-[\w-]{12}-[\w-]{30,}/g;

/** Keys in `text`, without their secret part. */
export function keysIn(text: string): string[] {
  return [...text.matchAll(KEYS)].map(([key]) => key.slice(0, 24));
}

/** Looks at the arguments and variables of all processes again and again. */
export class ProcessWatch implements AsyncDisposable {
  readonly #found = new Set<string>();
  #rounds = 0;
  #isOver = false;
  readonly #watching: Promise<void>;

  constructor() {
    this.#watching = this.#watch();
  }

  /** What was seen, and that it was looked for. */
  assertClean(): void {
    assert(this.#rounds > 10, "the processes were looked at");
    assertEquals([...this.#found], []);
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      for (const { name } of Deno.readDirSync("/proc")) {
        if (/^\d+$/.test(name)) this.#look(`/proc/${name}`);
      }
      this.#rounds++;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  #look(path: string): void {
    for (const file of ["cmdline", "environ"]) {
      try {
        const text = Deno.readTextFileSync(`${path}/${file}`);
        for (const key of keysIn(text)) this.#found.add(`${file} of ${text.slice(0, 60)}: ${key}`);
      } catch {
        // It has ended.
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }
}

/** Files below `directory` that hold a key, or that others may read although they hold one. */
export function filesWithKeys(directory: string): { path: string; mode: string }[] {
  const found: { path: string; mode: string }[] = [];
  for (const { name, isDirectory, isFile } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) found.push(...filesWithKeys(path));
    if (!isFile) continue;
    const text = new TextDecoder().decode(Deno.readFileSync(path));
    const mode = ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);
    const isPrivateKey = text.includes("privkey:") || text.includes("PrivateNodeKey");
    if (keysIn(text).length > 0 || (isPrivateKey && mode !== "600")) {
      found.push({ path: path.slice(directory.length), mode });
    }
  }
  return found;
}
