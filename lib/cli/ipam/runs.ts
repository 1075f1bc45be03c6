/**
 * What carries out each command of `headcni ipam`, in one module: every module that is loaded
 * on its own cuts the bundle into smaller chunks, and the CNI plugin would have to read more
 * of them.
 */

import * as list from "./list.ts";
import * as show from "./show.ts";
import * as stats from "./stats.ts";
import * as allocate from "./allocate.ts";
import * as release from "./release.ts";
import * as reserve from "./reserve.ts";
import * as gc from "./gc.ts";
import * as check from "./check.ts";
import * as importFrom from "./import.ts";
import * as exportAll from "./export.ts";
import { type Run } from "../command.ts";

/** `headcni ipam list`. */
export const LIST: { run: Run } = list;
/** `headcni ipam show`. */
export const SHOW: { run: Run } = show;
/** `headcni ipam stats`. */
export const STATS: { run: Run } = stats;
/** `headcni ipam allocate`. */
export const ALLOCATE: { run: Run } = allocate;
/** `headcni ipam release`. */
export const RELEASE: { run: Run } = release;
/** `headcni ipam reserve`. */
export const RESERVE: { run: Run } = reserve;
/** `headcni ipam gc`. */
export const GC: { run: Run } = gc;
/** `headcni ipam check`. */
export const CHECK: { run: Run } = check;
/** `headcni ipam import`. */
export const IMPORT: { run: Run } = importFrom;
/** `headcni ipam export`. */
export const EXPORT: { run: Run } = exportAll;
