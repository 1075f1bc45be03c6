import { assert, assertEquals } from "@std/assert";
import { endOrphans } from "./orphans.ts";
import { temporaryDirectory } from "./testing.ts";

/** The state of a process; `undefined` when it is gone. */
function stateOf(pid: number): string | undefined {
  try {
    return /\) (\S)/.exec(Deno.readTextFileSync(`/proc/${pid}/stat`))?.[1];
  } catch {
    return undefined;
  }
}

async function readPid(path: string): Promise<number> {
  for (;;) {
    const text = await Deno.readTextFile(path).catch(() => "");
    if (text.endsWith("\n")) return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test("endOrphans() ends what outlived its parent, and leaves what somebody waits for", async () => {
  using directory = temporaryDirectory();
  const mark = crypto.randomUUID();
  const env = { ORPHAN_TEST: mark };
  // Both in sessions of their own; the parent of the first ends at once.
  const script = (name: string) => `echo $$ >${directory.path}/${name}; exec sleep 60`;
  await new Deno.Command("sh", {
    args: ["-c", `setsid sh -c '${script("orphan")}' >/dev/null 2>&1 &`],
    env,
  }).output();
  const waiting = new Deno.Command("sh", {
    args: ["-c", `setsid sh -c '${script("awaited")}' & wait`],
    env,
  }).spawn();
  const orphan = await readPid(`${directory.path}/orphan`);
  const awaited = await readPid(`${directory.path}/awaited`);
  assertEquals(await endOrphans({ ORPHAN_TEST: "another" }), 0);
  assertEquals(await endOrphans({ ORPHAN_TEST: mark }), 1);
  assert([undefined, "Z"].includes(stateOf(orphan)), "the orphan runs on");
  assertEquals(stateOf(awaited), "S");
  Deno.kill(awaited, "SIGKILL");
  await waiting.status;
});
