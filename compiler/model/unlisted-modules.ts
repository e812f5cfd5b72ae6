import type { Diagnostic, Report } from "../core/diagnostic.ts"
import { shown } from "../core/shown.ts"
import { type SourceFile, textOf } from "../core/source.ts"
import type { ModFile } from "./mod-file.ts"

/** Maximum number of trial compilations: each costs as much as compiling the model. */
const attemptsMax = 20

/** Findings about a name that is not defined, or that a type does not have. */
const unknownNames: ReadonlySet<string> = new Set([
  "SP4020",
  "SP4021",
  "SP4022",
  "SP4023",
  "SP4036",
  "SP4056",
])

/**
 * Reports modules in the folder of `fga.mod` that its list lacks, where adding one to the list removes findings: one finding at the list
 * instead of one at each use of the module's names. Adds the remaining findings to `report`. `attempt` compiles with additional modules.
 */
export function reportWithUnlisted(
  mod: ModFile,
  findings: readonly Diagnostic[],
  beside: () => readonly SourceFile[],
  attempt: (more: readonly SourceFile[]) => readonly Diagnostic[],
  report: Report,
): void {
  const names = new Set(
    findings.flatMap((finding) => (unknownNames.has(finding.code) ? wordsAt(finding) : [])),
  )
  const candidates = names.size === 0 ? [] : beside()
  const missing = candidates
    .filter(({ text }) => isModule(text) && [...names].some((name) => text.includes(name)))
    .slice(0, attemptsMax)
    .map((file) => ({ file, solved: solvedBy(findings, attempt([file])) }))
    .filter(({ solved }) => solved.length > 0)
  const solved = missing.length === 0 ? [] : solvedBy(findings, attempt(missing.map(({ file }) => file)))
  report.addAll(findings.filter((finding) => !solved.includes(finding)))
  for (const { file, solved } of missing) {
    const first = solved[0]?.span
    const path = shown(relativeTo(mod.file.path, file.path))
    report.add("SP4058", mod.contents.span, `\`${path}\` is not listed, but its names are used`, {
      help: `Add \`- ${path}\` to \`contents\`.`,
      related: first === undefined ? [] : [{ span: first, message: "used here" }],
    })
  }
}

function wordsAt({ span }: Diagnostic): readonly string[] {
  return span === undefined ? [] : (textOf(span).match(/[\w-]+/g) ?? [])
}

/** Whether a text begins with `module`, after comments. */
function isModule(text: string): boolean {
  return /^\uFEFF?(?:\s|#[^\n]*)*module\s/.test(text)
}

/** The findings that disappeared. */
function solvedBy(findings: readonly Diagnostic[], after: readonly Diagnostic[]): Diagnostic[] {
  const keys = new Set(after.map(keyOf))
  return findings.filter((finding) => !keys.has(keyOf(finding)))
}

function keyOf({ code, span }: Diagnostic): string {
  return `${code} ${span?.file.path} ${span?.start} ${span?.end}`
}

function relativeTo(list: string, path: string): string {
  return path.slice(list.lastIndexOf("/") + 1)
}
