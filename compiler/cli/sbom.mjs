// The software bill of materials of dist/ in CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json/. `npm sbom` cannot make it: it lists what is
// installed, and the packages in dist/ are bundled, so that an installation has none.
import { createHash } from "node:crypto"

/** A package whose code is in dist/. `integrity`: of its archive, as in package-lock.json; undefined: not in the lock. */
/** @typedef {{ name: string, version: string, license?: string, integrity?: string }} BundledPackage */

/**
 * The bill as JSON text. The same packages give the same text; with `epochSeconds` (SOURCE_DATE_EPOCH) it has a time.
 * @param {BundledPackage} product
 * @param {readonly BundledPackage[]} packages
 * @param {string | undefined} epochSeconds
 */
export function billOf(product, packages, epochSeconds) {
  const root = { type: "application", ...componentOf(product) }
  const components = packages.map((each) => ({
    type: "library",
    scope: "required",
    ...componentOf(each),
    ...hashesOf(each),
  }))
  const refs = components.map((each) => each["bom-ref"])
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([root, components]))}`,
    version: 1,
    metadata: {
      ...(epochSeconds ? { timestamp: new Date(Number(epochSeconds) * 1_000).toISOString() } : {}),
      lifecycles: [{ phase: "build" }],
      component: root,
    },
    components,
    dependencies: [{ ref: root["bom-ref"], dependsOn: refs }, ...refs.map((ref) => ({ ref }))],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

function componentOf({ name, version, license }) {
  const [, group, bare] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [undefined, undefined, name]
  // https://github.com/package-url/purl-spec: the `@` of a scope is percent-encoded.
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`
  return {
    "bom-ref": purl,
    ...(group ? { group } : {}),
    name: bare,
    version,
    purl,
    ...(license ? { licenses: [licenseOf(license)] } : {}),
  }
}

function licenseOf(license) {
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }
}

/** npm writes `ALGORITHM-BASE64`, the bill has hexadecimal digits. */
function hashesOf({ integrity }) {
  const [, algorithm, digest] = /^sha(256|384|512)-(\S+)$/.exec(integrity ?? "") ?? []
  if (algorithm === undefined) return {}
  return { hashes: [{ alg: `SHA-${algorithm}`, content: Buffer.from(digest, "base64").toString("hex") }] }
}

/** A UUID made from text (version 8 of RFC 9562). */
function uuidOf(text) {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6] & 0x0f) | 0x80
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}
