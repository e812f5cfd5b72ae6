import type { Span } from "../core/source.ts"

/** What is known of the text at `span`, as Markdown. */
export interface Hover {
  readonly span: Span
  readonly markdown: string
}

/** A text as it is, in Markdown. */
export function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``
}
