/** Rows of the specification table: one call of the plugin, and what it has to answer. */

import { type Json } from "../namespace.ts";
import { type Answer, type Verb } from "../node.ts";

/** One call and its answer. */
export interface Row {
  /** Section of SPEC or CONVENTIONS, or where else the behaviour is written down. */
  readonly cites: string;
  readonly what: string;
  /** @default {"ADD"} */
  readonly verb?: Verb | string;
  /** Keys that replace those of a good configuration; `undefined` removes one. */
  readonly config?: Json;
  /** Standard input as it is, instead of a configuration. */
  readonly stdin?: string;
  /** Variables that replace those of a good call; `undefined` leaves one out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The number of the error, or one of several; 0 for success. */
  readonly code: number | readonly number[];
  /** What the error's message or details must contain. */
  readonly says?: string;
  /** Looks at the result of a success. */
  readonly result?: (result: Json, answer: Answer) => void;
  /** The row calls ADD with success: it gets a pod of its own, which is deleted after it. */
  readonly makesPod?: true;
}

/** Rows that differ in one thing only. */
export function rows<T>(
  base: Omit<Row, "what" | "code"> & { readonly code?: Row["code"] },
  things: readonly T[],
  make: (thing: T) => Partial<Row> & { readonly what: string },
): Row[] {
  return things.map((thing) => ({ code: 0, ...base, ...make(thing) }));
}
