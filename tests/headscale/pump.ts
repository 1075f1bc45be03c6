/** Carries bytes between two connections. */

/** Joins `near` with what `connect` gives; a server that is not there closes it. */
export async function pump(near: Deno.Conn, connect: () => Promise<Deno.Conn>): Promise<void> {
  try {
    const far = await connect();
    await Promise.all([
      near.readable.pipeTo(far.writable),
      far.readable.pipeTo(near.writable),
    ]);
  } catch {
    // One side is gone: so is the other.
    try {
      near.close();
    } catch {
      // It was closed already.
    }
  }
}
