import { createHash } from "node:crypto"
import type { Diagnostic } from "../core/diagnostic.ts"
import { visible } from "./width.ts"

const severities = { error: "critical", warning: "minor", info: "info" } as const

/**
 * Findings as a report of GitLab's Code Quality, which shows them at their lines in a merge request. The fingerprint has no line number, so
 * that a finding stays the same when lines are added above it; equal findings of a file differ by their order.
 */
export function gitlabOfFindings(findings: readonly Diagnostic[]): string {
  const seen = new Map<string, number>()
  const issues = findings.map((finding) => {
    const { code, severity, title, detail, help, span } = finding
    // GitLab demands a path, also of the few findings that have no place.
    const path = span?.file.path ?? "gateway.conf"
    const key = JSON.stringify([code, path, detail])
    const order = seen.get(key) ?? 0
    seen.set(key, order + 1)
    const lines = span === undefined ? { begin: 1 } : linesOf(span)
    return {
      description: visible(`${title}: ${detail}${help === undefined ? "" : `. ${help}`}`),
      check_name: code,
      fingerprint: createHash("sha256").update(`${key} ${order}`).digest("hex"),
      severity: severities[severity],
      location: { path, lines },
    }
  })
  return `${JSON.stringify(issues, null, 2)}\n`
}

function linesOf({ file, start, end }: NonNullable<Diagnostic["span"]>): { begin: number; end: number } {
  return { begin: file.position(start).line, end: file.position(Math.max(start, end - 1)).line }
}
