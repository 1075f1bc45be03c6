/**
 * The result of ADD (SPEC, "ADD Success"), in the newest form.
 *
 * Addresses stay texts here: a result travels through chains of plugins and must come out
 * as it went in. Who acts on one parses it.
 */

import { isJsonObject, type JsonObject } from "../sys/json_reader.ts";
import { ResultError } from "./errors.ts";

/** An interface a plugin made or used. */
export interface ResultInterface {
  readonly name: string;
  readonly mac?: string;
  readonly mtu?: number;
  /** Path of the namespace it is in; absent for the host's own. */
  readonly sandbox?: string;
  readonly socketPath?: string;
  readonly pciID?: string;
}

/** An address given to an interface. */
export interface ResultIp {
  /** With prefix length, host bits kept: `10.1.2.3/24`. */
  readonly address: string;
  readonly gateway?: string;
  /** Index into `interfaces`; zero is meaningful. */
  readonly interface?: number;
}

/** A route in the container. */
export interface ResultRoute {
  readonly dst: string;
  readonly gw?: string;
  readonly mtu?: number;
  readonly advmss?: number;
  readonly priority?: number;
  /** Routing table; zero is meaningful. */
  readonly table?: number;
  /** Scope; zero (global) is meaningful. */
  readonly scope?: number;
}

/** Name servers for the container. */
export interface ResultDns {
  readonly nameservers?: readonly string[];
  readonly domain?: string;
  readonly search?: readonly string[];
  readonly options?: readonly string[];
}

/** What ADD has done. */
export interface CniResult {
  readonly interfaces: readonly ResultInterface[];
  readonly ips: readonly ResultIp[];
  readonly routes: readonly ResultRoute[];
  readonly dns: ResultDns;
}

/** A result without anything. */
export const EMPTY_RESULT: CniResult = { interfaces: [], ips: [], routes: [], dns: {} };

/** Reads the objects of a result; `where` names it in errors (`prevResult`). */
export class ResultReader {
  readonly #where: string;

  constructor(where: string) {
    this.#where = where;
  }

  /** The list `value`; absent and `null` are empty, as Go prints them. */
  objects(value: unknown, key: string): readonly JsonObject[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value) && value.every(isJsonObject)) return value;
    throw this.error(`${key} is no list of objects`);
  }

  /** A text that has to be there. */
  text(object: JsonObject, key: string): string {
    const value = object[key];
    if (typeof value === "string" && value !== "") return value;
    throw this.error(
      value === undefined || value === null || value === ""
        ? `${key} is missing`
        : `${key} is ${JSON.stringify(value)} instead of a text`,
    );
  }

  /** A text that may be missing. */
  optionalText(object: JsonObject, key: string): string | undefined {
    const value = object[key];
    if (value === undefined || value === null || value === "") return undefined;
    return this.text(object, key);
  }

  /** A number that may be missing. */
  optionalNumber(object: JsonObject, key: string): number | undefined {
    const value = object[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw this.error(`${key} is ${JSON.stringify(value)} instead of a whole number`);
  }

  /** Texts; absent and `null` are none. */
  texts(object: JsonObject, key: string): readonly string[] {
    const value = object[key];
    if (value === undefined || value === null) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    throw this.error(`${key} is no list of texts`);
  }

  /** An error about this result. */
  error(reason: string): ResultError {
    return new ResultError({ operation: "read", subject: this.#where, reason });
  }
}

/** `object` without the keys whose value is `undefined`; JSON has no such thing. */
export function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]: Exclude<T[K], undefined> };
}
