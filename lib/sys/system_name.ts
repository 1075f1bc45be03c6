/** Which operating system this is. */

/** The systems that are told apart; everything else is treated as Linux is. */
export type SystemName = "linux" | "windows" | "darwin";

/** The system the program runs on. */
export function systemName(os: string = Deno.build.os): SystemName {
  return os === "windows" || os === "darwin" ? os : "linux";
}
