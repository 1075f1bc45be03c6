/** Failures of the CNI call itself. Their numbers are given in `error_code.ts` only. */

import { HeadcniError } from "../sys/errors.ts";

/** A `CNI_*` variable is missing or has a value we cannot act on. */
export class EnvironmentError extends HeadcniError {
  override readonly name = "EnvironmentError";

  /** `variable` is the name a caller has to look at. */
  constructor(readonly variable: string, reason: string) {
    super({ operation: "use environment variable", subject: variable, reason });
  }
}
