/**
 * `deno task demo`: two pods get their network, talk, and leave nothing behind.
 *
 * Builds the program and calls it as a container runtime would, on a node that is a network
 * namespace of its own: interfaces, routes and packet filter of the machine are not touched.
 */

import { choosePaint, type Paint } from "../lib/cli/paint.ts";
import { compileEmpty } from "./build/empty_program.ts";
import { DemoError } from "./demo/demo_error.ts";
import { CONFIG, DemoNode, type Pod, type TimedRun } from "./demo/demo_node.ts";
import { type Holding, leftOvers, takeStock } from "./demo/left_overs.ts";
import { drawPath, type PodPicture } from "./demo/picture.ts";
import { columns } from "./demo/text_table.ts";
import { installMissing, missingPackages } from "./packages.ts";

const USAGE = `Usage: deno task demo

Builds dist/headcni, gives two pods a network with it, lets them talk, deletes them and shows
that nothing is left. Everything happens in network namespaces of the demo's own; they are
removed at the end. Needs root. Takes about ten seconds when the build is warm.

Environment: NO_COLOR (no colours).
`;

/** Programs of the machine that the demo and the plugin use. */
const TOOLS = { ip: "iproute2", nft: "nftables", ping: "iputils-ping", nsenter: "util-linux" };

/** Enough for a median that one hiccup does not move. */
const EMPTY_RUNS = 5;

/** Prints the story. */
class Narrator {
  readonly #paint: Paint;

  constructor() {
    this.#paint = choosePaint({
      when: "auto",
      noColor: (Deno.env.get("NO_COLOR") ?? "") !== "",
      isTerminal: Deno.stdout.isTerminal(),
    });
  }

  heading(text: string): void {
    this.#write(["", this.#paint.heading(text)]);
  }

  lines(lines: readonly string[]): void {
    this.#write(lines.map((line) => `  ${line}`));
  }

  aside(text: string): void {
    this.#write([`  ${this.#paint.faint(text)}`]);
  }

  #write(lines: readonly string[]): void {
    Deno.stdout.writeSync(new TextEncoder().encode(lines.join("\n") + "\n"));
  }
}

async function demo(say: Narrator): Promise<void> {
  const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
  say.heading("1. Build");
  await build(root);
  const scratch = await Deno.makeTempDir();
  try {
    const empty = await compileEmpty(scratch);
    using node = new DemoNode(`${root}/dist/headcni`);
    using _interrupt = onInterrupt(() => node[Symbol.dispose]());
    await perform(node, empty, say);
    node[Symbol.dispose]();
    check(node.namespacesLeft().map((name) => `network namespace: ${name}`));
    say.lines(["the demo's namespaces and files: removed"]);
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

/** From the first ADD to the proof that nothing is left on the node. */
async function perform(node: DemoNode, empty: string, say: Narrator): Promise<void> {
  const before = await takeStock(node);
  const pods = [node.addPod("pod-a"), node.addPod("pod-b")];
  say.heading("2. Two pods get a network");
  say.aside(`CNI_COMMAND=ADD headcni <<< '${JSON.stringify(CONFIG)}'`);
  const attached = await attachAll(node, pods, say);
  say.heading("3. The way between them");
  const [left, right] = attached;
  if (left === undefined || right === undefined) throw new DemoError("Cannot draw: no pods");
  say.lines(drawPath(left.picture, right.picture));
  say.heading("4. They talk");
  await pingAll(node, [left, right], say);
  say.heading("5. They are deleted");
  const deleted = await deleteAll(node, pods, say);
  say.heading("6. How long it took");
  await compareTimes(node, { empty, attached, deleted }, say);
  say.heading("7. What is left");
  const after = await takeStock(node);
  check(leftOvers(before, after));
  say.lines(describeStock(before, after));
}

interface AttachedPod {
  readonly pod: Pod;
  readonly picture: PodPicture;
  readonly elapsedMs: number;
}

/** The part of a result that the story needs. */
interface AddResult {
  readonly interfaces: readonly { name: string; mtu: number; sandbox?: string }[];
  readonly ips: readonly { address: string; gateway: string }[];
}

async function attachAll(node: DemoNode, pods: readonly Pod[], say: Narrator) {
  const attached: AttachedPod[] = [];
  const rows = [["pod", "interface", "address", "gateway", "on the node", "MTU"]];
  for (const pod of pods) {
    const { stdout, elapsedMs } = await node.callPlugin("ADD", pod);
    const { interfaces, ips }: AddResult = JSON.parse(stdout);
    const inside = interfaces.find(({ sandbox }) => sandbox);
    const outside = interfaces.find(({ sandbox }) => !sandbox);
    const picture: PodPicture = {
      name: pod.name,
      interfaceName: inside?.name ?? "?",
      address: ips[0]?.address ?? "?",
      gateway: ips[0]?.gateway ?? "?",
      hostInterface: outside?.name ?? "?",
    };
    attached.push({ pod, picture, elapsedMs });
    const { interfaceName, address, gateway, hostInterface } = picture;
    const mtu = String(inside?.mtu ?? "?");
    rows.push([pod.name, interfaceName, address, gateway, hostInterface, mtu]);
  }
  say.lines(columns(rows, 3));
  return attached;
}

async function pingAll(node: DemoNode, [left, right]: AttachedPod[], say: Narrator) {
  if (left === undefined || right === undefined) return;
  const hostOf = ({ picture }: AttachedPod) => picture.address.replace(/\/.*/, "");
  const pairs: [AttachedPod, string, string][] = [
    [left, right.pod.name, hostOf(right)],
    [right, left.pod.name, hostOf(left)],
    [left, "gateway", left.picture.gateway],
  ];
  const rows: string[][] = [];
  for (const [from, name, address] of pairs) {
    const { sent, received, averageMs } = await node.ping(from.pod, address);
    const way = `ping ${from.pod.name} → ${name}`;
    if (received < sent) throw new DemoError(`Cannot go on: ${way} lost packets`);
    rows.push([way, address, `${received} of ${sent} answered`, `${averageMs.toFixed(3)} ms`]);
  }
  say.lines(columns(rows, 3));
}

async function deleteAll(node: DemoNode, pods: readonly Pod[], say: Narrator) {
  const deleted: TimedRun[] = [];
  for (const pod of pods) deleted.push(await node.callPlugin("DEL", pod));
  say.lines(pods.map(({ name }) => `DEL ${name}: done`));
  return deleted;
}

async function compareTimes(
  node: DemoNode,
  runs: { empty: string; attached: readonly AttachedPod[]; deleted: readonly TimedRun[] },
  say: Narrator,
): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < EMPTY_RUNS; run++) times.push((await node.run(runs.empty)).elapsedMs);
  const middle = times.toSorted((a, b) => a - b)[Math.floor(EMPTY_RUNS / 2)] ?? NaN;
  const row = (what: string, elapsedMs: number, remark: string) => {
    const more = elapsedMs - middle;
    const sign = more < 0 ? "-" : "+";
    return [what, `${elapsedMs.toFixed(0)} ms`, `${sign}${Math.abs(more).toFixed(0)} ms`, remark];
  };
  say.lines(columns([
    ["an empty compiled program", `${middle.toFixed(0)} ms`, "", `median of ${EMPTY_RUNS}`],
    ...runs.attached.map(({ pod, elapsedMs }, index) => {
      const remark = index === 0 ? "first pod: loads the filter" : "";
      return row(`ADD ${pod.name}`, elapsedMs, remark);
    }),
    ...runs.deleted.map(({ elapsedMs }, index) =>
      row(`DEL ${runs.attached[index]?.pod.name}`, elapsedMs, "")
    ),
  ], 3));
}

