import type { Diagnostic } from "../core/diagnostic.ts"
import { visible } from "./width.ts"

const commands = { error: "error", warning: "warning", info: "notice" } as const

/** A finding as a workflow command, which GitHub shows at the line in a pull request. */
export function githubOfFinding(finding: Diagnostic): string {
  const properties: string[] = []
  if (finding.span !== undefined) {
    const { file, start, end } = finding.span
    const from = file.position(start)
    const to = file.position(Math.max(start, end - 1))
    properties.push(`file=${escapeProperty(file.path)}`, `line=${from.line}`, `endLine=${to.line}`)
    // GitHub refuses columns if the lines differ.
    if (from.line === to.line) properties.push(`col=${from.column}`, `endColumn=${to.column + 1}`)
  }
  properties.push(`title=${escapeProperty(`${finding.code} ${finding.title}`)}`)
  const message = finding.help === undefined ? finding.detail : `${finding.detail}. ${finding.help}`
  return `::${commands[finding.severity]} ${properties.join(",")}::${escapeData(visible(message))}`
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")
}

function escapeProperty(text: string): string {
  return escapeData(visible(text)).replaceAll(":", "%3A").replaceAll(",", "%2C")
}
