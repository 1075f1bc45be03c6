/**
 * The bill of materials of a release, in CycloneDX 1.6.
 *
 * The same input gives the same bytes: lists are sorted, the serial number is
 * derived from the content, and the time comes from the caller.
 */

import { licenseOf } from "./licenses.ts";
import type { LockedPackage, LockedPackages } from "./lock_file.ts";

/** What a release is made of. */
export interface Release {
  /** Version of headcni. */
  readonly version: string;
  readonly commit: string;
  /** Target triple of the program. */
  readonly target: string;
  /** SHA-256 of the program, in hexadecimal. */
  readonly sha256: string;
  readonly npm: LockedPackages;
  /** Version of the Deno runtime in the program. */
  readonly denoVersion: string;
  /** The Debian package libmnl was taken from; `undefined` where none is embedded. */
  readonly libmnl: DebianPackage | undefined;
  /** When the release was made (ISO 8601), left out when `undefined`. */
  readonly timestamp: string | undefined;
}

/** A package of Debian, as `dpkg` names it. */
export interface DebianPackage {
  readonly version: string;
  readonly architecture: string;
}

interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly id: string } }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly externalReferences?: readonly { readonly type: string; readonly url: string }[];
}

/** The document as text, ready to be written. */
export async function renderBom(release: Release): Promise<string> {
  const subject = headcni(release);
  const embedded = [denoRuntime(release.denoVersion), ...libmnl(release.libmnl)];
  const components = [...embedded, ...release.npm.packages.map(npmPackage)];
  const body = {
    version: 1,
    metadata: {
      ...(release.timestamp === undefined ? {} : { timestamp: release.timestamp }),
      component: subject,
      properties: [
        { name: "headcni:commit", value: release.commit },
        { name: "headcni:target", value: release.target },
      ],
    },
    components,
    dependencies: [
      {
        ref: subject["bom-ref"],
        dependsOn: [...embedded.map((part) => part["bom-ref"]), ...release.npm.direct.map(npmPurl)],
      },
      ...release.npm.packages.map((entry) => ({
        ref: npmPurl(`${entry.name}@${entry.version}`),
        dependsOn: entry.dependencies.map(npmPurl),
      })),
    ],
  };
  const serialNumber = await contentUuid(JSON.stringify(body));
  const head = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber,
  };
  return `${JSON.stringify({ ...head, ...body }, undefined, 2)}\n`;
}

function headcni(release: Release): Component {
  return {
    type: "application",
    "bom-ref": `headcni@${release.version}`,
    name: "headcni",
    version: release.version,
    purl: `pkg:generic/headcni@${encodeURIComponent(release.version)}`,
    licenses: [{ license: { id: "Apache-2.0" } }],
    hashes: [{ alg: "SHA-256", content: release.sha256 }],
  };
}

function denoRuntime(version: string): Component {
  const purl = `pkg:github/denoland/deno@v${version}`;
  return {
    type: "platform",
    "bom-ref": purl,
    name: "deno",
    version,
    purl,
    licenses: [{ license: { id: "MIT" } }],
  };
}

function libmnl(from: DebianPackage | undefined): Component[] {
  if (from === undefined) return [];
  const version = encodeURIComponent(from.version);
  const purl = `pkg:deb/debian/libmnl0@${version}?arch=${from.architecture}`;
  return [{
    type: "library",
    "bom-ref": purl,
    name: "libmnl0",
    version: from.version,
    purl,
    licenses: [{ license: { id: "LGPL-2.1-or-later" } }],
    externalReferences: [{
      type: "source-distribution",
      url: "https://sources.debian.org/src/libmnl/",
    }],
  }];
}

function npmPackage(entry: LockedPackage): Component {
  const purl = npmPurl(`${entry.name}@${entry.version}`);
  const slash = entry.name.indexOf("/");
  const license = licenseOf(entry.name);
  return {
    type: "library",
    "bom-ref": purl,
    ...(slash < 0 ? {} : { group: entry.name.slice(0, slash) }),
    name: entry.name.slice(slash + 1),
    version: entry.version,
    purl,
    ...(license === undefined ? {} : { licenses: [{ license: { id: license } }] }),
    hashes: [{ alg: "SHA-512", content: entry.sha512 }],
  };
}

/**
 * The package URL of an npm package: the `@` of its scope is escaped, the `/` is not.
 *
 * @example
 * ```ts
 * import { npmPurl } from "./bom.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(npmPurl("@types/node@24.1.0"), "pkg:npm/%40types/node@24.1.0");
 * ```
 */
export function npmPurl(id: string): string {
  return `pkg:npm/${id.replace(/^@/, "%40")}`;
}

/** A UUID of version 8 (RFC 9562: content is the maker's own) from the hash of `text`. */
async function contentUuid(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = new Uint8Array(digest).toHex();
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join("-")}`;
}