function describeStock(before: readonly Holding[], after: readonly Holding[]): string[] {
  return columns(
    after.map(({ what, items }, index) => {
      const was = before[index]?.items.length ?? 0;
      return [what, `${was} before`, `${items.length} after`, "nothing new"];
    }),
    3,
  );
}

/** @throws {DemoError} if anything is left. */
function check(left: readonly string[]): void {
  if (left.length > 0) throw new DemoError(`Cannot call it clean, left over: ${left.join("; ")}`);
}

async function build(root: string): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${root}/tools/build.ts`],
    cwd: root,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (!success) throw new DemoError("Cannot go on: the build failed");
}

/** Ctrl-C must not leave namespaces behind. */
function onInterrupt(cleanUp: () => void): Disposable {
  const stop = () => {
    cleanUp();
    Deno.exit(130);
  };
  Deno.addSignalListener("SIGINT", stop);
  Deno.addSignalListener("SIGTERM", stop);
  return {
    [Symbol.dispose]() {
      Deno.removeSignalListener("SIGINT", stop);
      Deno.removeSignalListener("SIGTERM", stop);
    },
  };
}

async function prepare(): Promise<void> {
  if (Deno.build.os !== "linux") {
    throw new DemoError("Cannot run here: network namespaces are Linux");
  }
  if (Deno.uid() !== 0) {
    throw new DemoError(
      "Cannot make network namespaces without root\n  Run: sudo npx -y deno@2.5.7 task demo",
    );
  }
  await installMissing(complain, TOOLS);
  const missing = missingPackages(TOOLS);
  if (missing.length > 0) {
    throw new DemoError(`Cannot go on without ${missing.join(", ")}: install them and try again`);
  }
}

function complain(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`demo: ${text}\n`));
}

async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    const isHelp = args.length === 1 && (args[0] === "--help" || args[0] === "-h");
    if (isHelp) Deno.stdout.writeSync(new TextEncoder().encode(USAGE));
    else complain(`Cannot use argument "${args.join(" ")}"\n${USAGE}`);
    return isHelp ? 0 : 2;
  }
  try {
    await prepare();
    await demo(new Narrator());
    return 0;
  } catch (error) {
    if (!(error instanceof DemoError)) throw error;
    complain(error.message);
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
