/** A configuration that cannot be used, with everything that is wrong about it. */

import { HeadcniError } from "./errors.ts";

/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** Where, as a path into the JSON: `ipam.ranges[0][1].subnet`. */
  readonly key: string;
  /** What is wrong there, as a phrase: `is not an address`. */
  readonly problem: string;
}

/** A network configuration that cannot be used; tells all that is wrong at once. */
export class ConfigError extends HeadcniError {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly ConfigProblem[]) {
    super({
      operation: "use network configuration",
      reason: problems.map(({ key, problem }) => `${key} ${problem}`).join("; "),
    });
  }
}
