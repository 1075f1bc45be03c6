/**
 * Time since the kernel started, and which start that was.
 *
 * The pair is the only time that can be written to disk and compared later: the wall clock
 * jumps when it is set, and a monotonic clock starts anew with the machine. Equal boot ids
 * make uptimes comparable; different ones say that everything of then has ended.
 */

/** The boot of the machine as a clock. Tests pass a stand-in. */
export interface BootClock {
  /** Different after every start of the kernel. */
  bootId(): string;
  /** Milliseconds since that start, time asleep included. Never goes back, never jumps. */
  uptimeMs(): number;
}

/** random(4): made anew at each boot, the same in every container. */
const BOOT_ID = "/proc/sys/kernel/random/boot_id";
/** proc_uptime(5): CLOCK_BOOTTIME in seconds with two decimals, then something else. */
const UPTIME = "/proc/uptime";

/** The kernel's own. */
export const kernelBootClock: BootClock = {
  bootId: () => Deno.readTextFileSync(BOOT_ID).trim(),
  uptimeMs: () => Math.round(Number(Deno.readTextFileSync(UPTIME).split(" ", 1)[0]) * 1000),
};
