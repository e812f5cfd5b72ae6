import { type DiagnosticCode, entryOf } from "../core/catalogue.ts"
import type { Diagnostic, TextEdit } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"

const levels = { error: "error", warning: "warning", info: "note" } as const

/** Findings as a SARIF 2.1.0 log (OASIS). The rules are the catalogue's texts of the reported codes. */
export function sarifOfFindings(findings: readonly Diagnostic[]): string {
  const codes = [...new Set(findings.map((finding) => finding.code))].sort()
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "sallyport", rules: codes.map(ruleOf) } },
        // SourceFile counts columns in UTF-16 units.
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => resultOf(finding, codes)),
      },
    ],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

function ruleOf(code: DiagnosticCode): object {
  const entry = entryOf(code)
  return {
    id: code,
    shortDescription: { text: entry.title },
    ...(entry.why === undefined ? {} : { fullDescription: { text: entry.why } }),
    ...(entry.help === undefined ? {} : { help: { text: entry.help } }),
    defaultConfiguration: { level: levels[entry.severity] },
  }
}

function resultOf(finding: Diagnostic, codes: readonly DiagnosticCode[]): object {
  const text = finding.help === undefined ? finding.detail : `${finding.detail}. ${finding.help}`
  return {
    ruleId: finding.code,
    ruleIndex: codes.indexOf(finding.code),
    level: levels[finding.severity],
    message: { text },
    ...(finding.span === undefined ? {} : { locations: [{ physicalLocation: locationOf(finding.span) }] }),
    ...(finding.related.length === 0
      ? {}
      : {
          relatedLocations: finding.related.map(({ span, message }, id) => ({
            id,
            message: { text: message },
            physicalLocation: locationOf(span),
          })),
        }),
    ...(finding.fix === undefined ? {} : { fixes: [fixOf(finding.fix, finding.help)] }),
  }
}

/** A fix by file (SARIF 2.1.0, section 3.55). */
function fixOf(edits: readonly TextEdit[], help: string | undefined): object {
  const files = [...new Set(edits.map(({ span }) => span.file))]
  return {
    ...(help === undefined ? {} : { description: { text: help } }),
    artifactChanges: files.map((file) => ({
      artifactLocation: { uri: uriOf(file.path) },
      replacements: edits
        .filter(({ span }) => span.file === file)
        .map(({ span, text }) => ({
          deletedRegion: locationOf(span).region,
          ...(text === "" ? {} : { insertedContent: { text } }),
        })),
    })),
  }
}

function uriOf(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/")
}

function locationOf({ file, start, end }: Span): {
  readonly artifactLocation: object
  readonly region: object
} {
  const from = file.position(start)
  const to = file.position(end)
  return {
    artifactLocation: { uri: uriOf(file.path) },
    region: {
      startLine: from.line,
      startColumn: from.column,
      endLine: to.line,
      endColumn: to.column,
      charOffset: start,
      charLength: end - start,
    },
  }
}
