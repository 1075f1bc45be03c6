/** Carries out steps: the only place here that changes anything. */

import type { Headscale } from "../../headscale/mod.ts";
import type { Clock } from "../../sys/clock.ts";
import { ensurePrivateDirectory } from "../../sys/private_path.ts";
import type { Files } from "../../sys/files.ts";
import type { TailscaledSupervisor } from "../../tailscale/mod.ts";
import { applyKernel, type KernelContext } from "./apply_kernel.ts";
import { login, type LoginContext } from "./login.ts";
import type { Memory } from "./observed.ts";
import { readRecord, writeRecord } from "./record.ts";
import type { Step } from "./step.ts";

/** What steps work with. */
export interface ApplyContext extends KernelContext, Omit<LoginContext, "headscale"> {
  readonly headscale: Headscale;
  /** In daemon mode. */
  readonly supervisor: TailscaledSupervisor | undefined;
  readonly files: Files;
  /** Directory of the record; made if it is missing. */
  readonly stateDirectory: string;
  readonly recordPath: string;
  readonly clock: Clock;
}

/** Carries out `step` and returns what is to be remembered afterwards. */
export async function apply(
  step: Step,
  context: ApplyContext,
  memory: Memory,
): Promise<Memory> {
  const { headscale, clock } = context;
  switch (step.do) {
    case "remember": {
      const { files, recordPath } = context;
      ensurePrivateDirectory(context.stateDirectory);
      writeRecord(files, recordPath, { ...readRecord(files, recordPath), ...step.change });
      return memory;
    }
    case "editPrefs":
      await context.api.editPrefs(step.edit);
      return memory;
    case "login":
      await login(step, context);
      return { ...memory, loginSinceMs: clock.monotonicMs(), unknownSinceMs: undefined };
    case "ensurePolicy": {
      const { outcome, added } = await headscale.ensurePolicy(step.need);
      if (outcome === "written") context.log.info("added to the policy of Headscale", { added });
      return { ...memory, policyLacks: outcome === "readOnly" ? added : [] };
    }
    case "restartTailscaled":
      await context.supervisor?.restart();
      return { ...memory, restartedAtMs: clock.monotonicMs() };
    case "approve":
      await headscale.approve({ own: step.own, mine: step.prefixes });
      return memory;
    case "withdraw":
      await headscale.withdraw({ own: step.own, mine: step.prefixes });
      return memory;
    case "nudge":
      await headscale.withdraw({ own: step.own, mine: step.prefixes });
      await headscale.approve({ own: step.own, mine: step.prefixes });
      return { ...memory, nudgedAtMs: clock.monotonicMs() };
    case "yield":
      return { ...memory, yielded: [...memory.yielded, ...step.prefixes] };
    default:
      await applyKernel(step, context);
      return memory;
  }
}
