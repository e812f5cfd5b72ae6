import type { Diagnostic, TextEdit } from "./diagnostic.ts"

/** The texts of files before and after their fixes, and how many findings were fixed. */
export interface FixedFile {
  readonly path: string
  readonly before: string
  readonly after: string
  readonly count: number
}

/**
 * Applies the fixes of findings, file by file. A fix whose edits overlap those of an earlier one is left out: it can be applied to the result
 * of a next compilation.
 */
export function fixedFiles(findings: readonly Diagnostic[]): FixedFile[] {
  const taken: TextEdit[] = []
  const counts = new Map<string, number>()
  for (const { fix = [] } of findings) {
    if (fix.length === 0 || fix.some((edit) => taken.some((other) => overlaps(edit, other)))) continue
    taken.push(...fix)
    for (const path of new Set(fix.map(({ span }) => span.file.path)))
      counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return [...counts].sort().map(([path, count]) => {
    const edits = taken.filter(({ span }) => span.file.path === path)
    const before = edits[0]?.span.file.text ?? ""
    return { path, before, after: withEdits(before, edits), count }
  })
}

function overlaps({ span: a }: TextEdit, { span: b }: TextEdit): boolean {
  if (a.file.path !== b.file.path) return false
  return a.start === b.start || (a.start < b.end && b.start < a.end)
}

/** A text with edits that do not overlap. */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  const last = [...edits].sort((a, b) => b.span.start - a.span.start)
  return last.reduce((all, { span, text: put }) => all.slice(0, span.start) + put + all.slice(span.end), text)
}
