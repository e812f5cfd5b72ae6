import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Ajv } from "ajv"
import { expect, test } from "vitest"
// @ts-expect-error Plain JavaScript, because it runs before anything is built.
import { billOf as untyped } from "../../compiler/cli/sbom.mjs"
import manifest from "../../package.json" with { type: "json" }
import { projectRoot } from "../structure/tree.ts"

type Package = Readonly<Record<"name" | "version" | "license", string>> & { readonly integrity?: string }

const billOf: (product: Package, packages: readonly Package[], epochSeconds: string | undefined) => string =
  untyped

interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses: readonly unknown[]
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
}

interface Bill {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp?: string; readonly component: Component }
  readonly components: readonly Component[]
}

// The library of CycloneDX has the schemas, which it does not export.
const library = dirname(createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json"))
const schema = (name: string) =>
  JSON.parse(readFileSync(join(library, "res/schema", `${name}.SNAPSHOT.schema.json`), "utf8")) as object

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
// The bill's schema names them relative to itself, by their file names, which are not their `$id`s.
for (const name of ["spdx", "jsf-0.82", "cryptography-defs"])
  ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
const validate = ajv.compile(schema("bom-1.6"))

const text = readFileSync(`${projectRoot}dist/sbom.cdx.json`, "utf8")
const bill = JSON.parse(text) as Bill

test("the bill of materials of dist/ is CycloneDX 1.6", () => {
  validate(bill)
  expect(validate.errors ?? []).toEqual([])
  expect(validate({ ...bill, components: [{ name: "a" }] })).toBe(false)
  const { name, version } = bill.metadata.component
  expect([name, version]).toEqual(["sallyport", manifest.version])
})

test("it has the packages whose licences are in dist/, with the digests of package-lock.json", () => {
  const licences = readFileSync(`${projectRoot}dist/licences.txt`, "utf8")
  const names = licences.split(`\n\n${"-".repeat(80)}\n\n`).map((each) => each.slice(0, each.indexOf(" (")))
  const { packages } = JSON.parse(readFileSync(`${projectRoot}package-lock.json`, "utf8")) as {
    packages: Record<string, { version: string; integrity?: string }>
  }
  const listed = bill.components.map(
    ({ group, name, version }) => `${group ? `${group}/` : ""}${name} ${version}`,
  )
  expect(listed).toEqual(names)
  expect(listed.length).toBeGreaterThan(20)
  for (const { hashes = [], purl } of bill.components) {
    const integrity = `sha512-${Buffer.from(hashes[0]?.content ?? "", "hex").toString("base64")}`
    expect(
      Object.values(packages).some((each) => each.integrity === integrity),
      purl,
    ).toBe(true)
  }
})

test("the same packages give the same bill, with a time only from SOURCE_DATE_EPOCH", () => {
  const product = { name: "p", version: "1.0.0", license: "Apache-2.0" }
  const package_ = {
    name: "@a/b",
    version: "2.0.0",
    license: "(MIT OR Apache-2.0)",
    integrity: "sha512-AAAA",
  }
  const made = billOf(product, [package_], "1767225600")
  expect(billOf(product, [package_], "1767225600")).toBe(made)
  const parsed = JSON.parse(made) as Bill
  validate(parsed)
  expect(validate.errors?.map(({ instancePath }) => instancePath) ?? []).toEqual([
    "/components/0/hashes/0/content",
  ])
  expect(parsed.metadata.timestamp).toBe("2026-01-01T00:00:00.000Z")
  expect(parsed.components[0]).toMatchObject({ group: "@a", name: "b", purl: "pkg:npm/%40a/b@2.0.0" })
  const other = JSON.parse(billOf(product, [], undefined)) as Bill
  expect(other.serialNumber).not.toBe(parsed.serialNumber)
  expect(other.metadata).not.toHaveProperty("timestamp")
})
