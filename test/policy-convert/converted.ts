import { type Conversion, type ConvertOptions, convertPolicy } from "../../compiler/convert/convert-policy.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import type { PolicyDocument } from "../../compiler/policy/ast.ts"
import { readPolicyDocument } from "../../compiler/policy/reader/read-document.ts"

/** The document of a text; undefined where it can't be read without errors. */
export function documentOf(path: string, text: string): PolicyDocument | undefined {
  const report = new Report()
  const document = readPolicyDocument(new SourceFile(path, text), report)
  return report.blocked || document.root === undefined ? undefined : document
}

/** A document converted as the command does it. */
export function converted(
  path: string,
  text: string,
  fragments: ReadonlyMap<string, string> = new Map(),
  options: Partial<ConvertOptions> = {},
): Conversion | undefined {
  const document = documentOf(path, text)
  if (document === undefined) return undefined
  const included = new Map<string, PolicyDocument>()
  for (const [id, source] of fragments) {
    const fragment = documentOf(`${id}.xml`, source)
    if (fragment !== undefined) included.set(id, fragment)
  }
  return convertPolicy(document, {
    name: "orders",
    section: "inbound",
    fragments: included,
    values: new Map(),
    ...options,
  })
}
