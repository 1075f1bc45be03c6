import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { FileStat } from "../sys/files.ts";
import { ProcessError } from "../sys/process_error.ts";
import { FirewallError } from "./errors.ts";
import { findNft, runNft } from "./nft_program.ts";

function only(path: string): { stat(path: string): FileStat | undefined } {
  const stat: FileStat = { kind: "file", size: 1, mode: 0o755, uid: 0, gid: 0, modifiedMs: 0 };
  return { stat: (asked) => asked === path ? stat : undefined };
}

Deno.test("nft is found where distributions put it, and nowhere else", () => {
  assertEquals(findNft(only("/usr/sbin/nft")), "/usr/sbin/nft");
  assertEquals(findNft(only("/bin/nft")), "/bin/nft");
  const error = assertThrows(() => findNft(only("/tmp/nft")), FirewallError, "nft is in none of");
  assertEquals(error.remedy?.includes("nftables"), true);
});

Deno.test("nft gets the script on its standard input and no environment", async () => {
  const calls: unknown[] = [];
  await runNft("add table inet headcni\n", {
    files: only("/sbin/nft"),
    run: (command, args, options) => {
      calls.push([command, args, options?.stdin, options?.clearEnv, options?.check]);
      return Promise.resolve({
        code: 0,
        signal: undefined,
        stdout: "",
        stderr: "",
        durationMs: 1,
      });
    },
  });
  assertEquals(calls, [["/sbin/nft", ["-f", "-"], "add table inet headcni\n", true, true]]);
});

Deno.test("a refusal of nft reaches the caller", async () => {
  const failure = new ProcessError({ kind: "Failed", command: "nft", args: [], reason: "no" });
  const run = () => Promise.reject(failure);
  await assertRejects(() => runNft("", { files: only("/sbin/nft"), run }), ProcessError);
});
