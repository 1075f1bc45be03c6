/** Network namespaces of tests: named `hcni-test-…`, gone when the test ends. */

/** A namespace that is deleted when it leaves its scope. */
export interface TestNamespace extends AsyncDisposable {
  readonly path: string;
  /** Runs `ip …` inside. */
  ip(...args: string[]): Promise<string>;
}

async function ip(...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("ip", { args, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot run ip ${args.join(" ")}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

/** Creates one. */
export async function createNamespace(): Promise<TestNamespace> {
  const name = `hcni-test-${crypto.randomUUID().slice(0, 8)}`;
  await ip("netns", "add", name);
  return {
    path: `/run/netns/${name}`,
    ip: (...args) => ip("-n", name, ...args),
    async [Symbol.asyncDispose]() {
      await ip("netns", "del", name).catch(() => {});
    },
  };
}

/** Deletes a link of the host, if it is there. */
export async function deleteLink(name: string): Promise<void> {
  await ip("link", "del", name).catch(() => {});
}
