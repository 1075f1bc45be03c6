/**
 * The few facts about ELF files the build needs.
 *
 * `deno compile` leaves the runtime as it is and appends the program behind it,
 * so the runtime can be cut out of any compiled program: an ELF file ends with
 * its section header table.
 */

/** `e_machine` of `<elf.h>` for the processors we build for. */
const MACHINES: Readonly<Record<number, string>> = { 62: "amd64", 183: "arm64" };

/** Sizes and offsets of `Elf64_Ehdr`, see `<elf.h>`. */
const EHDR = { size: 64, machine: 0x12, shoff: 0x28, shentsize: 0x3a, shnum: 0x3c } as const;

function header(bytes: Uint8Array): DataView | undefined {
  if (bytes.length < EHDR.size) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, EHDR.size);
  const isElf64LittleEndian = view.getUint32(0) === 0x7f454c46 && bytes[4] === 2 && bytes[5] === 1;
  return isElf64LittleEndian ? view : undefined;
}

/** The length of the ELF file at the start of `bytes`, `undefined` when there is none. */
export function elfLength(bytes: Uint8Array): number | undefined {
  const view = header(bytes);
  if (view === undefined) return undefined;
  const end = Number(view.getBigUint64(EHDR.shoff, true)) +
    view.getUint16(EHDR.shentsize, true) * view.getUint16(EHDR.shnum, true);
  return end <= bytes.length ? end : undefined;
}

/** Debian's name of the processor an ELF file is for. */
export function elfArchitecture(bytes: Uint8Array): string | undefined {
  const view = header(bytes);
  return view === undefined ? undefined : MACHINES[view.getUint16(EHDR.machine, true)];
}
