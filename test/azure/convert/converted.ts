import type { PolicyDocument } from "../../../compiler/azure/ast.ts"
import {
  type ConvertOptions,
  convertPolicy,
  type PolicyConversion,
} from "../../../compiler/azure/convert/convert-policy.ts"
import { readPolicyDocument } from "../../../compiler/azure/reader/read-document.ts"
import { Report } from "../../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../../compiler/core/source.ts"

/** The document of a text; undefined where it cannot be read without errors. */
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
): PolicyConversion | undefined {
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
