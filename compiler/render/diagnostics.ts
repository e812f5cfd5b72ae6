import type { Diagnostic, Severity } from "../core/diagnostic.ts"
import { githubOfFinding } from "./github.ts"
import { gitlabOfFindings } from "./gitlab.ts"
import { jsonOfFindings } from "./json.ts"
import { junitOfFindings } from "./junit.ts"
import { markdownOfFinding } from "./markdown.ts"
import { sarifOfFindings } from "./sarif.ts"
import { textOfFinding } from "./text.ts"

/** Output formats for findings: for people, for programs, for code scanning, for comments, and as each system shows them at their lines. */
export const diagnosticsFormats = ["text", "json", "sarif", "markdown", "github", "gitlab", "junit"] as const

/** One of `diagnosticsFormats`. */
export type DiagnosticsFormat = (typeof diagnosticsFormats)[number]

/** How findings are printed. */
export interface RenderOptions {
  /** Whether `text` is coloured. The caller checks the terminal and NO_COLOR. */
  readonly colour: boolean
  /** Maximum number of findings in formats for people (default: 200); the documents for programs always have all. */
  readonly shownMax?: number
}

/**
 * Findings in the given order (that of `Report.sorted`), as text that ends in a newline. Without findings the text is empty, except for
 * `json`, `sarif`, `gitlab` and `junit`, which are complete documents. Control characters for terminals are made visible.
 */
export function renderDiagnostics(
  findings: readonly Diagnostic[],
  format: DiagnosticsFormat,
  options: RenderOptions,
): string {
  if (format === "json") return jsonOfFindings(findings)
  if (format === "sarif") return sarifOfFindings(findings)
  if (format === "gitlab") return gitlabOfFindings(findings)
  if (format === "junit") return junitOfFindings(findings)
  if (findings.length === 0) return ""
  const shown = chooseShown(findings, options.shownMax ?? 200)
  const hidden = findings.length - shown.length
  const more = hidden === 0 ? [] : [`and ${hidden} more`]
  if (format === "github")
    return `${[...shown.map(githubOfFinding), ...more.map((text) => `::notice::${text}`)].join("\n")}\n`
  if (format === "markdown")
    return `${[`**${summaryOf(findings)}**`, ...shown.map(markdownOfFinding), ...more].join("\n\n")}\n`
  return `${[...shown.map((finding) => textOfFinding(finding, options.colour)), ...more].join("\n\n")}\n`
}

/** The numbers of findings in words, e.g. `2 errors, 1 warning`; `no findings` without any. */
export function summaryOf(findings: readonly Diagnostic[]): string {
  const parts = (["error", "warning", "info"] satisfies Severity[]).flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    if (count === 0) return []
    return [`${count} ${severity}${count === 1 || severity === "info" ? "" : "s"}`]
  })
  return parts.length === 0 ? "no findings" : parts.join(", ")
}

/** If there are too many findings, drops warnings before errors. */
function chooseShown(findings: readonly Diagnostic[], max: number): readonly Diagnostic[] {
  if (findings.length <= max) return findings
  const weights: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }
  const chosen = new Set(
    [...findings].sort((a, b) => weights[a.severity] - weights[b.severity]).slice(0, max),
  )
  return findings.filter((finding) => chosen.has(finding))
}
