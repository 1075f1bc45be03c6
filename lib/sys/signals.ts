/** Work that goes on until somebody asks this process to end. */

/** The signals a service manager, or a person, ends a process with. */
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Runs `work` with a signal that aborts when this process is asked to end. The second time the
 * process is asked, it ends at once: nobody has to wait for work that hangs.
 */
export async function untilSignalled(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => {
    for (const name of SIGNALS) Deno.removeSignalListener(name, onSignal);
    stop.abort();
  };
  for (const name of SIGNALS) Deno.addSignalListener(name, onSignal);
  try {
    await work(stop.signal);
  } finally {
    for (const name of SIGNALS) Deno.removeSignalListener(name, onSignal);
  }
}
