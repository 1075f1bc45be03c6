import { assertEquals } from "@std/assert";
import { errnoName } from "./errno.ts";
import { NetlinkError } from "./errors.ts";
import { enterNetns, namespaceType, openReadOnly } from "./libc.ts";
import { closeDescriptor } from "../sys/libc.ts";

const CALLS = 20_000;

// Loaded outside of the tests: the library stays for the life of the process.
closeDescriptor(-1);

function openErrno(path: string): string {
  try {
    closeDescriptor(openReadOnly(path));
    return "ok";
  } catch (error) {
    if (error instanceof NetlinkError) return error.code;
    throw error;
  }
}

Deno.test("errno is that of the call, however often and whatever the engine does meanwhile", () => {
  const file = openReadOnly("/etc/passwd");
  const calls: [() => string, string][] = [
    [() => openErrno("/none"), "ENOENT"],
    [() => openErrno("/etc/passwd/x"), "ENOTDIR"],
    [() => errnoName(enterNetns(-1)), "EBADF"],
    [() => openErrno(`/${"x".repeat(300)}`), "ENAMETOOLONG"],
    [() => errnoName(enterNetns(file)), "EINVAL"],
  ];
  const wrong: string[] = [];
  let garbage: unknown[] = [];
  for (let n = 0; n < CALLS; n++) {
    const [call, expected] = calls[n % calls.length] ?? [() => "", ""];
    const actual = call();
    if (actual !== expected) wrong.push(`call ${n}: ${actual} instead of ${expected}`);
    // Garbage collection and optimisation happen between the calls.
    if (n % 100 === 0) garbage = Array.from({ length: 500 }, (_, i) => ({ i, text: `x${i}` }));
  }
  closeDescriptor(file);
  assertEquals([wrong, garbage.length], [[], 500]);
});

Deno.test("namespaceType is negative for what is no namespace", () => {
  const file = openReadOnly("/etc/passwd");
  assertEquals([namespaceType(file), namespaceType(-1)], [-1, -1]);
  closeDescriptor(file);
});
