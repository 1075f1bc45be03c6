/** The compiled program under test, and how tests run it. */

/** `HEADCNI_BINARY`, else what `deno task build` leaves in `dist`. */
export const PROGRAM: string = Deno.env.get("HEADCNI_BINARY") ??
  new URL("../../dist/headcni", import.meta.url).pathname;

/** How a run of the program ended. */
export interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a run may be told. */
export interface RunOptions {
  /** The whole environment: nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: string;
  readonly cwd?: string;
}

/** Runs the program with `args` in an environment of its own. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ending> {
  const { env = {}, program = PROGRAM, cwd } = options;
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env },
    stdin: "null",
    ...(cwd === undefined ? {} : { cwd }),
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** A directory that is removed when the test ends. */
export function temporaryDirectory(): { readonly path: string } & AsyncDisposable {
  const path = Deno.makeTempDirSync({ prefix: "headcni-test-" });
  return {
    path,
    async [Symbol.asyncDispose]() {
      await Deno.remove(path, { recursive: true });
    },
  };
}
