import type { SourceFile, Span } from "../core/source.ts"
import type { Completion, CompletionProposal } from "./completion-item.ts"

/** The text before the offset, on its line, that proposals replace. */
export function partialWord(file: SourceFile, offset: number, pattern: RegExp): Span {
  const lineStart = file.text.lastIndexOf("\n", offset - 1) + 1
  const found = pattern.exec(file.text.slice(lineStart, offset))
  return file.span(offset - (found?.[0].length ?? 0), offset)
}

/** Proposals for one place, the first of each label. */
export function replacing(replaces: Span, proposals: readonly CompletionProposal[]): Completion[] {
  const found = new Map<string, CompletionProposal>()
  for (const each of proposals) if (!found.has(each.label)) found.set(each.label, each)
  return [...found.values()].map((each) => ({ ...each, replaces }))
}
