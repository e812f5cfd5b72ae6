import { expect } from "vitest"
import type { Diagnostic } from "../../compiler/core/diagnostic.ts"
import { type Files, MemoryFiles } from "../../compiler/core/files.ts"
import { fixedFiles } from "../../compiler/core/fixes.ts"

/** More than any case needs: fixes whose edits overlap wait for the next round. */
const roundsMax = 5

/**
 * Applies all fixes among the findings of a project, code by code: none of them may leave a finding that it was to remove. `findingsOf`
 * compiles the project with changed files.
 */
export function expectWorkingFixes(
  files: Files,
  found: readonly Diagnostic[],
  findingsOf: (files: Files) => readonly Diagnostic[],
): void {
  const codes = new Set(found.flatMap(({ code, fix }) => (fix === undefined ? [] : [code])))
  for (const code of codes) {
    const unfixable = found.filter((each) => each.code === code && each.fix === undefined).length
    let left = found
    const texts = new Map<string, string>()
    for (let round = 0; round < roundsMax; round++) {
      const fixed = fixedFiles(left.filter((each) => each.code === code))
      if (fixed.length === 0) break
      for (const { path, after } of fixed) texts.set(path, after)
      left = findingsOf(withTexts(files, texts))
    }
    const remaining = left.filter((each) => each.code === code).map(({ detail }) => detail)
    expect(remaining.length, `${code}: ${remaining.join("; ")}`).toBeLessThanOrEqual(unfixable)
  }
}

/** A project with other texts for some files. */
function withTexts(files: Files, texts: ReadonlyMap<string, string>): Files {
  const changed = new MemoryFiles(texts)
  return {
    read: (path, bytesMax) => (texts.has(path) ? changed : files).read(path, bytesMax),
    readAnywhere: (path, bytesMax) => (texts.has(path) ? changed : files).readAnywhere(path, bytesMax),
    glob: (pattern) => files.glob(pattern),
  }
}
