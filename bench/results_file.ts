/** `bench/RESULTS.md`: runs worth keeping, newest first. */

const FILE = new URL("RESULTS.md", import.meta.url);

const HEAD = `# Results

Runs worth keeping, newest first: what was measured, when, at which commit. Times are of a machine
with two cores that others use as well; compare columns of one run, not runs.
`;

/** What ran, where and on what: \`2026-11-16, 0dcd893: deno task bench:cni\`. */
export async function describeRun(task: string): Promise<string> {
  const { stdout } = await new Deno.Command("git", {
    args: ["describe", "--always", "--dirty", "--exclude=*"],
    cwd: new URL(".", import.meta.url).pathname,
    stdin: "null",
  }).output();
  const commit = new TextDecoder().decode(stdout).trim() || "unknown";
  return `${new Date().toISOString().slice(0, 10)}, ${commit}: \`deno task ${task}\``;
}

/** The machine, as far as it explains numbers. */
export function describeMachine(): string {
  return `Kernel ${Deno.osRelease()}, ${navigator.hardwareConcurrency} processors.`;
}

/** Puts a run before those that are kept already. */
export async function saveRun(title: string, lines: readonly string[]): Promise<void> {
  const old = await Deno.readTextFile(FILE).catch(() => HEAD);
  const [head = "", ...runs] = old.split(/^(?=## )/m);
  const run = [`## ${title}`, "", ...lines].join("\n");
  const parts = [head, run, ...runs].map((part) => part.trimEnd() + "\n");
  await Deno.writeTextFile(FILE, parts.join("\n"));
}
