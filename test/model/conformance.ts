import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, test } from "vitest"
import { parse } from "yaml"

/** The folder of the public test data; it may be missing. */
export const conformanceRoot = fileURLToPath(new URL("../../../shared/conformance/", import.meta.url))

/** Tests over public test data, which lies beside the project; without it one test says why the others are missing. */
export function describeConformance(name: string, body: () => void): void {
  describe(name, () => {
    if (existsSync(conformanceRoot)) body()
    else
      test("public cases", (context) => context.skip("needs the public test data in ../shared/conformance"))
  })
}

/** A file of the public test data. */
export function conformanceText(path: string): string {
  return readFileSync(join(conformanceRoot, path), "utf8")
}

const parsed = new Map<string, unknown>()

/** A YAML file of the public test data. Parsed once, because the largest one takes half a second; nobody may change it. */
export function conformanceYaml<Value>(path: string): Value {
  if (!parsed.has(path)) parsed.set(path, parse(conformanceText(path), { maxAliasCount: -1 }))
  return parsed.get(path) as Value
}

/** All files below a folder of the public test data, relative to its root. */
export function conformanceFiles(folder: string): string[] {
  return readdirSync(join(conformanceRoot, folder)).flatMap((name) => {
    const path = `${folder}/${name}`
    return statSync(join(conformanceRoot, path)).isDirectory() ? conformanceFiles(path) : [path]
  })
}

/** An error OpenFGA's language tools find: lines and columns count from 0, the end is exclusive. */
export interface ExpectedError {
  readonly msg: string
  readonly line?: { readonly start: number; readonly end: number }
  readonly column?: { readonly start: number; readonly end: number }
  readonly metadata?: { readonly symbol?: string; readonly errorType?: string }
}

/** A case of the language's validation files. */
export interface LanguageCase {
  readonly name: string
  readonly dsl: string
  readonly json: string
  readonly skip?: boolean
  readonly expected_errors?: readonly ExpectedError[] | null
}
