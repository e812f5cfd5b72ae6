import { expect, test } from "vitest"
import type { PolicyDocument } from "../../../compiler/azure/ast.ts"
import { compileCsharp } from "../../../compiler/azure/csharp/compile-csharp.ts"
import { lowerDocument } from "../../../compiler/azure/lower-document.ts"
import { readPolicyDocument } from "../../../compiler/azure/reader/read-document.ts"
import type { DocumentSteps, ExpressionSource, NamedValue } from "../../../compiler/azure/site.ts"
import { Report } from "../../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../../compiler/core/source.ts"
import type { Expression } from "../../../runtime/plan/text.ts"
import { conformanceFiles, conformanceText, describeConformance } from "../../model/conformance.ts"
import { TestHost } from "./host.ts"

/** Every name is declared, as a number or a URL; expressions are compiled as C#. */
class OpenHost extends TestHost {
  override named(name: string): NamedValue {
    return { constant: /url|server|send/i.test(name) ? "https://a.example" : "60" }
  }

  override fragment(): PolicyDocument {
    return readPolicyDocument(new SourceFile("fragment.xml", "<fragment />"), this.report)
  }

  override compile({ code, form, section }: ExpressionSource): Expression | undefined {
    const source = { text: code.text, at: (offset: number) => code.span(offset, offset).start }
    const compiled = compileCsharp(source, form === "expression" ? "expression" : "block", { section })
    if (!("findings" in compiled)) return { lang: "cel", text: "true", type: "cs" }
    for (const { start, end, message, help } of compiled.findings)
      this.report.add("SP7017", code.file.span(start, end), message, { help })
    return undefined
  }
}

/** Errors of a document; a fragment is looked at as if it stood in `inbound`. */
function errorsOf(path: string): string[] {
  const report = new Report()
  const host = new OpenHost(report)
  const read = readPolicyDocument(new SourceFile(path, conformanceText(path)), report)
  const { root } = read
  const document =
    root?.name === "fragment"
      ? { ...read, root: { ...root, name: "policies", children: [{ ...root, name: "inbound" }] } }
      : read
  const place = {
    ...{ file: read.file, scope: "api a", level: "api" as const, api: "a", operation: "GET /a" },
    ...{ pathParameters: [], backend: "b", keyed: false },
  }
  const outer: DocumentSteps = { inbound: [], backend: [], outbound: [], "on-error": [] }
  lowerDocument(document, place, host, outer)
  return report.sorted().flatMap(({ severity, code, span }) => {
    const at = span?.file.position(span.start)
    return severity === "error" ? [`${code} ${at?.line}:${at?.column}`] : []
  })
}

// What is refused is wrong in the document: a URL left out, a bracket exchanged for a brace, a name in braces, quotes that were exchanged, a text that is added as seconds.
const refused: Readonly<Record<string, readonly string[]>> = {
  "Generate Azure Relay Token.policy.xml": ["SP7009 10:34"],
  "Get OAuth2 access token from AAD using client id and certificate using key vault manage identity.xml": [
    "SP7012 92:136",
  ],
  "PUT a file to blobStorage account.xml": ["SP7009 51:31", "SP7009 54:32"],
  "Pre-authorize requests based on HTTP method with validate-jwt.policy.xml": [
    "SP7017 10:66",
    "SP7017 22:43",
  ],
  "Return a blob URL signed with a user delegation SAS token.xml": ["SP7017 61:50", "SP7017 89:52"],
}

describeConformance("public policy documents become steps", () => {
  const files = conformanceFiles("apim").filter((path) => path.endsWith(".xml"))

  test.each(files)("%s", (path) => {
    expect(errorsOf(path)).toEqual(refused[path.slice("apim/".length)] ?? [])
  })
})
