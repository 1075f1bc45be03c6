/**
 * What it costs to start: `CNI_COMMAND=VERSION headcni` beside an empty compiled program.
 *
 * Both start the same runtime, so their ratio is the price of our own code. Runs are
 * interleaved: whatever else the machine does hits both alike. Run by
 * `deno task bench:startup`.
 */

import { compileEmpty } from "../tools/build/empty_program.ts";
import { median, print } from "./report.ts";

const PROGRAM = Deno.env.get("HEADCNI_BINARY") ??
  new URL("../dist/headcni", import.meta.url).pathname;
const ROUNDS = 60;
const WARM_UP = 5;
/** Above this something is loaded that the plugin does not need. */
const TARGET_RATIO = 1.15;

function timeMs(program: string): number {
  const command = new Deno.Command(program, {
    clearEnv: true,
    env: { CNI_COMMAND: "VERSION" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
  const start = performance.now();
  const { success } = command.outputSync();
  const elapsed = performance.now() - start;
  if (!success) throw new Error(`Cannot measure ${program}: it failed`);
  return elapsed;
}

const directory = await Deno.makeTempDir();
try {
  const programs = { empty: await compileEmpty(directory), headcni: PROGRAM };
  const times: Record<keyof typeof programs, number[]> = { empty: [], headcni: [] };
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    // Alternating order: neither is always the one that runs after the other.
    const order = round % 2 === 0 ? ["empty", "headcni"] as const : ["headcni", "empty"] as const;
    for (const name of order) {
      const elapsed = timeMs(programs[name]);
      if (round >= 0) times[name].push(elapsed);
    }
  }
  const [empty, headcni] = [median(times.empty), median(times.headcni)];
  const ratio = headcni / empty;
  print([
    `start-up, median of ${ROUNDS} interleaved runs each:`,
    `  empty compiled program       ${empty.toFixed(1)} ms`,
    `  CNI_COMMAND=VERSION headcni  ${headcni.toFixed(1)} ms`,
    `  ratio ${ratio.toFixed(2)} (target: at most ${TARGET_RATIO}) ${
      ratio <= TARGET_RATIO ? "met" : "MISSED"
    }`,
  ]);
} finally {
  await Deno.remove(directory, { recursive: true });
}
