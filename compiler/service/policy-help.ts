import type { SourceFile } from "../core/source.ts"
import type { Program } from "../gateway/program.ts"
import type { Completion } from "./completion-item.ts"
import { fenced, type Hover } from "./markdown.ts"
import { replacing } from "./partial-word.ts"
import { policyNameProposals } from "./policy-names.ts"

/** Whether a file is a policy document, or begins as one. */
export function isPolicyDocument({ path, text }: SourceFile): boolean {
  return path.endsWith(".xml") && /^(?:\uFEFF|\s|<!--[\s\S]*?-->)*(?:$|<(?:policies|fragment|$))/.test(text)
}

/** What can be written at an offset of a policy document: names of gateway.conf, elements, attributes and their values. */
export async function completePolicy(
  file: SourceFile,
  offset: number,
  program: Program,
): Promise<Completion[]> {
  const named = policyNameProposals(file, offset, program)
  if (named !== undefined) return replacing(file.span(named.start, offset), named.proposals)
  // Most projects have no policy documents.
  const { policyNamesAt } = await import("../azure/policy-names-at.ts")
  const { start, names } = policyNamesAt(file.text, offset)
  const replaces = file.span(start, offset)
  return names.map(({ kind, name, detail }) => ({
    ...{ label: name, kind: kinds[kind], detail, replaces },
    ...(kind === "attribute" ? { insert: `${name}="` } : {}),
  }))
}

/** What an element or attribute of a policy document means. */
export async function hoverPolicy(file: SourceFile, offset: number): Promise<Hover | undefined> {
  const { policyHelpAt } = await import("../azure/policy-help-at.ts")
  const found = policyHelpAt(file.text, offset)
  if (found === undefined) return undefined
  const { start, end, syntax, facts } = found
  const manual = "Manual: `sallyport docs azure-policies`"
  return { span: file.span(start, end), markdown: [fenced(syntax), ...facts, manual].join("\n\n") }
}

const kinds = { element: "keyword", attribute: "field", value: "word" } as const
