/** `bench/RESULTS.md`: the last stored run of each benchmark, with where it was made. */

const FILE = new URL("RESULTS.md", import.meta.url);

const HEAD = `# Results

The last stored run of each benchmark. Times depend on the machine; the ratios are what counts:
both sides run interleaved, so whatever else the machine does hits both alike.
`;

/** Date, commit, kernel and processors of this run. */
export async function describeRun(): Promise<string> {
  const { stdout } = await new Deno.Command("git", {
    args: ["describe", "--always", "--dirty", "--abbrev=12"],
    cwd: new URL(".", import.meta.url).pathname,
    stdin: "null",
  }).output();
  const commit = new TextDecoder().decode(stdout).trim() || "unknown";
  const date = new Date().toISOString().slice(0, 10);
  const processors = navigator.hardwareConcurrency;
  return `${date}, commit ${commit}, kernel ${Deno.osRelease()}, ${processors} processors`;
}

/** Replaces the section called `title`, or adds it. */
export async function saveSection(title: string, lines: readonly string[]): Promise<void> {
  const old = await Deno.readTextFile(FILE).catch(() => HEAD);
  const sections = old.split(/^(?=## )/m);
  const section = [`## ${title}`, "", ...lines, ""].join("\n");
  const at = sections.findIndex((one) => one.startsWith(`## ${title}\n`));
  if (at >= 0) sections[at] = section;
  else sections.push(section);
  await Deno.writeTextFile(FILE, sections.map((one) => one.trimEnd() + "\n").join("\n"));
}
