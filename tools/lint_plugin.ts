/** House rules `deno lint` does not have. Each message says what to do instead. */

import { effectBoundary } from "./lint/effect_boundary.ts";
import { errorName, errorProse } from "./lint/error_rules.ts";
import { noComputedImport, noDefaultExport } from "./lint/module_rules.ts";

const plugin: Deno.lint.Plugin = {
  name: "headcni",
  rules: {
    "effect-boundary": effectBoundary,
    "error-name": errorName,
    "error-prose": errorProse,
    "no-computed-import": noComputedImport,
    "no-default-export": noDefaultExport,
  },
};

export default plugin;
