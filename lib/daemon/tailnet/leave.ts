/**
 * Takes this program's part out of the machine: what the record says was changed is changed
 * back, and nothing else.
 */

import type { Prefix } from "../../ip/mod.ts";
import { HeadscaleError, type OwnNode } from "../../headscale/mod.ts";
import { HeadcniError } from "../../sys/errors.ts";
import {
  type LocalApi,
  type Prefs,
  prefsDifference,
  type PrefsEdit,
  removeIsolation,
} from "../../tailscale/mod.ts";
import type { ApplyContext } from "./apply.ts";
import { applyKernel } from "./apply_kernel.ts";
import { minus } from "./cluster.ts";
import type { Desired } from "./desired.ts";
import { readRecord, type TailnetRecord } from "./record.ts";

/** What was done, and what could not be. */
export interface LeaveReport {
  readonly done: readonly string[];
  readonly failures: readonly HeadcniError[];
}

/** What leaving works with. */
export interface LeaveContext extends ApplyContext {
  readonly desired: Desired;
  readonly api: LocalApi;
}

/**
 * The settings to put back: each one that was changed and has not been changed by somebody else
 * since, and the routes without those this program added.
 */
export function restoringEdit(prefs: Prefs, record: TailnetRecord): PrefsEdit {
  const { originalPrefs } = record;
  // All three are set to true by this program; whoever set one to false since, meant it.
  const names = ["routeAll", "noSnat", "noStatefulFiltering"] as const;
  const untouched = names.filter((name) => prefs[name] === true);
  const restored = Object.fromEntries(
    untouched.flatMap((name) =>
      originalPrefs[name] === undefined ? [] : [[name, originalPrefs[name]]]
    ),
  );
  return prefsDifference(prefs, {
    ...restored,
    advertiseRoutes: minus(prefs.advertiseRoutes, record.advertised),
  });
}

/** Leaves. Every part is tried, whatever became of the others; doing it twice is safe. */
export async function leave(context: LeaveContext): Promise<LeaveReport> {
  const { desired, files, recordPath } = context;
  const record = readRecord(files, recordPath);
  const report = { done: [] as string[], failures: [] as HeadcniError[] };
  const attempt = async (what: string, work: () => Promise<boolean>) => {
    try {
      if (await work()) report.done.push(what);
    } catch (error) {
      if (!(error instanceof HeadcniError)) throw error;
      report.failures.push(error);
    }
  };
  const own = await ownNode(context).catch((error) => {
    if (error instanceof HeadcniError) report.failures.push(error);
    else throw error;
    return undefined;
  });
  if (desired.mode === "host") {
    await attempt("settings of tailscaled put back", () => restorePrefs(context, record));
    if (own !== undefined) {
      await attempt(
        "approval in Headscale taken back",
        () => withdraw(context, own, record.approved),
      );
    }
  } else {
    await attempt("node taken out of the tailnet", () => removeNode(context, own));
  }
  await attempt("rules and routes removed", () => clearKernel(context));
  if (desired.isolation === "netns") {
    await attempt("namespace removed", () => Promise.resolve(removeIsolation()));
  }
  if (report.failures.length === 0) files.remove(recordPath);
  return report;
}

async function ownNode({ api }: LeaveContext): Promise<OwnNode | undefined> {
  const { self } = await api.status({ peers: false });
  return self.id === "" ? undefined : { id: self.id, nodeKey: self.publicKey };
}

async function restorePrefs({ api }: LeaveContext, record: TailnetRecord): Promise<boolean> {
  const edit = restoringEdit(await api.prefs(), record);
  if (Object.keys(edit).length === 0) return false;
  await api.editPrefs(edit);
  return true;
}

async function withdraw(
  { headscale }: LeaveContext,
  own: OwnNode,
  mine: readonly Prefix[],
): Promise<boolean> {
  if (mine.length === 0) return false;
  return (await headscale.withdraw({ own, mine })).changed;
}

/** Ours alone: logged out, ended, deleted in Headscale. */
async function removeNode(
  { api, supervisor, headscale }: LeaveContext,
  own: OwnNode | undefined,
): Promise<boolean> {
  if (own !== undefined) await deleteOwn(headscale, own);
  // Told afterwards: it forgets its key, which nobody knows any more.
  await api.logout().catch((error) => {
    if (!(error instanceof HeadcniError)) throw error;
  });
  await supervisor?.stop();
  return true;
}

async function deleteOwn(headscale: LeaveContext["headscale"], own: OwnNode): Promise<void> {
  try {
    const node = await headscale.node(own.id);
    if (node.nodeKey === own.nodeKey) await headscale.deleteNode(own.id);
  } catch (error) {
    if (!(error instanceof HeadscaleError) || error.kind !== "NotFound") throw error;
  }
}

async function clearKernel(context: LeaveContext): Promise<boolean> {
  const { kernel, desired } = context;
  const { rules, unreachable } = kernel.view(desired.tun);
  const ours = rules.filter(({ isOurs }) => isOurs);
  for (const { family, priority, table, source, destination } of ours) {
    const rule = {
      family,
      priority,
      table,
      ...(source === undefined ? {} : { source }),
      ...(destination === undefined ? {} : { destination }),
    };
    await applyKernel({ do: "deleteRule", where: "node", rule }, context);
  }
  for (const prefix of unreachable) {
    await applyKernel({ do: "deleteUnreachable", where: "node", prefix }, context);
  }
  return ours.length + unreachable.length > 0;
}
