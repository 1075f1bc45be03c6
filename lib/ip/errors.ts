/** The one error of address arithmetic. */

import { HeadcniError } from "../sys/errors.ts";

/** Text that is no address, prefix or range, or arithmetic that leaves the address space. */
export class AddressError extends HeadcniError {
  override readonly name = "AddressError";
}

/** The longest valid address has 45 characters; a longer text is shown up to here. */
const SHOWN_CHARACTERS = 64;

/**
 * `text` in quotes for an error message. The text comes from configuration files and
 * the command line: it is shortened, and control characters are escaped.
 */
export function quote(text: string): string {
  return JSON.stringify(
    text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`,
  );
}
